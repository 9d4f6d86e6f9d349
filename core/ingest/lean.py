"""What reading a long book can do without: a fifth of the time, in all."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

made = tuple.__new__
"""``made(Line, (text, x0, …))`` is ``Line(text, x0, …)``, every field given, in a third of the
time: for named tuples that a book has by the ten thousand."""


@contextmanager
def lean() -> Iterator[None]:
    """Neither look for cycles, of which a page makes none, nor measure each glyph's height anew.

    With MuPDF's corrections off, a line's ``y0`` and ``y1`` are what its font claims. Its x, its
    baseline and its size are the same, and lines are told apart by those.
    """
    import pymupdf

    collecting = gc.isenabled()
    uncorrected = pymupdf.TOOLS.unset_quad_corrections()
    gc.disable()
    pymupdf.TOOLS.unset_quad_corrections(True)
    try:
        yield
    finally:
        pymupdf.TOOLS.unset_quad_corrections(uncorrected)
        if collecting:
            gc.enable()
