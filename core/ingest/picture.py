"""A page of a PDF as a picture, drawn in the child process like everything that parses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.errors import DocumentError
from core.ingest.limits import DEFAULT_LIMITS, Limits
from core.ingest.source import Source

MOST_PIXELS = 2_400
"""Of the longer side: enough for print that is read on a screen, and 23 MB at most."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, drawn. ``width`` and ``height`` are its size in points, as it is shown: the
    boxes of a document's lines are places on it."""

    png: bytes
    width: float
    height: float


def page_picture(
    source: Source,
    page: int,
    limits: Limits = DEFAULT_LIMITS,
    *,
    pixels: int = 1_200,
    cancelled: Callable[[], bool] | None = None,
) -> Picture:
    """Page ``page`` (from 1) of a PDF, ``pixels`` high or wide, whichever is longer.

    Raises:
        DocumentError: for a file that is no PDF, needs another password, has no such page,
            or costs more than ``limits``.
        Cancelled: ``cancelled`` answered True.
    """
    from core.ingest.child import Child

    with Child(limits) as child:
        answer, png = child.draw(source, page, min(pixels, MOST_PIXELS), cancelled)
    return Picture(png, answer["width"], answer["height"])


def draw(
    name: str, data: bytes, password: str | None, page: int, pixels: int
) -> tuple[dict[str, Any], bytes]:
    """In the child: the answer's header (width, height) and the PNG."""
    import pymupdf

    from core.ingest.detect import PDF, detect
    from core.ingest.pdf import opened

    if detect(name, data)[0] != PDF:
        raise DocumentError(name, "it is not a PDF, and has no pages to draw", "Read its text.")
    with opened(name, data, password) as document:
        if not 1 <= page <= document.page_count:
            problem = f"it has no page {page}: there are {document.page_count}"
            raise DocumentError(name, problem, "Choose another page.")
        drawn = document.load_page(page - 1)
        longest = max(drawn.rect.width, drawn.rect.height)
        if not (math.isfinite(longest) and longest > 0):
            problem = f"page {page} has no size"
            raise DocumentError(name, problem, "Save it again from its source.")
        zoom = pixels / longest
        made = drawn.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
        header = {"width": drawn.rect.width, "height": drawn.rect.height}
        return header, made.tobytes("png")
