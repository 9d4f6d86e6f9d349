"""Work that takes longer than a page should wait for: in a thread, with progress and a stop.

A :class:`Job` runs one function. A :class:`Board` belongs to one browser session and keeps,
under each name ("trace", "index" …), the job for the inputs that the page shows now: asking
for other inputs stops the job for the old ones, so that an old result is never mistaken for
the new one. Jobs that share a :class:`Lane` run one after the other, across all sessions.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from core.errors import Cancelled, ChunkscopeError

logger = logging.getLogger(__name__)

WAITING, RUNNING, DONE, FAILED, STOPPED = "waiting", "running", "done", "failed", "stopped"

LANE_POLL = 0.05
"""Seconds between a waiting job's looks at whether it was stopped."""


_ending = threading.Event()


def end() -> None:
    """Asks every job to stop: the process is about to end, and would wait for their processes."""
    _ending.set()


class Lane:
    """One job at a time, in the order in which they came; a job can give up waiting."""

    def __init__(self) -> None:
        self._moved = threading.Condition()
        self._queue: deque[Job] = deque()

    @property
    def holder(self) -> Job | None:
        """The job that is in it now."""
        with self._moved:
            return self._queue[0] if self._queue else None

    @contextmanager
    def turn(self, job: Job) -> Iterator[None]:
        """Waits for the jobs that came before; raises Cancelled if ``job`` is stopped first."""
        with self._moved:
            self._queue.append(job)
        try:
            with self._moved:
                while self._queue[0] is not job:
                    if job.cancelled():
                        raise Cancelled
                    self._moved.wait(LANE_POLL)
            yield
        finally:
            with self._moved:
                self._queue.remove(job)
                self._moved.notify_all()


BULK = Lane()
"""Reading files, loading models and building indexes."""

RUN = Lane()
"""Answering questions: short, and never behind another session's indexing."""

SEARCH = Lane()
"""Trying many settings at once, for seconds: no question waits behind it."""


class Job:
    """One function in a thread. ``work`` takes the job, and asks it whether to go on.

    ``label`` says what is being done, ``detail`` to which file, ``done`` of ``total`` how far
    it is (0 of 0: unknown). ``public`` allows other sessions that wait behind it to show what
    it does; a session's own files are never named to another.
    """

    def __init__(
        self,
        key: Hashable,
        work: Callable[[Job], Any],
        lane: Lane | None = None,
        label: str = "",
        public: bool = False,
    ) -> None:
        self.key, self.lane, self.public = key, lane, public
        self.done, self.total, self._label, self._detail = 0, 0, label, ""
        self.state = WAITING
        self.result: Any = None
        self.part: Any = None  # what can be shown before the whole is there
        self.error: ChunkscopeError | None = None
        self.started = time.monotonic()
        self._stop, self._finished = threading.Event(), threading.Event()
        self._work = work

    def start(self) -> Job:
        threading.Thread(target=self._run, name="chunkscope-job", daemon=True).start()
        return self

    def _run(self) -> None:
        try:
            with self.lane.turn(self) if self.lane is not None else nullcontext():
                if self.cancelled():
                    raise Cancelled
                self.state = RUNNING
                self.result = self._work(self)
                self.state = DONE
        except Cancelled:
            self.state = STOPPED
        except ChunkscopeError as error:
            self.error, self.state = error, FAILED
        except Exception as error:
            logger.exception("a job failed")
            self.error = unexpected(error)
            self.state = FAILED
        finally:
            self._finished.set()

    def progress(self, done: int, total: int, label: str = "", detail: str = "") -> None:
        """How far the work is, and at what."""
        self.done, self.total, self._detail = done, total, detail
        self._label = label or self._label

    def cancelled(self) -> bool:
        """Whether the person, a newer request or the end of the program asked this job to stop."""
        return self._stop.is_set() or _ending.is_set()

    def stop(self) -> None:
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Whether the job has ended, after at most ``seconds``."""
        return self._finished.wait(seconds)

    @property
    def finished(self) -> bool:
        return self._finished.is_set()

    @property
    def failed(self) -> bool:
        """Whether it has ended without a result."""
        return self.state in (FAILED, STOPPED)

    def so_far(self) -> tuple[Any, bool]:
        """What can be shown by now, None if nothing can, and whether that is all of it.

        Both of one moment: a page that took a part and then asked whether the job is done
        could stay without the rest for good.
        """
        return (self.result, True) if self.state == DONE else (self.part, False)

    def described(self, *, names: bool = True) -> str:
        """What is being done, or what is being waited for. Without ``names`` no file is
        named: not everyone may know of it."""
        before = self._before()
        if before is not None and not before.public:
            return "Waiting for other work to finish"
        job = before or self
        detail = job._detail if names else ""
        return " ".join(part for part in (job._label or "Computing", detail) if part)

    @property
    def share(self) -> float:
        """How far it is, in [0, 1]; 0 where that is unknown."""
        before = self._before()
        job = before if before is not None and before.public else self
        return min(1.0, job.done / job.total) if job.total else 0.0

    def _before(self) -> Job | None:
        """The job that this one waits for."""
        if self.state != WAITING or self.lane is None or self.lane.holder is self:
            return None
        return self.lane.holder


def unexpected(error: Exception) -> ChunkscopeError:
    """A fault of the program, as a sentence; its traceback is in the log."""
    name = type(error).__name__
    return ChunkscopeError(
        "Chunkscope", f"met a fault of its own ({name})", "The log has the rest."
    )


class Board:
    """One session's jobs, by name, and its last few results."""

    def __init__(self, keep: int = 8) -> None:
        self._jobs: dict[str, Job] = {}
        self._recent: OrderedDict[tuple[str, Hashable], Job] = OrderedDict()
        self._keep = keep

    def ask(
        self,
        name: str,
        key: Hashable,
        work: Callable[[Job], Any],
        *,
        lane: Lane | None = None,
        label: str = "",
        patience: float = 0.0,
    ) -> Job:
        """The job for these inputs: the one under way, a recent one, or a new one.

        Waits up to ``patience`` seconds for it, so that quick work shows no progress bar.
        """
        job = self._jobs.get(name)
        if job is None or job.key != key:
            if job is not None:
                job.stop()
            job = self._recent.get((name, key)) or Job(key, work, lane, label).start()
            self._jobs[name] = job
        job.wait(patience)
        if job.state == DONE:
            self._recent[name, key] = job
            self._recent.move_to_end((name, key))
            while len(self._recent) > self._keep:
                self._recent.popitem(last=False)
        return job

    def current(self, name: str) -> Job | None:
        """The job under that name, whatever its inputs."""
        return self._jobs.get(name)

    def forget(self, name: str) -> None:
        """Stops the job under that name; the next :meth:`ask` starts a new one."""
        job = self._jobs.pop(name, None)
        if job is not None:
            job.stop()
            self._recent.pop((name, job.key), None)

    def drop_results(self) -> None:
        """Forgets every kept result and job: what they hold may no longer be shown."""
        for name in list(self._jobs):
            self.forget(name)
        self._recent.clear()
