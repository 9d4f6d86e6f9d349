"""Which characters of a document's clean text are which of its raw text.

The map is a list of segments. A segment whose two sides are equally long maps character by
character; one whose sides differ (a ligature and its two letters, an entity and its sign) maps
as a whole. Characters in no segment were put in (clean) or left out (raw). The raw order may
differ from the clean one, because a page's columns and margins are read in another order than
they were drawn in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Segment(NamedTuple):
    """Clean characters ``clean_start`` to ``clean_end`` stand for these raw ones; no side is
    empty."""

    clean_start: int
    clean_end: int
    raw_start: int
    raw_end: int

    @property
    def by_character(self) -> bool:
        """Whether its n-th clean character is its n-th raw one."""
        return self.clean_end - self.clean_start == self.raw_end - self.raw_start


@dataclass(frozen=True, slots=True)
class Alignment:
    """Segments in clean order, overlapping on neither side. Without any, the texts are equal.

    Raises ValueError for segments that are empty, out of order or overlap.
    """

    segments: tuple[Segment, ...] = ()
    _clean_starts: list[int] = field(init=False, repr=False, compare=False)
    _in_raw_order: list[Segment] = field(init=False, repr=False, compare=False)
    _raw_starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_raw = sorted(self.segments, key=lambda s: s.raw_start)
        _check((s.clean_start, s.clean_end) for s in self.segments)
        _check((s.raw_start, s.raw_end) for s in by_raw)
        object.__setattr__(self, "_clean_starts", [s.clean_start for s in self.segments])
        object.__setattr__(self, "_in_raw_order", by_raw)
        object.__setattr__(self, "_raw_starts", [s.raw_start for s in by_raw])

    def __bool__(self) -> bool:
        return bool(self.segments)

    def to_raw(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """The raw stretches (start, end) of the clean characters ``start`` to ``end``.

        In the order of the clean text, neighbours joined; empty where none of the characters
        is in the raw text. A character of a segment that maps as a whole has all of its raw side.
        """
        if not self.segments:
            return ((start, end),) if start < end else ()
        return _joined(
            _part(s, start - s.clean_start, end - s.clean_start, s.raw_start, s.raw_end)
            for s in _touched(self.segments, self._clean_starts, start, end, side=1)
        )

    def to_clean(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """The clean stretches of the raw characters ``start`` to ``end``, in raw order."""
        if not self.segments:
            return ((start, end),) if start < end else ()
        return _joined(
            _part(s, start - s.raw_start, end - s.raw_start, s.clean_start, s.clean_end)
            for s in _touched(self._in_raw_order, self._raw_starts, start, end, side=3)
        )


def _check(sides: Iterable[tuple[int, int]]) -> None:
    reached = 0
    for start, end in sides:
        if not reached <= start < end:
            raise ValueError(f"the segment at {start}–{end} is empty or overlaps another")
        reached = end


def _touched(
    ordered: tuple[Segment, ...] | list[Segment], starts: list[int], start: int, end: int, side: int
) -> Iterator[Segment]:
    """The segments whose side (1 clean, 3 raw: the index of its end) meets [start, end)."""
    if start >= end:
        return
    for index in range(max(0, bisect_right(starts, start) - 1), len(ordered)):
        if starts[index] >= end:
            return
        if ordered[index][side] > start:
            yield ordered[index]


def _part(segment: Segment, start: int, end: int, low: int, high: int) -> tuple[int, int]:
    """The other side, [low, high), cut like the first one at these offsets into it."""
    if not segment.by_character:
        return low, high
    return low + max(0, start), min(high, low + end)


def _joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return tuple(joined)
