"""Lines in drawing order → rows in reading order → paragraphs.

The drawing order of a PDF is mostly the reading order, and better than sorting by place,
which interleaves columns. It is corrected where it is known to mislead: pieces of one row
(table cells, parts of a formula) are put side by side, and two columns of prose that were
drawn across, row by row, are read one after the other. Where it is not clear whether such
rows are a table or two columns, the page says that its order is uncertain.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ingest.lines import Line

UNCERTAIN = "The reading order is uncertain: short lines stand side by side."

# Gaps between pieces of a row, in multiples of the font size.
_CELL_GAP = 1.5
_WORD_GAP = 0.15
# Rows that must agree on a gutter before they may be columns.
_COLUMN_ROWS = 3
# What stands before a list's item or a numbered heading, and belongs to it.
_MARKER = re.compile(
    r"[•▪■●❖➢→✓✗□❑◦‣·*–—-]|\(?\d{1,3}(?:\.\d{1,3})*[.)]?|\(?[a-zA-Z][.)]|\(?[ivxlc]{1,5}[.)]"
)
_SENTENCE_END = re.compile(r"[.!?:;。！？…][\"'”’»)\]]*$")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of text as it is read: one or more pieces on one baseline."""

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


@dataclass(frozen=True, slots=True)
class Layout:
    """A page's paragraphs, each a tuple of rows, in reading order."""

    paragraphs: tuple[tuple[Row, ...], ...]
    uncertain: bool = False


def lay_out(lines: Sequence[Line]) -> Layout:
    """Paragraphs of the lines, which are one page's in drawing order."""
    groups = _side_by_side(_downwards([line for line in lines if line.upright]))
    groups, uncertain = _columns_apart(groups)
    paragraphs = _paragraphs([_row(group) for group in groups])
    # Text set sideways (a stamp in the margin, a wide table) comes last, as it was drawn.
    if turned := tuple(_row([line]) for line in lines if not line.upright):
        paragraphs.append(turned)
    return Layout(tuple(paragraphs), uncertain)


def _downwards(lines: Sequence[Line]) -> list[Line]:
    """Sorted from top to bottom if nothing stands beside anything else; else as drawn.

    A text box drawn last, though it stands first, is then read in its place.
    """
    ordered = sorted(lines, key=lambda line: (line.baseline, line.x0))
    beside = any(
        below.y0 + 0.5 * (below.y1 - below.y0) < above.y1 and not _same_row(above, below)
        for above, below in itertools.pairwise(ordered)
        if below.x0 >= above.x1 or above.x0 >= below.x1
    )
    same = any(_same_row(above, below) for above, below in itertools.pairwise(ordered))
    return list(lines) if beside or same else ordered


def _same_row(left: Line, right: Line) -> bool:
    tall = min(left.y1 - left.y0, right.y1 - right.y0)
    shared = min(left.y1, right.y1) - max(left.y0, right.y0)
    return shared > 0.5 * tall and abs(left.baseline - right.baseline) < 0.6 * max(
        left.size, right.size
    )


def _side_by_side(lines: Sequence[Line]) -> list[list[Line]]:
    """Consecutive pieces that go on to the right on one baseline, as groups."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups:
            last = groups[-1][-1]
            slack = 0.3 * max(last.size, line.size)
            if _same_row(last, line) and line.x0 >= last.x1 - slack:
                groups[-1].append(line)
                continue
        groups.append([line])
    return groups


def _columns_apart(groups: list[list[Line]]) -> tuple[list[list[Line]], bool]:
    """Runs of two-piece rows that are two columns of prose, each column in one piece."""
    result: list[list[Line]] = []
    uncertain = False
    at = 0
    while at < len(groups):
        end, gutter = _run_with_gutter(groups, at)
        if end - at < _COLUMN_ROWS:
            result.append(groups[at])
            at += 1
            continue
        left = [[line for line in group if line.x1 <= gutter] for group in groups[at:end]]
        right = [[line for line in group if line.x1 > gutter] for group in groups[at:end]]
        left, right = [g for g in left if g], [g for g in right if g]
        prose = _prose([_text(g) for g in left]) + _prose([_text(g) for g in right])
        if prose > 0:
            result += left + right
        else:
            result += groups[at:end]
        uncertain |= -1 <= prose <= 1
        at = end
    return result, uncertain


def _run_with_gutter(groups: list[list[Line]], start: int) -> tuple[int, float]:
    """The end of the run of rows from ``start`` that one vertical gap divides in two."""
    low, high = float("-inf"), float("inf")
    end = start
    for group in groups[start:]:
        if end > start and group[0].baseline <= groups[end - 1][0].baseline:
            break
        gaps = [
            (a.x1, b.x0)
            for a, b in itertools.pairwise(group)
            if b.x0 - a.x1 >= _CELL_GAP * max(a.size, b.size) and not _MARKER.fullmatch(a.text)
        ]
        if len(gaps) != 1:
            break
        new_low, new_high = max(low, gaps[0][0]), min(high, gaps[0][1])
        if new_high - new_low < group[0].size:
            break
        low, high = new_low, new_high
        end += 1
    return end, (low + high) / 2


def _prose(cells: Sequence[str]) -> int:
    """Above 0 where the cells read as running text, below 0 where they are table entries.

    Text goes on over a line's end (a lower-case start after no full stop); entries are
    short, hold figures, and each begins anew.
    """
    flows = sum(
        below[:1].islower() and not ends_sentence(above)
        for above, below in itertools.pairwise(cells)
    )
    figures = sum(bool(re.search(r"\d", cell)) and len(cell) < 15 for cell in cells)
    words = statistics.mean(len(cell.split()) for cell in cells)
    score = 0
    score += 2 if 2 * flows >= len(cells) - 1 and words >= 2.5 else 0
    score += 1 if words >= 5 else 0
    score -= 2 if 2 * figures >= len(cells) else 0
    score -= 1 if words < 2 else 0
    return score


def _text(group: Sequence[Line]) -> str:
    """The pieces of a row as one string: cells apart by a tab, words by a space."""
    text = group[0].text
    marked = len(group) == 2 and _MARKER.fullmatch(text)
    for left, right in itertools.pairwise(group):
        gap = (right.x0 - left.x1) / max(left.size, right.size)
        apart = gap >= _WORD_GAP or left.spaced[1] or right.spaced[0]
        cell = gap >= _CELL_GAP and not marked
        text += "\t" if cell else " " if apart else ""
        text += right.text
    return text


def _row(group: Sequence[Line]) -> Row:
    if len(group) == 1:  # nearly all of them
        (line,) = group
        box = (line.x0, line.x1, line.y0, line.y1)
        style = (line.baseline, line.size, line.bold, line.mono)
        return Row(line.text, *box, *style, lines=(line,))
    main = max(group, key=lambda line: len(line.text))
    text = _text(group)
    return Row(
        text=text,
        x0=group[0].x0,
        x1=max(line.x1 for line in group),
        y0=min(line.y0 for line in group),
        y1=max(line.y1 for line in group),
        baseline=main.baseline,
        size=main.size,
        bold=all(line.bold for line in group),
        mono=main.mono,
        cells=text.count("\t") + 1,
        lines=tuple(group),
    )


def _paragraphs(rows: Sequence[Row]) -> list[tuple[Row, ...]]:
    if not rows:
        return []
    leading = _leading(rows)
    paragraphs: list[list[Row]] = [[rows[0]]]
    for above, row in itertools.pairwise(rows):
        if _begins_paragraph(above, row, paragraphs[-1], leading):
            paragraphs.append([row])
        else:
            paragraphs[-1].append(row)
    return [_indented(paragraph) for paragraph in paragraphs]


def _indented(paragraph: Sequence[Row]) -> tuple[Row, ...]:
    """Code keeps its indentation, which carries meaning in some languages, as spaces."""
    if len(paragraph) < 2 or not all(row.mono for row in paragraph):
        return tuple(paragraph)
    margin = min(row.x0 for row in paragraph)
    longest = max(paragraph, key=lambda row: len(row.text))
    width = (longest.x1 - longest.x0) / len(longest.text) or 1.0
    return tuple(
        replace(row, text=" " * min(40, round((row.x0 - margin) / width)) + row.text)
        for row in paragraph
    )


def _leading(rows: Sequence[Row]) -> float:
    """The usual distance of baselines, in multiples of the font size."""
    steps = [
        (below.baseline - above.baseline) / above.size
        for above, below in itertools.pairwise(rows)
        if above.size == below.size and 0.8 < (below.baseline - above.baseline) / above.size < 2.2
    ]
    return statistics.median_low(steps) if steps else 1.25


def _begins_paragraph(above: Row, row: Row, so_far: Sequence[Row], leading: float) -> bool:
    step = row.baseline - above.baseline
    size = max(above.size, row.size)
    if step < -0.5 * size:  # up again: the next column
        return not continues(above, row)
    if abs(above.size - row.size) > 0.12 * size and above.mono == row.mono:
        return True
    if step > leading * size * 1.3:
        return True
    if above.cells > 1 or row.cells > 1:
        return (above.cells > 1) != (row.cells > 1) and step > leading * size * 1.1
    if above.mono or row.mono:
        return above.mono != row.mono and step > leading * size * 1.05
    if above.bold != row.bold and _ends_early(above, so_far, row):
        return True
    # A first line set in, under a line that is not.
    margin = min(line.x0 for line in so_far[1:]) if len(so_far) > 1 else above.x0
    indent = row.x0 - margin
    return 0.8 * size < indent < 5 * size and ends_sentence(above.text)


def ends_sentence(text: str) -> bool:
    """Whether ``text`` ends as a sentence does."""
    return _SENTENCE_END.search(text) is not None


def _ends_early(above: Row, so_far: Sequence[Row], row: Row) -> bool:
    """Whether a bold line is a heading of its own rather than the start of a sentence."""
    return above.x1 < max(row.x1, *(line.x1 for line in so_far)) - 2 * above.size


def continues(above: Row, below: Row) -> bool:
    """Whether a sentence runs on from ``above`` over a column's or page's end to ``below``."""
    if ends_sentence(above.text) or abs(above.size - below.size) > 0.12 * above.size:
        return False
    if above.cells > 1 or below.cells > 1 or above.mono != below.mono:
        return False
    if above.bold and not below.bold:
        return False
    first = below.text.lstrip("\"'“‘«([")[:1]
    if first.islower() or above.text.endswith(("-", "\u00ad", ",")):
        return True
    # A capital, a figure or a script without cases: only if the line above was full.
    return first.isalnum() and above.x1 - above.x0 >= 0.93 * (below.x1 - below.x0)
