"""Text that is in the file and that nobody sees: a way to smuggle instructions in.

Text without ink (render mode 3, no opacity) is invisible, unless the page is a scan: there, such
a layer is what text recognition left, and is read. Text off the page (its crop box) is invisible.
Text almost white is looked at: where its place on the rendered page is of one colour, it cannot
be seen. Text that an opaque picture was drawn over is invisible, too; what lies under a filled
shape or across the page's edge was given no ink before (``unseen.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.ingest.lines import PALE, Line

INVISIBLE = "invisible text"

# Of the page's area, the share that a picture must cover to be a scan.
_SCAN = 0.5
# Smaller type than this many points cannot be read at any zoom that shows the page.
_MICROSCOPIC = 1.0


_REFERENCE = re.compile(r"(\d+) 0 R")
_OPACITY = re.compile(
    r"/(?:ca|CA)\s*0?\.\d|/(?:ca|CA)\s+0\b|/BM\s*/(?!Normal|Compatible)|/SMask\s*(?!/None)"
)

_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Visibility:
    """``hidden`` are indices of lines, and ``outside`` those of them that are off the page;
    ``covered`` is the largest picture's share of the page."""

    hidden: frozenset[int]
    outside: frozenset[int]
    images: int
    covered: float
    recognised: bool


def visibility_of(page: Any, area: Any, lines: Sequence[Line]) -> Visibility:
    """What of the lines on a PyMuPDF page, of which ``area`` is the rectangle, cannot be seen, and
    the pictures on it.

    The page must not be rotated: its lines are where they are on the page as it was drawn.
    """
    images, covered = _pictures(page, lines)
    width, height = area.width, area.height
    outside: set[int] = set()
    inkless = {i for i, line in enumerate(lines) if line.alpha == 0}
    if images and lines:
        inkless |= _under_pictures(page, lines)
    recognised = covered >= _SCAN and 2 * len(inkless) > len(lines)
    hidden = set() if recognised else inkless
    for index, line in enumerate(lines):
        _, x0, y0, x1, y1, _, size = line[:7]
        # By its middle, as in unseen.py; and what is no number is nowhere.
        if not (0 <= x0 + x1 <= 2 * width and 0 <= y0 + y1 <= 2 * height):
            outside.add(index)
            continue
        pale = line.color >= PALE and line.pale
        if size < _MICROSCOPIC or (pale and _one_colour(page, line)):
            hidden.add(index)
    return Visibility(frozenset(hidden | outside), frozenset(outside), images, covered, recognised)


def _pictures(page: Any, lines: Sequence[Line]) -> tuple[int, float]:
    # Listing what a page could draw is cheap, what it does draw is not: an image shared by all
    # pages, such as a logo, would be looked for again on each.
    if lines and (_without_objects(page) or not page.get_images()):
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


def _without_objects(page: Any) -> bool:
    """Whether the page's own resources, which it has, name nothing to be drawn but text."""
    import pymupdf

    # PyMuPDF's own xref_get_key asks the same, and takes ten times as long for the asking.
    get = pymupdf.mupdf.pdf_dict_gets
    pdf = pymupdf.mupdf.pdf_specifics(page.parent)
    resources = get(pymupdf.mupdf.pdf_load_object(pdf, page.xref), "Resources")
    return bool(resources.m_internal) and not get(resources, "XObject").m_internal


def _under_pictures(page: Any, lines: Sequence[Line]) -> set[int]:
    """The lines of which no piece is left that a later picture does not cover.

    Only pictures that nothing shows through: without a mask, on a page that sets no opacity.
    """
    opaque = [info["bbox"] for info in page.get_image_info() if not info.get("has-mask")]
    if not opaque or _see_through(page):
        return set()
    covered: list[bool] = []
    pieces: list[_Box] = []
    for kind, box in page.get_bboxlog():
        if kind in ("fill-text", "stroke-text"):
            pieces.append(box)
            covered.append(False)
        elif kind == "fill-image" and any(_near(box, known) for known in opaque):
            covered = [
                done or _holds(box, piece) for done, piece in zip(covered, pieces, strict=True)
            ]
    if not any(covered):
        return set()
    hidden = set()
    for index, line in enumerate(lines):
        of_line = [done for done, piece in zip(covered, pieces, strict=True) if _on(line, piece)]
        if of_line and all(of_line):
            hidden.add(index)
    return hidden


def _see_through(page: Any) -> bool:
    """Whether some graphics state of the page changes opacity or blends."""
    try:
        return any(_OPACITY.search(state) for state in _graphics_states(page))
    except (RuntimeError, ValueError):  # damaged: it may as well
        return True


def _graphics_states(page: Any) -> list[str]:
    """What a page's graphics states say, in PDF's own notation."""
    document = page.parent
    kind, states = document.xref_get_key(page.xref, "Resources/ExtGState")
    if kind == "null":
        return []
    if kind == "xref":
        states = document.xref_object(int(states.split()[0]))
    return [states, *(document.xref_object(int(x)) for x in _REFERENCE.findall(states))]


def _near(box: _Box, other: _Box) -> bool:
    return all(abs(a - b) < 1.0 for a, b in zip(box, other, strict=True))


def _holds(box: _Box, piece: _Box) -> bool:
    slack = 0.1 * (piece[3] - piece[1])
    return (
        box[0] - slack <= piece[0]
        and box[1] - slack <= piece[1]
        and box[2] + slack >= piece[2]
        and box[3] + slack >= piece[3]
    )


def _on(line: Line, piece: _Box) -> bool:
    x, y = (piece[0] + piece[2]) / 2, (piece[1] + piece[3]) / 2
    return line.x0 - 1 <= x <= line.x1 + 1 and line.y0 <= y <= line.y1


def _one_colour(page: Any, line: Line) -> bool:
    """Whether the page, rendered, shows nothing at all where the line stands."""
    import pymupdf

    box = pymupdf.Rect(line.x0, line.y0, line.x1, line.y1) & page.rect
    if box.is_empty:
        return True
    scale = min(2.0, 2000.0 / max(box.width, box.height))
    return bool(page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=box).is_unicolor)
