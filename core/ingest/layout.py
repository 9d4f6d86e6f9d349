"""Lines in drawing order → rows in reading order → paragraphs.

The drawing order of a PDF is mostly the reading order, and better than sorting by place,
which interleaves columns. It is corrected where it is known to mislead: pieces of one row
(table cells, parts of a formula) are put side by side (``rows.py``), columns of prose that were
drawn across and tables that were drawn down are put right (``columns.py``), and a page that is
set sideways is turned (``turned.py``).
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from core.ingest.columns import ends_sentence, in_order
from core.ingest.lines import UPRIGHT, Line
from core.ingest.rows import Row, downwards, row_of, side_by_side
from core.ingest.turned import main_direction, upright

UNCERTAIN = "The reading order is uncertain: short lines stand side by side."


@dataclass(frozen=True, slots=True)
class Layout:
    """A page's paragraphs, each a tuple of rows, in reading order.

    ``direction`` is that in which most of the text runs, as in ``lines.py``. ``across``: how many
    characters run in another direction than the rest.
    """

    paragraphs: tuple[tuple[Row, ...], ...]
    uncertain: bool = False
    direction: int = UPRIGHT
    across: int = 0


def lay_out(lines: Sequence[Line]) -> Layout:
    """Paragraphs of the lines, which are one page's in drawing order."""
    if all(line.direction == UPRIGHT for line in lines):
        return _laid_out(lines)
    main = main_direction(lines)
    layout = _laid_out([upright(line) for line in lines if line.direction == main])
    given = {line.place: line for line in lines}
    paragraphs = [
        tuple(row._replace(lines=tuple(given[line.place] for line in row.lines)) for row in rows)
        for rows in layout.paragraphs
    ]
    rest = [line for line in lines if line.direction != main]
    # What runs across (a stamp in the margin) comes last, as it was drawn.
    if rest:
        paragraphs.append(tuple(row_of([line]) for line in rest))
    across = sum(len(line.text) for line in rest)
    return Layout(tuple(paragraphs), layout.uncertain, main, across)


def _laid_out(lines: Sequence[Line]) -> Layout:
    ordered = in_order(side_by_side(downwards(lines)))
    headers = ordered.headers
    rows = [row_of(group, headers.get(i, "")) for i, group in enumerate(ordered.groups)]
    return Layout(tuple(_paragraphs(rows)), ordered.uncertain)


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
    if not paragraph[0].mono or len(paragraph) < 2 or not all(row.mono for row in paragraph):
        return tuple(paragraph)
    margin = min(row.x0 for row in paragraph)
    longest = max(paragraph, key=lambda row: len(row.text))
    width = (longest.x1 - longest.x0) / len(longest.text) or 1.0
    return tuple(
        row._replace(text=" " * min(40, round((row.x0 - margin) / width)) + row.text)
        for row in paragraph
    )


def _leading(rows: Sequence[Row]) -> float:
    """The usual distance of baselines, in multiples of the font size."""
    steps = [
        step
        for above, below in itertools.pairwise(rows)
        if above.size == below.size
        and 0.8 < (step := (below.baseline - above.baseline) / above.size) < 2.2
    ]
    return statistics.median_low(steps) if steps else 1.25


def _begins_paragraph(above: Row, row: Row, so_far: Sequence[Row], leading: float) -> bool:
    step = row.baseline - above.baseline
    size = max(row.size, above.size)
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
    if not ends_sentence(above.text):
        return False
    # A first line set in, under a line that is not.
    margin = min(line.x0 for line in so_far[1:]) if len(so_far) > 1 else above.x0
    indent = row.x0 - margin
    return 0.8 * size < indent < 5 * size


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
