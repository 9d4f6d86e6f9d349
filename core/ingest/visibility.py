"""Text that is in the file and that nobody sees: a way to smuggle instructions in.

Text without ink (render mode 3, no opacity) and text off the page are invisible, unless the
page is a scan: there, such a layer is what text recognition left, and is read. Text almost
white is looked at: where its place on the rendered page is of one colour, it cannot be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.ingest.lines import Line

INVISIBLE = "invisible text"

# Of the page's area, the share that a picture must cover to be a scan.
_SCAN = 0.5
# Smaller type than this many points cannot be read at any zoom that shows the page.
_MICROSCOPIC = 1.0


@dataclass(frozen=True, slots=True)
class Visibility:
    """``hidden`` are indices of lines; ``covered`` is the largest picture's share of the page."""

    hidden: frozenset[int]
    images: int
    covered: float
    recognised: bool


def visibility_of(page: Any, lines: Sequence[Line]) -> Visibility:
    """What of the lines on a PyMuPDF page cannot be seen, and the pictures on it."""
    images, covered = _pictures(page, lines)
    area = page.rect
    inkless = {i for i, line in enumerate(lines) if line.hidden}
    recognised = covered >= _SCAN and 2 * len(inkless) > len(lines)
    hidden = set() if recognised else inkless
    for index, line in enumerate(lines):
        outside = line.x1 <= 0 or line.y1 <= 0 or line.x0 >= area.width or line.y0 >= area.height
        if outside or line.size < _MICROSCOPIC or (line.pale and _one_colour(page, line)):
            hidden.add(index)
    return Visibility(frozenset(hidden), images, covered, recognised)


def _pictures(page: Any, lines: Sequence[Line]) -> tuple[int, float]:
    # Listing what a page could draw is cheap, what it does draw is not: an image shared by all
    # pages, such as a logo, would be looked for again on each.
    if lines and not page.get_images():
        return 0, 0.0
    infos = page.get_image_info()
    area = abs(page.rect.width * page.rect.height) or 1.0
    covered = 0.0
    for info in infos:
        x0, y0, x1, y1 = info["bbox"]
        width = min(x1, page.rect.width) - max(x0, 0.0)
        height = min(y1, page.rect.height) - max(y0, 0.0)
        covered = max(covered, max(0.0, width) * max(0.0, height) / area)
    return len(infos), covered


def _one_colour(page: Any, line: Line) -> bool:
    """Whether the page, rendered, shows nothing at all where the line stands."""
    import pymupdf

    box = pymupdf.Rect(line.x0, line.y0, line.x1, line.y1) & page.rect
    if box.is_empty:
        return True
    scale = min(2.0, 2000.0 / max(box.width, box.height))
    return bool(page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=box).is_unicolor)
