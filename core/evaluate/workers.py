"""Questions asked by several processes at once, with the numbers that one would give.

Each process is started anew (a fork after torch has run hangs), loads the models, and opens
the documents from the cache on disk, where the first one left what it read. A question is
asked by one process alone, on one thread, so that nothing depends on how many there are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from core.errors import Cancelled, EvaluationError
from core.evaluate.ask import Asker
from core.evaluate.records import Row
from core.evaluate.run import Answers, Job, one_thread
from core.index.index import Index
from core.pipeline import Pipeline
from core.records import Document, Principal
from core.settings import Settings

Opener = Callable[[tuple[Document, ...], Settings], tuple[Pipeline, Index]]
"""Documents and settings to a pipeline and their index, in the new process: it is pickled."""

_WAIT = 0.2
"""Seconds between two looks at whether to stop."""


def reopened(
    documents: tuple[Document, ...],
    settings: Settings,
    *,
    options: Namespace,
    modes: Sequence[str],
    cache: Path,
) -> tuple[Pipeline, Index]:
    """The pipeline that the command line's words about models ask for, and the index of
    documents that the cache has read before."""
    from core.index.build import build_index
    from core.index.cache import ArrayCache
    from core.model_arguments import pipeline_from
    from core.modes import mode_named

    # The first process has said already what could not be loaded.
    pipeline = pipeline_from(options, lambda _: None, [mode_named(m) for m in modes])
    return pipeline, build_index(documents, settings, pipeline.encoder, cache=ArrayCache(cache))


def parallel(asker: Asker, *, opener: Opener, workers: int) -> Answers:
    """Answers from ``workers`` processes. Rows come in the order in which they are ready.

    Args:
        asker: what one process would ask with; each worker makes its own like it.

    Raises (the answers, when they are read):
        EvaluationError: a worker came to other documents or models, or ended.
    """

    def answers(
        jobs: Sequence[Job], cancelled: Callable[[], bool] | None
    ) -> Iterator[tuple[Row, ...]]:
        context = multiprocessing.get_context("spawn")
        stop = context.Event()
        if not jobs:
            return
        given = _Given(
            opener,
            asker.index.documents,
            asker.settings,
            asker.budgets,
            asker.principal,
            asker.index.fingerprint,
        )
        pool = ProcessPoolExecutor(workers, context, _open, (given, stop))
        try:
            yield from _drained(pool, given, jobs, stop, cancelled)
        except BrokenProcessPool:
            raise EvaluationError(
                "a worker", "ended before its time", "Use fewer workers: memory may have run out."
            ) from None
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    return answers


@contextmanager
def _no_main(given: _Given) -> Iterator[None]:
    """Processes that start meanwhile do not run again what this one was started with.

    They would, to find what is defined there: a whole page of a dashboard, say. Only an opener
    that is defined there is looked for.
    """
    held = sys.modules.get("__main__")
    opener = given.opener
    while isinstance(opener, partial):
        opener = opener.func
    if held is None or getattr(opener, "__module__", "") == "__main__":
        yield
        return
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = held


def _drained(
    pool: ProcessPoolExecutor,
    given: _Given,
    jobs: Sequence[Job],
    stop: Any,
    cancelled: Callable | None,
) -> Iterator[tuple[Row, ...]]:
    with _no_main(given):  # processes start as jobs are handed in
        waiting: set[Future] = {pool.submit(_ask, job) for job in jobs}
    while waiting:
        if cancelled and cancelled() and not stop.is_set():
            stop.set()
            for future in waiting:
                future.cancel()
        done, waiting = wait(waiting, _WAIT, FIRST_COMPLETED)
        for future in done:
            if not future.cancelled() and (rows := future.result()):
                yield rows


@dataclass(frozen=True)
class _Given:
    opener: Opener
    documents: tuple[Document, ...]
    settings: Settings
    budgets: tuple[int, ...]
    principal: Principal | None
    fingerprint: str


_process: dict[str, Any] = {}
"""What this worker process asks with: its asker, or why it has none."""


def _open(given: _Given, stop: Any) -> None:
    # Ctrl-C reaches every process of the terminal: the first one decides, and says so by stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    _process["stop"] = stop
    try:
        pipeline, index = given.opener(given.documents, given.settings)
        if index.fingerprint != given.fingerprint:
            raise EvaluationError("a worker", "came to another index", "Use one worker.")
    except Exception as error:  # noqa: BLE001  an initialiser that fails says nothing of why
        _process["failed"] = error
        return
    _process["asker"] = Asker(pipeline, index, given.settings, given.budgets, given.principal)


def _ask(job: Job) -> tuple[Row, ...]:
    """The rows of a job; none where the evaluation was stopped meanwhile."""
    if "failed" in _process:
        raise _process["failed"]
    stop = _process["stop"].is_set
    try:
        if stop():
            return ()
        with one_thread():
            return tuple(_process["asker"].row(job.prepared, mode, stop) for mode in job.modes)
    except Cancelled:
        return ()
