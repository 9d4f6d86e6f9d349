"""Tick labels along a document: pages where it has them, chunk numbers where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.lookup import Lookup, Place


@dataclass(frozen=True, slots=True)
class Ticks:
    """Positions on the axis (a chunk's number, from 1) and their labels."""

    values: list[float]
    labels: list[str]

    def until(self, last: float) -> Ticks:
        """The first tick, and those of the others that stand before ``last``."""
        keep = [i for i, v in enumerate(self.values) if not i or v <= last]
        return Ticks([self.values[i] for i in keep], [self.labels[i] for i in keep])


def ticks(
    lookup: Lookup, place: Place, first: int, stop: int, most: int = 11, gap: float = 0.08
) -> Ticks:
    """Ticks for the document's chunks ``first`` to ``stop`` (ordinals, exclusive).

    At most ``most`` of them; none within the share ``gap`` of the axis after the first, whose
    label carries a word.
    """
    pages = _page_starts(lookup, place)
    if pages is None:
        numbers = _round_numbers(first + 1, stop, most, gap)
        return _labelled([float(n) for n in numbers], [f"{n:,}" for n in numbers], "chunk ")
    starts, exact = pages
    low = int(np.searchsorted(starts, first, side="right"))
    high = int(np.searchsorted(starts, stop - 1, side="right"))
    numbers = _round_numbers(max(1, low), max(1, high), most, gap)
    # A page begins at the left edge of the first chunk that begins on it.
    values = [max(float(starts[n - 1]), float(first)) + 0.5 for n in numbers]
    keep = _apart(values, gap * (stop - first))
    return _labelled(
        [values[i] for i in keep],
        [f"{numbers[i]:,}" for i in keep],
        "page " if exact else "page ≈ ",
    )


def _apart(values: Sequence[float], gap: float) -> list[int]:
    """Positions of those values that stand far enough from the last one taken, farther
    from the first: pages differ in how many chunks begin on them."""
    keep: list[int] = []
    for i, value in enumerate(values):
        if not keep or value - values[keep[-1]] >= gap * (1.3 if len(keep) == 1 else 0.75):
            keep.append(i)
    return keep


def _page_starts(lookup: Lookup, place: Place) -> tuple[np.ndarray, bool] | None:
    """float[pages]: the ordinal at which each page begins, and whether that is known.

    Where the trace only knows the pages of the chunks that stages touched, the rest is
    interpolated, and the labels say so.
    """
    document = place.document
    if document.page_chunks:
        return np.array(document.page_chunks, dtype=np.float64), True
    if document.pages < 1:
        return None
    known = {
        c.pages[0]: c.ordinal
        for c in sorted(lookup.trace.chunks, key=lambda c: -c.ordinal)
        if c.document_id == document.id and c.pages
    }
    known = {1: 0} | known | {document.pages + 1: document.chunks}
    numbers = sorted(known)
    starts = np.interp(np.arange(1, document.pages + 1), numbers, [known[n] for n in numbers])
    return np.maximum.accumulate(starts), False


def _round_numbers(low: int, high: int, most: int, gap: float) -> list[int]:
    """``low``, then multiples of 1, 2 or 5 times a power of ten up to ``high``."""
    if most < 2:
        return [low]
    step = 1
    for step in (m * 10**e for e in range(10) for m in (1, 2, 5)):
        if (high - low) / step <= most - 1:
            break
    rest = range((low // step + 1) * step, high + 1, step)
    return [low, *(n for n in rest if n - low >= (high - low) * gap)]


def _labelled(values: list[float], labels: list[str], what: str) -> Ticks:
    if labels:
        labels[0] = what + labels[0]
    return Ticks(values, labels)
