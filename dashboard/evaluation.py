"""Evaluations of a session: what decides one, those that were run, and the job that runs one."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from core.errors import Cancelled
from core.plain import plain
from core.questions import Question
from core.records import Principal
from core.settings import Settings
from dashboard import cache, state
from dashboard.jobs import RUN, Job
from dashboard.models import EMBEDDED, ModelChoice

if TYPE_CHECKING:
    from core.evaluate.ask import Asker
    from core.evaluate.records import Evaluation
    from core.evaluate.run import Answers
    from core.index.index import Index

NAME, RUNS = "evaluate", "evaluations"

KEPT = 12
"""Evaluations that a session keeps."""

SET_ASIDE = ("relevance_threshold", "dedup_method")
"""The knobs that the yardstick leaves out unless it is told otherwise."""

REPLACED = ("evidence_budget", "window_tokens")
"""The knobs in whose place the budgets come."""


@dataclass(frozen=True)
class Inputs:
    """Everything that decides an evaluation. ``documents`` is their fingerprint."""

    questions: tuple[Question, ...]
    modes: tuple[str, ...]
    budgets: tuple[int, ...]
    scope: str
    settings: Settings
    principal: Principal | None
    documents: str
    models: ModelChoice = EMBEDDED

    @cached_property
    def base(self) -> str:
        """What rows of two runs must share, so that one can take over the other's."""
        shared = (self.settings.to_dict(), self.principal, self.documents, self.models)
        parts = (self.budgets, self.scope, *shared)
        return _digest(parts)

    @cached_property
    def key(self) -> str:
        asked = [(q.id, q.text, q.document, q.references) for q in self.questions]
        return _digest((self.base, self.modes, asked))


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(plain(parts)).encode("ascii")).hexdigest()[:16]


def measured(settings: Settings, include: bool) -> Settings:
    """The sidebar's settings as the yardstick uses them: the budgets in place of its own, and
    without the two knobs of :data:`SET_ASIDE` unless they are to be included."""
    from core.evaluate import YARDSTICK

    plain_ones = {name: getattr(Settings(), name) for name in REPLACED}
    aside = {} if include else {name: getattr(YARDSTICK, name) for name in SET_ASIDE}
    return settings.changed(**plain_ones, **aside)


class Runs:
    """A session's evaluations by what decided them, finished or not; the last few."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[str, Evaluation]] = OrderedDict()

    def get(self, inputs: Inputs) -> Evaluation | None:
        return self._held.get(inputs.key, (None, None))[1]

    def put(self, inputs: Inputs, evaluation: Evaluation) -> None:
        self._held[inputs.key] = (inputs.base, evaluation)
        self._held.move_to_end(inputs.key)
        while len(self._held) > KEPT:
            self._held.popitem(last=False)

    def nearest(self, inputs: Inputs, models: dict[str, str]) -> Evaluation | None:
        """The evaluation of which most rows hold for these inputs; None where none does."""
        ids = {q.id for q in inputs.questions}

        def shared(e: Evaluation) -> int:
            return sum(r.question in ids and r.mode in inputs.modes for r in e.rows)

        same = [e for b, e in self._held.values() if b == inputs.base and e.models == models]
        best = max(same, key=shared, default=None)
        return best if best is not None and shared(best) else None


def runs() -> Runs:
    """This session's evaluations."""
    return state.session().setdefault(RUNS, Runs())


def start(inputs: Inputs, index: Index) -> None:
    """Starts the evaluation, or goes on with it; one that is under way is stopped."""
    state.board().forget(NAME)
    held = runs()  # the session cannot be had from within the job
    state.board().ask(
        NAME, inputs.key, lambda job: _run(inputs, index, held, job), label="Asking the questions"
    )


def stop() -> None:
    job = state.board().current(NAME)
    if job is not None:
        job.stop()


def _run(inputs: Inputs, index: Index, held: Runs, job: Job) -> Evaluation:
    """What is done when it stops is kept too.

    Raises:
        Cancelled: it was stopped before the end.
    """
    from core.evaluate import evaluate
    from core.evaluate.run import model_fingerprints

    job.progress(0, 0, "Loading the models")
    pipeline = cache.models(inputs.models).pipeline
    evaluation = evaluate(
        pipeline,
        index,
        inputs.questions,
        inputs.modes,
        inputs.settings,
        inputs.budgets,
        inputs.scope,
        principal=inputs.principal,
        earlier=held.nearest(inputs, model_fingerprints(pipeline)),
        through=partial(_through, job, inputs),
        progress=Pace(job).said,
        save=lambda so_far: held.put(inputs, so_far),
        cancelled=job.cancelled,
    )
    held.put(inputs, evaluation)
    if not evaluation.finished:
        raise Cancelled
    return evaluation


class Pace:
    """Tells a job how many questions are done, and about how long the others take."""

    def __init__(self, job: Job) -> None:
        self._job, self._began, self._at_first = job, time.perf_counter(), 0

    def said(self, done: int, total: int, question: str) -> None:
        if not question:
            self._at_first = done
        asked = done - self._at_first
        detail = f"{done:,} of {total:,} done"
        if asked:
            left = (time.perf_counter() - self._began) / asked * (total - done)
            detail += f", about {left:,.0f} s left"
        self._job.progress(done, total, "Asking the questions:", detail)


def _through(job: Job, inputs: Inputs, asker: Asker) -> Answers:
    """Several processes for a long set; else this one, which gives other sessions' questions
    their turn between two."""

    def answers(
        jobs: Sequence[Any], cancelled: Callable[[], bool] | None
    ) -> Iterator[tuple[Any, ...]]:
        workers = worth_workers(len(jobs))
        if workers > 1 and _can_reopen(inputs.models, asker):
            yield from _parallel(asker, inputs, workers)(jobs, cancelled)
            return
        from core.evaluate.run import serial

        one_by_one = serial(asker)
        for one in jobs:
            try:
                with RUN.turn(job), cache.answering():
                    rows = list(one_by_one([one], cancelled))
            except Cancelled:  # while it waited: what was done before is kept
                return
            if not rows:
                return
            yield rows[0]

    return answers


def worth_workers(questions: int) -> int:
    """How many processes are worth their start for so many questions."""
    from core.evaluate.command import WORTH_A_PROCESS

    can = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(can, questions // WORTH_A_PROCESS)


def _can_reopen(choice: ModelChoice, asker: Asker) -> bool:
    """Whether other processes can come to the same: by the embedded models, of which several
    fit into memory, and by what lies in the cache."""
    from core.index.cache import default_root

    small = choice.models == EMBEDDED.models and asker.pipeline.encoder is not None
    return small and os.access(default_root(), os.W_OK)


def _parallel(asker: Asker, inputs: Inputs, workers: int) -> Answers:
    from core.evaluate.workers import parallel, reopened
    from core.index.cache import default_root
    from core.models.catalog import ROLES

    chosen = inputs.models
    options = argparse.Namespace(
        profile=chosen.profile,
        trust_remote_code=list(chosen.trust),
        download=chosen.download,
        **{role: getattr(chosen, role) or None for role in ROLES},
    )
    opener = partial(reopened, options=options, modes=inputs.modes, cache=default_root())
    return parallel(asker, opener=opener, workers=workers)
