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


# Each turned by a quarter, clockwise, becomes the next.
_CLOCKWISE = (UPRIGHT, DOWN, OVER, UP)


def as_shown(line: Line, rotation: int, matrix: Sequence[float]) -> Line:
    """A line of a page that the file asks to be turned, where it then stands.

    ``rotation`` in degrees, clockwise, a multiple of 90; ``matrix`` (a, b, c, d, e, f) takes
    (x, y) to (ax + cy + e, bx + dy + f).
    """
    a, b, c, d, e, f = matrix

    def moved(x: float, y: float) -> tuple[float, float]:
        return a * x + c * y + e, b * x + d * y + f

    (left, top), (right, bottom) = moved(line.x0, line.y0), moved(line.x1, line.y1)
    along_x = line.direction in (UPRIGHT, OVER)
    on = moved(line.x0, line.baseline) if along_x else moved(line.baseline, line.y0)
    before = DOWN if line.direction == VERTICAL else line.direction
    direction = _CLOCKWISE[(_CLOCKWISE.index(before) + rotation // 90) % 4]
    return line._replace(
        x0=min(left, right),
        y0=min(top, bottom),
        x1=max(left, right),
        y1=max(top, bottom),
        baseline=on[1] if direction in (UPRIGHT, OVER) else on[0],
        direction=direction,
    )


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
