"""Text that is set sideways or upside down, seen as its reader sees it.

A page whose text runs mostly in another direction (a wide table, vertical Japanese) is turned
before it is laid out. What runs across the rest of a page (a stamp in the margin) is read last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.ingest.lines import DOWN, OVER, UP, UPRIGHT, VERTICAL, Line

SIDEWAYS = "Its text is set sideways, and was read as it is when the page is turned."

WRITTEN_DOWN = "Its text runs from top to bottom, in columns from right to left."


def main_direction(lines: Sequence[Line]) -> int:
    """The direction in which most of the characters run; upright where there is a doubt."""
    count: Counter[int] = Counter()
    for line in lines:
        count[line.direction] += len(line.text)
    best = max(count, key=lambda direction: count[direction], default=UPRIGHT)
    return best if count[best] > count[UPRIGHT] else UPRIGHT


def set_otherwise(direction: int) -> tuple[str, ...]:
    """The warning for a page whose text does not run from left to right."""
    if direction == UPRIGHT:
        return ()
    return (WRITTEN_DOWN if direction == VERTICAL else SIDEWAYS,)


def read_last(characters: int) -> str:
    """The warning for a page on which so many characters run across the others."""
    return f"{characters} characters run in another direction than the rest, and are read last."


def upright(line: Line) -> Line:
    """The line with the coordinates that it has when the page is turned to be read."""
    x0, y0, x1, y1 = line.x0, line.y0, line.x1, line.y1
    if line.direction == UP:
        box = -y1, x0, -y0, x1
    elif line.direction in (DOWN, VERTICAL):
        box = y0, -x1, y1, -x0
    elif line.direction == OVER:
        box = -x1, -y1, -x0, -y0
    else:
        return line
    baseline = line.baseline if line.direction == UP else -line.baseline
    return line._replace(x0=box[0], y0=box[1], x1=box[2], y1=box[3], baseline=baseline)
