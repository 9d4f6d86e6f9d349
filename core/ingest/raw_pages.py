"""A PDF's pages, one by one: the lines of each as they were drawn, and the first of its report.

Nothing here looks beyond one page; what repeats, and how lines follow on each other, is for
``pdf.py`` to find once all are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.ingest.annotations import annotations_of, with_ticks
from core.ingest.gaps import needs_places, with_places
from core.ingest.limits import Limits
from core.ingest.lines import Line, lines_of
from core.ingest.ocr import recognised_lines, wants_recognition
from core.ingest.page_report import page_report, unreadable_page
from core.ingest.tex_math import named, with_signs
from core.ingest.turned import as_shown
from core.ingest.unseen import suspects, without_ink
from core.ingest.visibility import Visibility, visibility_of
from core.records import PageReport

if TYPE_CHECKING:
    import pymupdf

# Bytes of packed drawing instructions from which on a page is a map or a plan of perhaps a million
# strokes: what they may cover is not worth the memory that they take.
_HEAVY = 1_500_000
# MuPDF's words for memory that it did not get.
_ALLOCATION = re.compile(r"\b(?:m|c|re)alloc\b.*failed|out of memory", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RawPage:
    """One page: its lines in drawing order, where they stand on the page as it is shown.

    ``hidden`` are the indices of lines that nobody sees, ``outside`` those of them that are off
    the page. ``height`` in points.
    """

    number: int
    height: float
    lines: tuple[Line, ...]
    report: PageReport
    hidden: frozenset[int] = frozenset()
    outside: frozenset[int] = frozenset()


def raw_pages(
    name: str, document: pymupdf.Document, count: int, limits: Limits, size: int
) -> Iterator[RawPage]:
    """The first ``count`` pages of an open PDF of ``size`` bytes.

    A page that cannot be read comes without lines, and its report says so. Raises DocumentError
    where the text is longer than it may be, MemoryError where there is too little memory.
    """
    characters = 0
    for index in range(count):
        try:
            raw = _raw_page(index + 1, document.load_page(index), limits, size)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (one bad page is no bad file)
            if no_memory(error):
                raise MemoryError from None
            yield RawPage(index + 1, 0.0, (), unreadable_page(index + 1))
            continue
        characters += sum(len(line.text) for line in raw.lines)
        if characters > limits.characters:
            raise limits.too_long(name)
        yield raw


def no_memory(error: Exception) -> bool:
    """Whether an exception of MuPDF's is for want of memory."""
    return _ALLOCATION.search(str(error)) is not None


def _raw_page(number: int, page: Any, limits: Limits, size: int) -> RawPage:
    rotation = page.rotation
    if rotation:  # else some of what MuPDF says is of the page as it is shown, and some is not
        page.set_rotation(0)
    area = page.rect
    lines = _lines(page, area, fills=size < _HEAVY or not _is_heavy(page))
    notes = annotations_of(page, lines)
    lines = with_ticks(lines, notes)
    seen: Visibility = visibility_of(page, area, lines)
    if rotation:  # pictures are recognised as they are shown, and their lines placed as drawn
        page.set_rotation(rotation)
        area = page.rect
    ocr = ""
    if limits.ocr and wants_recognition(lines, seen, page):
        lines = (*lines, *recognised_lines(page, lines, limits))
        ocr = limits.ocr_language
    if rotation:
        matrix = tuple(page.rotation_matrix)
        lines = tuple(as_shown(line, rotation, matrix) for line in lines)
    report = page_report(number, page, area, lines, seen, notes, ocr)
    return RawPage(number, area.height, lines, report, seen.hidden, seen.outside)


def _is_heavy(page: Any) -> bool:
    document = page.parent
    lengths = [document.xref_get_key(xref, "Length")[1] for xref in page.get_contents()]
    return sum(int(length) for length in lengths if length.isdecimal()) > _HEAVY


def _lines(page: Any, area: Any, fills: bool) -> tuple[Line, ...]:
    import pymupdf

    # Ligatures and unknown glyphs are kept as they are, to be seen and counted; images are
    # counted apart, because here they would be decoded.
    flags = pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_PRESERVE_WHITESPACE
    with_codes = flags | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    # "Lazy": fills do not end the line that they are drawn in.
    drawn = pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_LAZY_VECTORS if fills else 0
    blocks = _textpage(page, with_codes | drawn).extractDICT()["blocks"]
    found = suspects(blocks, area.width, area.height)
    if fills:
        blocks = [block for block in blocks if "lines" in block]
    if named(blocks):
        flags = with_codes
    else:
        coded, blocks = blocks, _textpage(page, flags).extractDICT()["blocks"]
        with_signs(blocks, coded)
    lines = lines_of(blocks)
    apart = needs_places("\n".join([line.drawn for line in lines]))
    if apart or found:
        placed = _textpage(page, flags).extractRAWDICT()["blocks"]
        if apart:
            with_places(blocks, placed)
        if found:
            without_ink(page, blocks, placed, found)
        lines = lines_of(blocks)
    return tuple(lines)


def _textpage(page: Any, flags: int) -> Any:
    """With what lies off the page, too."""
    import pymupdf

    return page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags)
