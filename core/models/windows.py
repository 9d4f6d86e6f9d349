"""Cutting a document's tokens into overlapping windows, and finding a span's tokens.

Every window of a document has the same length, so that nothing is ever padded: a
document's numbers then depend on its own text alone. Neighbouring windows overlap, and
a token's state is taken from the window in which it stands farthest from an edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens ``start`` to ``end`` are read; the states of ``keep_start`` to ``keep_end`` stay."""

    start: int
    end: int
    keep_start: int
    keep_end: int


def plan(tokens: int, length: int, overlap: int) -> tuple[Window, ...]:
    """The windows over ``tokens`` tokens: all of ``length``, or one shorter.

    As few as an overlap of at least ``overlap`` tokens allows, evenly spaced. The kept
    ranges cover every token once. ``ValueError`` unless ``0 <= overlap < length``.
    """
    if not 0 <= overlap < length:
        raise ValueError(f"overlap {overlap} must be at least 0 and below the length {length}")
    if tokens <= length:
        return (Window(0, tokens, 0, tokens),) if tokens else ()
    count = -(-(tokens - overlap) // (length - overlap))
    starts = [i * (tokens - length) // (count - 1) for i in range(count)]
    # Halfway through an overlap a token is as far from the one window's end as from the
    # other's start.
    seams = [(a + length + b) // 2 for a, b in pairwise(starts)]
    return tuple(
        Window(start, start + length, low, high)
        for start, low, high in zip(starts, [0, *seams], [*seams, tokens], strict=True)
    )


def token_ranges(
    starts: np.ndarray, spans: Sequence[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """The first token of each span, and one past its last, int64 [n] each.

    ``starts`` holds the character at which each token begins, in order. A token belongs
    to the span in which its first character stands.
    """
    bounds = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
    first = np.searchsorted(starts, bounds[:, 0], side="left")
    last = np.searchsorted(starts, bounds[:, 1], side="left")
    return first, np.maximum(first, last)


def joined_texts(texts: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Texts as one, and where each stands in it."""
    spans, at = [], 0
    for text in texts:
        spans.append((at, at + len(text)))
        at += len(text) + 1
    return "\n".join(texts), spans


class RangeIndex:
    """Which of many token ranges meet a window; ranges may overlap and come in any order."""

    def __init__(self, first: np.ndarray, last: np.ndarray) -> None:
        self._order = np.argsort(first, kind="stable")
        self._first, self._last = first, last
        self._sorted_first = first[self._order]
        self._reach = np.maximum.accumulate(last[self._order]) if len(last) else last

    def meeting(self, low: int, high: int) -> list[int]:
        """The ranges that hold a token of ``low`` to ``high``, by their first token."""
        begin = np.searchsorted(self._reach, low, side="right")
        end = np.searchsorted(self._sorted_first, high, side="left")
        return [
            int(i)
            for i in self._order[begin:end]
            if max(low, self._first[i]) < min(high, self._last[i])
        ]


def read_by(
    tokens: int, first: np.ndarray, last: np.ndarray, length: int, overlap: int
) -> dict[Window, list[int]]:
    """The windows of :func:`plan` that hold a token of some range, with those ranges: what
    has to be read for them, and what each reading is for."""
    ranges = RangeIndex(first, last)
    return {
        window: found
        for window in plan(tokens, length, overlap)
        if (found := ranges.meeting(window.keep_start, window.keep_end))
    }
