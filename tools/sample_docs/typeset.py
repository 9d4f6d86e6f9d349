"""Blocks to lines: fonts, measures, and where each line of a paragraph ends.

Lengths are points (1/72 inch), x from the left margin. Words keep the blank that follows
them as a glyph, so that an extractor reads blanks and need not guess them from gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import pymupdf

from tools.sample_docs.markup import Block

MEASURE = 326.0
ROMAN, BOLD, ITALIC, MONO = "tiro", "tibo", "tiit", "cour"


@dataclass(frozen=True, slots=True)
class Style:
    """How one kind of block is set. ``above`` is the space before it, unused at a page's top."""

    face: str = ROMAN
    size: float = 10.5
    leading: float = 14.2
    above: float = 4.5
    indent: float = 0.0
    right: float = 0.0
    accent: bool = False
    keep_next: bool = False


STYLES = {
    "title": Style(BOLD, 23, 27, right=80, accent=True),
    "subtitle": Style(ITALIC, 11.5, 15, above=6),
    "chapter": Style(BOLD, 14.5, 19, above=20, accent=True, keep_next=True),
    "section": Style(BOLD, 10.8, 15, above=10, keep_next=True),
    "byline": Style(ITALIC, 11.5, 16, above=2, keep_next=True),
    "headnote": Style(ITALIC, 9.8, 13.2, above=6),
    "paragraph": Style(),
    "item": Style(above=4, indent=20, keep_next=True),
    "point": Style(above=0.5, indent=34),
    "code": Style(MONO, 8.8, 12, above=0, indent=16),
    "comment": Style(ITALIC, 9.6, 13, above=12, indent=12),
    "table": Style(size=9.6, leading=14, above=0),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A string at ``x``, in one face."""

    x: float
    text: str
    face: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of type. ``keep`` forbids a page break after it; ``rule`` draws one below."""

    pieces: tuple[Piece, ...]
    style: Style
    above: float = 0.0
    keep: bool = False
    rule: bool = False
    bar: bool = False
    heading: tuple[int, str] | None = None
    starts_page: bool = False


@cache
def font(face: str) -> pymupdf.Font:
    """A font that PyMuPDF carries, by its short name."""
    return pymupdf.Font(face)


@cache
def width(text: str, face: str, size: float) -> float:
    """The advance of ``text``."""
    return font(face).text_length(text, fontsize=size)


def breaks(widths: list[float], blank: float, measure: float) -> list[int]:
    """Where lines end: the index after each line's last word.

    Chooses the breaks with the least sum of squared differences between the blanks that a
    line needs and the blank of the font; the last line costs nothing unless it is too full.
    """
    count = len(widths)
    best: list[tuple[float, int]] = [(0.0, 0)] + [(float("inf"), 0)] * count
    for end in range(1, count + 1):
        used = -blank
        for start in range(end - 1, -1, -1):
            used += widths[start] + blank
            gaps = end - start - 1
            spare = measure - used
            if spare < -0.22 * blank * gaps:
                break
            stretch = spare / blank / max(gaps, 0.5)
            cost = 0.0 if end == count and spare >= 0 else stretch * stretch
            if best[start][0] + cost < best[end][0]:
                best[end] = (best[start][0] + cost, start)
    ends, end = [], count
    while end:
        ends.append(end)
        end = best[end][1]
    return ends[::-1]


def set_block(block: Block, justified: bool) -> list[Line]:
    """The lines of one block, top to bottom."""
    style = STYLES[block.kind]
    if block.kind == "table":
        return _table(block, style)
    if block.kind == "code":
        lead = len(block.text) - len(block.text.lstrip())
        x = style.indent + width(" " * lead, style.face, style.size)
        return [Line((Piece(x, block.text.strip(), style.face),), style)]
    flush = justified and block.kind in ("paragraph", "headnote", "comment")
    lines = _paragraph(block.text, style, flush)
    lines[0] = replace(lines[0], above=style.above)
    if block.label:
        label = Piece(0, f"{block.label} ", ROMAN)
        lines[0] = replace(lines[0], pieces=(label, *lines[0].pieces))
    if block.kind == "point":
        bullet = Piece(22, "\u2022 ", ROMAN)
        lines[0] = replace(lines[0], pieces=(bullet, *lines[0].pieces))
    if block.kind == "comment":
        lines = [replace(line, bar=True) for line in lines]
    return lines


def _paragraph(text: str, style: Style, flush: bool) -> list[Line]:
    words = text.split()
    blank = width(" ", style.face, style.size)
    sizes = [width(word, style.face, style.size) for word in words]
    measure = MEASURE - style.indent - style.right
    lines, start = [], 0
    ends = breaks(sizes, blank, measure)
    for end in ends:
        used = sum(sizes[start:end]) + blank * (end - start - 1)
        gap = blank
        # A line with too few words is left ragged: rivers are worse than an uneven edge.
        if (flush and end < len(words)) or used > measure:
            needed = blank + (measure - used) / max(1, end - start - 1)
            gap = needed if needed < 2.6 * blank else blank
        x, pieces = style.indent, []
        for index in range(start, end):
            tail = "" if index == end - 1 else " "
            pieces.append(Piece(x, words[index] + tail, style.face))
            x += sizes[index] + gap
        lines.append(Line(tuple(pieces), style))
        start = end
    # No first or last line of a paragraph alone on a page.
    last = len(lines) - 1
    keeps = {0, last - 1} if last else set()
    if style.keep_next:
        keeps = set(range(last + 1))
    return [replace(line, keep=index in keeps) for index, line in enumerate(lines)]


def _table(block: Block, style: Style) -> list[Line]:
    faces = [BOLD] + [ROMAN] * (len(block.rows) - 1)
    sizes = [
        [width(cell, face, style.size) for cell in row]
        for row, face in zip(block.rows, faces, strict=True)
    ]
    columns = [max(column) for column in zip(*sizes, strict=True)]
    gap = min(60.0, (MEASURE - sum(columns)) / max(1, len(columns) - 1))
    if gap < 8:
        raise ValueError(f"table {block.rows[0]}: too wide by {8 - gap:.0f} points a column")
    lines = []
    for number, (row, face) in enumerate(zip(block.rows, faces, strict=True)):
        x, pieces = 0.0, []
        placed = zip(row, sizes[number], columns, block.aligned, strict=True)
        for cell, size, column, side in placed:
            at = x + column - size if side == "r" else x
            pieces.append(Piece(at, cell, face))
            x += column + gap
        last = number == len(block.rows) - 1
        above = 8.0 if number == 0 else 0.0
        lines.append(Line(tuple(pieces), style, above, keep=not last, rule=number == 0 or last))
    return lines
