"""The yardstick: a question set through some modes, each question measured at each budget.

**What is measured.** The evidence of a question is the set of distinct characters that its
references cover in the documents' text. Its recall at a budget of B tokens is the share of them
that lies in the chunks which fit: whole chunks, in the order in which they leave the last
stage ahead of the budget, until the next one does not fit; a chunk costs the tokens of its text
alone, without label or separator. The figure of a mode is the mean over questions.

**Which settings.** :data:`YARDSTICK` is every default but two. ``relevance_threshold`` is 0: it
decides whether to answer at all, which is another question than what was found, and has its
own benchmark. ``dedup_method`` is off: recall goes by the place of evidence, and where a document
says a thing twice, the copy that a set does not name would count as nothing. Both take part
where they are set, and what they drop is then lost at their stage. ``evidence_budget`` is each of
the budgets in turn, the largest for outcome, latency and tokens read, and the model window
never limits it.

**Which questions.** One without references, or of which no reference stands in the documents,
is skipped and says why; a single reference that is not found is reported and counts nowhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from core.errors import Cancelled, EvaluationError, QuestionSetError
from core.evaluate.ask import ROOMY, Asker
from core.evaluate.evidence import Prepared, prepared
from core.evaluate.records import CORPUS, SCOPES, Evaluation, Row
from core.evaluate.resume import TakenOver, taken_over
from core.index.index import Index
from core.modes import mode_named
from core.pipeline import Pipeline
from core.questions import Question
from core.records import Principal
from core.settings import Settings, knob_named

RANKED = (
    "no_rerank",
    "bge_rerank",
    "jina_rerank",
    "context_rerank",
    "extend_rerank",
    "rerank_extend_rerank",
)
"""The modes that differ in how they rank."""

BUDGETS = (1_000, 5_000, 10_000)

YARDSTICK = Settings(relevance_threshold=0.0, dedup_method="off")
"""The settings that the yardstick measures with where none are given."""

SAVE_SECONDS = 30.0
"""How often what was done is handed out for saving."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Job:
    """What is left to do of one question."""

    prepared: Prepared
    modes: tuple[str, ...]


Answers = Callable[[Sequence[Job], Callable[[], bool] | None], Iterator[tuple[Row, ...]]]
"""Jobs to the rows of each, in any order. Ends early where the second argument answers True."""


def evaluate(
    pipeline: Pipeline,
    index: Index,
    questions: Sequence[Question],
    modes: Sequence[str] = RANKED,
    settings: Settings = YARDSTICK,
    budgets: Sequence[int] = BUDGETS,
    scope: str = CORPUS,
    *,
    principal: Principal | None = None,
    earlier: Evaluation | None = None,
    told: Callable[[TakenOver], object] | None = None,
    through: Callable[[Asker], Answers] | None = None,
    progress: Progress | None = None,
    save: Callable[[Evaluation], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Evaluation:
    """Runs ``questions`` through ``modes`` over the documents of ``index``.

    Args:
        budgets: in tokens, 1 to 200,000.
        scope: "corpus" asks each question of all documents, "document" of its own alone.
        principal: who asks; None is the owner. Evidence that they may not read is lost at access.
        earlier: a stopped or finished evaluation whose rows are taken over where they still hold.
        told: called before the first question with what is taken over of ``earlier`` and what
            differs. With it, an earlier evaluation that measured something else is no error:
            nothing of it is taken over.
        through: how questions are asked, one by one where not given; several processes at once
            with :func:`core.evaluate.workers.parallel`.
        progress: called with (questions done, in all, id of the last one).
        save: called every :data:`SAVE_SECONDS` with what was done so far.

    Returns:
        The evaluation; not ``finished`` where ``cancelled`` answered True.

    Raises:
        EvaluationError: no mode, budget or question; a budget out of range; an unknown scope;
            ``earlier`` measured something else, and there is no ``told``.
        SettingsError: an unknown mode.
        QuestionSetError: two questions of one id.
    """
    began = time.perf_counter()
    ready = [prepared(q, index.documents, scope) for q in _checked(questions)]
    plan = Evaluation(
        modes=_modes(modes),
        budgets=_budgets(budgets),
        scope=_scope(scope),
        settings={},
        corpus=index.fingerprint,
        models=model_fingerprints(pipeline),
        asked=tuple(p.asked for p in ready),
        principal=principal,
    )
    settings = settings.changed(evidence_budget=max(plan.budgets), window_tokens=ROOMY)
    plan = replace(plan, settings=settings.to_dict())
    taken = taken_over(plan, earlier) if earlier else TakenOver()
    if earlier and told:
        told(taken)
    elif taken.changed:
        raise EvaluationError(
            "the earlier evaluation",
            f"was made with something else ({'; '.join(taken.differences)})",
            "Go on with what it was made with, or start anew.",
        )
    held = list(taken.rows)
    spent = earlier.seconds if earlier and held else 0.0
    jobs = _jobs(plan, ready, held)
    answers = (through or serial)(Asker(pipeline, index, settings, plan.budgets, principal))

    def so_far() -> Evaluation:
        seconds = spent + time.perf_counter() - began
        return replace(plan, rows=_sorted(plan, held), seconds=seconds)

    total, last_saved = len(plan.measured), time.perf_counter()
    done = total - len(jobs)
    if progress:
        progress(done, total, "")
    for rows in answers(jobs, cancelled):
        held.extend(rows)
        done += 1
        if progress:
            progress(done, total, rows[0].question)
        if save and time.perf_counter() - last_saved > SAVE_SECONDS:
            save(so_far())
            last_saved = time.perf_counter()
    return so_far()


def serial(asker: Asker) -> Answers:
    """Answers one after the other, in this process."""

    def answers(
        jobs: Sequence[Job], cancelled: Callable[[], bool] | None
    ) -> Iterator[tuple[Row, ...]]:
        for job in jobs:
            if cancelled and cancelled():
                return
            try:
                with one_thread():
                    rows = tuple(asker.row(job.prepared, mode, cancelled) for mode in job.modes)
            except Cancelled:
                return
            yield rows

    return answers


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread: with more, a model's last bits depend on how many there are."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def model_fingerprints(pipeline: Pipeline) -> dict[str, str]:
    """The fingerprint of each model that a pipeline may ask, by what it does."""
    out = {"encoder": pipeline.encoder.fingerprint} if pipeline.encoder else {}
    return {**out, **{k: r.fingerprint for k, r in sorted(pipeline.rerankers.items())}}


def _checked(questions: Sequence[Question]) -> Sequence[Question]:
    if not questions:
        raise EvaluationError("the question set", "has no questions", "Write at least one.")
    seen: set[str] = set()
    for q in questions:
        if q.id in seen:
            raise QuestionSetError(q.id, "is the id of two questions", "Give each its own.")
        seen.add(q.id)
    return questions


def _modes(modes: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(mode_named(m).name for m in modes))
    if not names:
        raise EvaluationError("the modes", "are none", f"Name some, as in {RANKED[0]}.")
    return names


def _budgets(budgets: Sequence[int]) -> tuple[int, ...]:
    knob = knob_named("evidence_budget")
    given = tuple(sorted({knob.check(b) for b in budgets}))
    if not given or given[0] < 1:
        raise EvaluationError(
            "the budgets", "are none, or not positive", "Give tokens, as in 1000,5000."
        )
    return given


def _scope(scope: str) -> str:
    if scope not in SCOPES:
        raise EvaluationError(scope, "there is no such scope", f"It is one of {', '.join(SCOPES)}.")
    return scope


def _jobs(plan: Evaluation, ready: Iterable[Prepared], held: Iterable[Row]) -> list[Job]:
    done = {(r.question, r.mode) for r in held}
    jobs = [
        Job(p, tuple(m for m in plan.modes if (p.question.id, m) not in done))
        for p in ready
        if not p.asked.skipped
    ]
    return [job for job in jobs if job.modes]


def _sorted(plan: Evaluation, rows: Iterable[Row]) -> tuple[Row, ...]:
    place = {a.id: at for at, a in enumerate(plan.asked)}
    return tuple(sorted(rows, key=lambda r: (place[r.question], plan.modes.index(r.mode))))
