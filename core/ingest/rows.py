"""Pieces of text → rows as they are read, each of one or more pieces on one baseline."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from core.ingest.lean import made
from core.ingest.lines import Line

# Gaps between pieces of a row, in multiples of the font size.
CELL_GAP = 1.5
_WORD_GAP = 0.15
# Baselines nearer than this, in the same measure, may be one row's.
_ROW = 0.6
# What stands before a list's item or a numbered heading, and belongs to it.
_MARKER = re.compile(
    r"[•▪■●❖➢→✓✗□❑◦‣·*–—-]|\(?\d{1,3}(?:\.\d{1,3})*[.)]?|\(?[a-zA-Z][.)]|\(?[ivxlc]{1,5}[.)]"
)

Group = list[Line]


class Row(NamedTuple):
    """A line of text as it is read: one or more pieces on one baseline.

    ``header``: where the row stands in a table below its header row, that row's cells.
    """

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    baseline: float
    size: float
    bold: bool
    mono: bool
    cells: int = 1
    lines: tuple[Line, ...] = ()
    header: str = ""


def side_by_side(lines: Sequence[Line]) -> list[Group]:
    """Consecutive pieces that go on to the right on one baseline, as groups."""
    groups: list[Group] = []
    last: Line | None = None
    for line in lines:
        if last is not None:
            size = max(line.size, last.size)
            if (
                -_ROW * size < line.baseline - last.baseline < _ROW * size
                and line.x0 >= last.x1 - 0.3 * size
                and same_row(last, line)
            ):
                groups[-1].append(line)
                last = line
                continue
        groups.append([line])
        last = line
    return groups


def downwards(lines: Sequence[Line]) -> Sequence[Line]:
    """Sorted from top to bottom if nothing stands beside anything else; else as drawn.

    A text box drawn last, though it stands first, is then read in its place.
    """
    for above, below in itertools.pairwise(lines):
        if below.baseline < above.baseline:
            break
    else:
        return lines
    ordered = sorted(lines, key=lambda line: (line.baseline, line.x0))
    for above, below in itertools.pairwise(ordered):
        if same_row(above, below):
            return lines
        apart = below.x0 >= above.x1 or above.x0 >= below.x1
        if apart and below.y0 + 0.5 * (below.y1 - below.y0) < above.y1:
            return lines
    return ordered


def same_row(left: Line, right: Line) -> bool:
    """Whether two pieces share a baseline, small shifts as of an exponent aside."""
    if abs(left.baseline - right.baseline) >= _ROW * max(left.size, right.size):
        return False
    tall = min(left.y1 - left.y0, right.y1 - right.y0)
    return min(left.y1, right.y1) - max(left.y0, right.y0) > 0.5 * tall


def is_marker(text: str) -> bool:
    """Whether ``text`` is a bullet or number that belongs to what stands beside it."""
    return _MARKER.fullmatch(text) is not None


def text_of(group: Sequence[Line]) -> str:
    """The pieces of a row as one string: cells apart by a tab, words by a space."""
    text = group[0].text
    marked = len(group) == 2 and is_marker(text)
    for left, right in itertools.pairwise(group):
        gap = (right.x0 - left.x1) / max(left.size, right.size)
        apart = gap >= _WORD_GAP or left.spaced[1] or right.spaced[0]
        cell = gap >= CELL_GAP and not marked
        text += "\t" if cell else " " if apart else ""
        text += right.text
    return text


def row_of(group: Sequence[Line], header: str = "") -> Row:
    """The row that the pieces make."""
    if len(group) == 1:  # nearly all of them
        (line,) = group
        text, x0, y0, x1, y1, baseline, size, bold, mono = line[:9]
        box = (x0, x1, y0, y1)
        return made(Row, (text, *box, baseline, size, bold, mono, 1, (line,), header))
    main = max(group, key=lambda line: len(line.text))
    text = text_of(group)
    return Row(
        text=text,
        x0=min(line.x0 for line in group),
        x1=max(line.x1 for line in group),
        y0=min(line.y0 for line in group),
        y1=max(line.y1 for line in group),
        baseline=main.baseline,
        size=main.size,
        bold=all(line.bold for line in group),
        mono=main.mono,
        cells=text.count("\t") + 1,
        lines=tuple(group),
        header=header,
    )
