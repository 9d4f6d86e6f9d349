"""Work that takes long: how far it is, and whether it is to stop."""

from __future__ import annotations

from core.errors import Cancelled
from core.models.states import Progress, Stop


class Work:
    """Tokens read of all, told to whoever waits, who may stop it."""

    def __init__(self, total: int, progress: Progress | None, cancelled: Stop | None) -> None:
        self.total, self._done = total, 0
        self._progress, self._cancelled = progress, cancelled

    def did(self, tokens: int) -> None:
        self._done += tokens
        if self._progress is not None:
            self._progress(min(self._done, self.total), self.total)

    def check(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled
