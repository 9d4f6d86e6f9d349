"""What a rerank may cost: a limit on its time, and scores on disk that save it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.index.scores import ScoreCache
from core.models.protocols import Lasting, Reranker, RerankRequest


class OutOfTime(Exception):
    """A rerank passed its time limit. Not a failure of the model: the stage degrades."""


class Clock:
    """Asked between batches whether the work is to stop.

    Args:
        seconds: from now on; 0 sets no limit.
        cancelled: whether the person stopped it.
    """

    def __init__(self, seconds: float, cancelled: Callable[[], bool] | None = None) -> None:
        self._seconds, self._cancelled = seconds, cancelled
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raises OutOfTime once the time is up."""
        if self._seconds and time.monotonic() > self._end:
            raise OutOfTime(f"passed its time limit of {self._seconds:g} s (rerank_seconds)")

    def stop(self) -> bool:
        """Whether the person stopped the work. Raises OutOfTime once the time is up."""
        if self._cancelled is not None and self._cancelled():
            return True
        self.check()
        return False


@contextmanager
def recalled(reranker: Reranker, request: RerankRequest, kept: ScoreCache | None) -> Iterator[None]:
    """Fills the request's memo from disk, and puts there what is new, even of work cut short."""
    if kept is None or not isinstance(reranker, Lasting):
        yield
        return
    texts, memo = reranker.lasting(request), request.memo
    missing = {name: text for name, text in texts.items() if name not in memo}
    held = kept.get(reranker.fingerprint, request.question, missing)
    memo.update(held)
    try:
        yield
    finally:
        new = {name: memo[name] for name in missing if name in memo and name not in held}
        kept.put(reranker.fingerprint, request.question, texts, new)
