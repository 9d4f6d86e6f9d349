"""Render the sample PDFs from their sources: ``python -m tools.sample_docs.build``.

The bytes depend on the sources and on PyMuPDF's version alone: dates are fixed, and the
file's identifier is not drawn afresh.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pymupdf

from tools.sample_docs import markup, typeset
from tools.sample_docs.markup import Block, Source
from tools.sample_docs.typeset import MEASURE, Line, Piece

SOURCES = Path(__file__).parent / "sources"
TARGET = Path(__file__).parents[2] / "sample_docs"
WIDTH, HEIGHT = 419.53, 595.28
LEFT = (WIDTH - MEASURE) / 2
TOP, BOTTOM = 66.0, HEIGHT - 62.0
GREY = (0.38, 0.38, 0.38)
STAMP = "D:20260302090000Z"
PLACE = re.compile(r"\{(.+)\}")


def lines_of(source: Source, places: dict[str, int]) -> list[Line]:
    """All lines of a document; ``places`` fills ``{heading}`` cells with page numbers."""
    lines: list[Line] = []
    justified = source.meta["style"] == "justified"
    previous = ""
    for block in source.blocks:
        block = _placed(block, places)
        if previous == "code" and block.kind != "code":
            lines[-1] = replace(lines[-1], keep=False)
        made = typeset.set_block(block, justified)
        if block.kind == "code":
            made = [replace(made[0], above=0 if previous == "code" else 7, keep=True)]
        elif previous in ("code", "table", "headnote"):
            made[0] = replace(made[0], above=max(made[0].above, 9))
        if block.kind in ("chapter", "section"):
            level = 1 if block.kind == "chapter" else 2
            made[0] = replace(made[0], heading=(level, block.text))
            if previous == "chapter":
                made[0] = replace(made[0], above=3)
        elif block.kind == "byline":
            # A piece with an author of its own begins on a new page.
            lines[-1] = replace(lines[-1], starts_page=True)
        lines += made
        previous = block.kind
    return lines


def _placed(block: Block, places: dict[str, int]) -> Block:
    def fill(cell: str) -> str:
        found = PLACE.fullmatch(cell)
        return str(places.get(found[1], 0)) if found else cell

    if block.kind != "table":
        return block
    return replace(block, rows=tuple(tuple(map(fill, row)) for row in block.rows))


def paginate(lines: list[Line]) -> list[list[tuple[float, Line]]]:
    """Lines with their baselines, page by page. Lines joined by ``keep`` stay together."""
    pages: list[list[tuple[float, Line]]] = [[]]
    y, start = TOP, 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and lines[end - 1].keep:
            end += 1
        group = lines[start:end]
        height = sum(line.above + line.style.leading for line in group)
        if not pages[-1]:
            height -= group[0].above
        if pages[-1] and (y + height > BOTTOM or group[0].starts_page):
            pages.append([])
            y = TOP
        for line in group:
            y += line.style.leading + (line.above if pages[-1] else 0.0)
            pages[-1].append((y, line))
        start = end
    return pages


def headings(pages: list[list[tuple[float, Line]]]) -> list[tuple[int, str, int, float]]:
    """(level, text, page from 1, top) of each heading."""
    return [
        (*line.heading, number, y - line.style.leading)
        for number, page in enumerate(pages, start=1)
        for y, line in page
        if line.heading
    ]


def render(source: Source) -> bytes:
    """The PDF of one source."""
    pages = paginate(lines_of(source, {}))
    places = {text: number for _, text, number, _ in headings(pages)}
    pages = paginate(lines_of(source, places))
    accent = tuple(int(source.meta["accent"][i : i + 2], 16) / 255 for i in (1, 3, 5))
    pdf = pymupdf.open()
    for number, lines in enumerate(pages, start=1):
        page = pdf.new_page(width=WIDTH, height=HEIGHT)
        _header(page, source.meta["header"])
        _draw(page, lines, accent)
        _footer(page, f"Page {number} of {len(pages)}")
    pdf.set_toc(
        [
            [level, text, number, {"kind": pymupdf.LINK_GOTO, "to": pymupdf.Point(0, top)}]
            for level, text, number, top in headings(pages)
        ]
    )
    pdf.set_metadata(
        {
            "title": source.meta["title"],
            "author": source.meta["author"],
            "subject": source.meta["subject"],
            "creationDate": STAMP,
            "modDate": STAMP,
        }
    )
    pdf.subset_fonts()
    return pdf.tobytes(garbage=3, deflate=True, deflate_fonts=True, no_new_id=True)


def _draw(page: pymupdf.Page, lines: list[tuple[float, Line]], accent: tuple) -> None:
    # One writer for each run of a colour, so that the file holds the text in reading order.
    for coloured, run in groupby(lines, key=lambda placed: placed[1].style.accent):
        writer = pymupdf.TextWriter(page.rect)
        for y, line in run:
            for piece in line.pieces:
                _put(writer, piece, y, line.style.size)
        writer.write_text(page, color=accent if coloured else None)
    for y, line in lines:
        if line.rule:
            ends = (LEFT, y + 4), (LEFT + MEASURE, y + 4)
        elif line.bar:
            ends = (LEFT + 3, y - line.style.leading + 4), (LEFT + 3, y + 4)
        else:
            continue
        page.draw_line(*ends, color=accent, width=0.6)


def _put(writer: pymupdf.TextWriter, piece: Piece, y: float, size: float) -> None:
    writer.append((LEFT + piece.x, y), piece.text, typeset.font(piece.face), size)


def _header(page: pymupdf.Page, text: str) -> None:
    _grey(page, (LEFT, 44), text)
    page.draw_line((LEFT, 50), (LEFT + MEASURE, 50), color=GREY, width=0.4)


def _footer(page: pymupdf.Page, text: str) -> None:
    middle = (WIDTH - typeset.width(text, typeset.ITALIC, 8.8)) / 2
    _grey(page, (middle, HEIGHT - 36), text)


def _grey(page: pymupdf.Page, at: tuple[float, float], text: str) -> None:
    writer = pymupdf.TextWriter(page.rect)
    writer.append(at, text, typeset.font(typeset.ITALIC), 8.8)
    writer.write_text(page, color=GREY)


def main() -> None:
    """Render every source to the folder of sample documents."""
    parser = argparse.ArgumentParser(description="Render the sample PDFs.")
    parser.add_argument("--to", type=Path, default=TARGET, help="folder to write to")
    target = parser.parse_args().to
    for path in sorted(SOURCES.glob("*.txt")):
        data = render(markup.read(path))
        (target / f"{path.stem}.pdf").write_bytes(data)
        print(f"{path.stem}.pdf: {len(data):,} bytes")


if __name__ == "__main__":
    main()
