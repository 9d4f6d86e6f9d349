"""What any encoder can do: the boundary behind which a test may put a tiny one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.models.states import Progress, QueryStates, SpanStates, Stop


class Encoder(Protocol):
    """Reads questions and text. ``name`` is for people; ``fingerprint`` changes whenever
    the numbers could; ``window`` counts the most tokens read at once, special ones left out."""

    name: str
    fingerprint: str
    dimensions: int
    window: int

    def encode_query(self, text: str) -> QueryStates:
        """A question, read by itself. What is past the window is cut, and counted."""

    def encode_spans(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        *,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> SpanStates:
        """Spans of one text, each token read among its true neighbours; none is cut.

        ``spans`` are characters, in any order; they may overlap. Raises ``Cancelled``.
        """

    def encode_alone(
        self,
        texts: Sequence[str],
        *,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> SpanStates:
        """Texts read each by itself, cut (and counted) past the window. Raises ``Cancelled``."""
