"""A PDF's text as it was drawn, the map from the text that was made of it, and its places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from core.alignment import Alignment
from core.ingest.align import Aligner, place_pieces
from core.ingest.assemble import Assembled
from core.ingest.clean import NUL_MARK
from core.ingest.lean import made
from core.ingest.lines import Line
from core.records import Box

# Points; no page is a hundredth as large, but a file may say what it will.
_FAR = 1e6

PAGE_END = "\f"


@dataclass(frozen=True, slots=True)
class AsDrawn:
    """``raw`` and ``alignment`` as in :class:`~core.records.Document`: empty where nothing was
    changed."""

    raw: str
    alignment: Alignment
    boxes: tuple[Box, ...]


def as_drawn(pages: Sequence[Sequence[Line]], assembled: Assembled) -> AsDrawn:
    """``pages`` are the lines of each page of the file, the first page's first."""
    raw, offsets = _raw(pages)
    aligner = Aligner()
    cursors: dict[tuple[int, int], int] = {}
    placed: list[tuple[int, int, int, Sequence[Line]]] = [
        (row.start, row.end, row.page, row.row.lines) for row in assembled.rows
    ]
    placed += [(aside.start, aside.end, aside.page, (aside.line,)) for aside in assembled.asides]
    placed.sort(key=lambda entry: entry[:2])
    text = assembled.text
    for start, end, page, lines in placed:
        if len(lines) == 1:  # nearly all of them, and nearly all of these as they were drawn
            line = lines[0]
            drawn, shown_text, key = line.drawn, line.text, (page, line.place)
            found = drawn.find(shown_text, cursors.get(key, 0))
            if found >= 0 and text.startswith(shown_text, start):
                aligner.copy(offsets[key] + found, start, len(shown_text))
                cursors[key] = found + len(shown_text)
                continue
        pieces = []
        for line in lines:
            # A line that was taken apart is used up from its beginning to its end.
            used = cursors.get((page, line.place), 0)
            drawn = _marked(line.drawn)
            found = drawn.find(line.text, used)
            cursors[page, line.place] = found + len(line.text) if found >= 0 else len(drawn)
            until = found + len(line.text) if found >= 0 else len(drawn)
            pieces.append((drawn[used:until], line.text, offsets[page, line.place] + used))
        place_pieces(aligner, pieces, text[start:end], start)
    alignment = aligner.alignment(raw, text)
    boxes = tuple(
        [
            made(Box, (start, end, page, *_corners(lines)))
            for start, end, page, lines in placed
            if start < end
        ]
    )
    return AsDrawn(raw if alignment else "", alignment, boxes)


def _raw(pages: Sequence[Sequence[Line]]) -> tuple[str, dict[tuple[int, int], int]]:
    """The text, and where in it each line (page from 1, place on the page) begins."""
    pieces: list[str] = []
    offsets: dict[tuple[int, int], int] = {}
    length = 0
    for number, lines in enumerate(pages, 1):
        if number > 1:
            pieces.append(PAGE_END)
            length += 1
        for count, line in enumerate(sorted(lines, key=_place)):
            if count:
                pieces.append("\n")
                length += 1
            offsets[number, line.place] = length
            pieces.append(_marked(line.drawn))
            length += len(line.drawn)
    return "".join(pieces), offsets


_place = attrgetter("place")


def _marked(drawn: str) -> str:
    return drawn.replace("\x00", NUL_MARK)


def _corners(lines: Sequence[Line]) -> tuple[float, float, float, float]:
    _, x0, y0, x1, y1 = lines[0][:5]
    if len(lines) > 1:
        x0, y0 = min([line.x0 for line in lines]), min([line.y0 for line in lines])
        x1, y1 = max([line.x1 for line in lines]), max([line.y1 for line in lines])
    if not (-_FAR < x0 <= x1 < _FAR and -_FAR < y0 <= y1 < _FAR):  # or not a number
        x0, y0, x1, y1 = map(_held, (x0, y0, x1, y1))
    return round(x0 * 10) / 10, round(y0 * 10) / 10, round(x1 * 10) / 10, round(y1 * 10) / 10


def _held(coordinate: float) -> float:
    return 0.0 if math.isnan(coordinate) else min(max(coordinate, -_FAR), _FAR)
