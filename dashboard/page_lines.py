"""Where a document's chunks stand on a page: the boxes of their lines. No streamlit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Box, Chunk, Document


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of a page, or the part of it that belongs to one chunk ("" for none).

    Coordinates are in points of the page as it is shown. ``first`` marks the line with
    which the chunk begins on this page.
    """

    chunk_id: str
    ordinal: int
    box: tuple[float, float, float, float]
    first: bool = False


def page_lines(document: Document, chunks: Sequence[Chunk], page: int) -> list[PageLine]:
    """The lines of page ``page`` (from 1), cut where one chunk ends and the next begins.

    Within a line every character is taken to be as wide as every other.
    """
    lines: list[PageLine] = []
    begun: set[str] = set()
    for line in document.boxes:
        if line.page != page or line.end <= line.start:
            continue
        at = line.start
        for chunk in _touching(chunks, line.start, line.end):
            low, high = max(chunk.start, line.start), min(chunk.end, line.end)
            if not document.text[low:high].strip():
                continue
            if low > at and document.text[at:low].strip():
                lines.append(PageLine("", -1, _part(line, at, low)))
            first = chunk.id not in begun
            begun.add(chunk.id)
            lines.append(PageLine(chunk.id, chunk.ordinal, _part(line, low, high), first))
            at = max(at, high)
        if document.text[at : line.end].strip():
            lines.append(PageLine("", -1, _part(line, at, line.end)))
    return lines


def _touching(chunks: Sequence[Chunk], start: int, end: int) -> list[Chunk]:
    first = bisect_right(chunks, start, key=lambda c: c.end)
    found = []
    for chunk in chunks[first:]:
        if chunk.start >= end:
            break
        found.append(chunk)
    return found


def _part(line: Box, start: int, end: int) -> tuple[float, float, float, float]:
    wide = (line.x1 - line.x0) / (line.end - line.start)
    return (
        line.x0 + wide * (start - line.start),
        line.y0,
        line.x0 + wide * (end - line.start),
        line.y1,
    )
