"""Pages of paragraphs → one text, with the span of each page and of what is not ranked.

Running headers, footers and invisible text stay in the text, so that it can be seen what the
page holds, but apart from the sentences: a page's own come first, before its body, unless
the page opens in the middle of a sentence. Then they come after the paragraph that the
sentence ends in, so that it reads on from one page to the next without a cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ingest.clean import SOFT_HYPHEN, is_han
from core.ingest.hyphens import Hyphens
from core.ingest.layout import Row, continues, ends_sentence
from core.ingest.lean import made
from core.ingest.lines import Line
from core.records import Page, Span

Paragraph = tuple[Row, ...]


class Aside(NamedTuple):
    """A line that is shown and not ranked, and its kind."""

    text: str
    kind: str
    line: Line | None = None


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page's body, and ``aside``: text that is shown and not ranked, with its kind.

    The first ``in_margin`` paragraphs stand beside the running header: a sentence from the
    page before goes on below them.
    """

    number: int
    paragraphs: tuple[Paragraph, ...]
    aside: tuple[Aside, ...] = ()
    in_margin: int = 0


class PlacedRow(NamedTuple):
    """A row, the page that it is on (from 1), and where in the text it begins.

    ``alone``: it is a paragraph by itself, as headings are. ``end``: where it ends in the text,
    in which it may lack its last hyphen.
    """

    row: Row
    page: int
    start: int
    alone: bool = False
    end: int = 0


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line that is no part of the body, and its page and place in the text."""

    line: Line
    page: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Assembled:
    """The text; ``pages`` tile it from end to end, ``unranked`` spans do not overlap."""

    text: str
    pages: tuple[Page, ...]
    unranked: tuple[Span, ...]
    rows: tuple[PlacedRow, ...]
    asides: tuple[PlacedLine, ...] = ()
    joined: Mapping[int, int] = field(default_factory=dict)  # words put together, by page


class _Writer:
    def __init__(self, hyphens: Hyphens) -> None:
        self._pieces: list[str] = []
        self._hyphens = hyphens
        self._open = False  # whether the last line can still take the next one's first word
        self.length = 0
        self.unranked: list[Span] = []
        self.rows: list[PlacedRow] = []
        self.asides: list[PlacedLine] = []
        self.joined: Counter[int] = Counter()
        self._row_pieces: list[int] = []  # for each row, the index of its piece

    def put(self, piece: str) -> None:
        self._pieces.append(piece)
        self.length += len(piece)

    def separate(self) -> None:
        """End the paragraph, if there is one to end."""
        self.close()
        if self.length:
            self.put("\n\n")

    def close(self) -> None:
        """Nothing more is coming to take the last line's divided word."""
        if self._open and self._pieces[-1].endswith(SOFT_HYPHEN):
            self._pieces[-1] = self._pieces[-1][:-1]
            self.length -= 1
        self._open = False

    def paragraph(self, rows: Paragraph, page: int) -> None:
        for row in rows:
            self._row(row, page, alone=len(rows) == 1)

    def _row(self, row: Row, page: int, alone: bool) -> None:
        if self._open:
            self._join(row.text, page)
        self.rows.append(made(PlacedRow, (row, page, self.length, alone, 0)))
        self._row_pieces.append(len(self._pieces))
        self.put(row.text)
        self._open = True

    def _join(self, following: str, page: int) -> None:
        """End the last line as the next one asks: within a word, or between two."""
        last = self._pieces[-1]
        joined = self._hyphens.join(last, following)
        if joined is not None:
            self.joined[page] += 1
            kept = joined[: len(joined) - len(following)]
            self._pieces[-1] = kept
            self.length += len(kept) - len(last)
        elif not (last and is_han(last[-1]) and is_han(following[0])):
            self.close()
            self.put("\n")

    def aside(self, page: PageContent, separated: bool = False) -> None:
        for index, (text, kind, line) in enumerate(Aside(*given) for given in page.aside):
            if index or not separated:
                self.separate()
            start, end = self.length, self.length + len(text)
            self.unranked.append(Span(start, end, kind))
            if line is not None:
                self.asides.append(PlacedLine(line, page.number, start, end))
            self.put(text)

    def text(self) -> str:
        return "".join(self._pieces)

    def placed_rows(self) -> tuple[PlacedRow, ...]:
        """The rows with their ends, which are known once all is written."""
        pieces = self._pieces
        return tuple(
            [
                made(PlacedRow, (row, page, start, alone, start + len(pieces[piece])))
                for (row, page, start, alone, _), piece in zip(
                    self.rows, self._row_pieces, strict=True
                )
            ]
        )


def assemble(pages: Sequence[PageContent]) -> Assembled:
    """The text of all pages, in order."""
    hyphens = Hyphens(
        row.text for page in pages for paragraph in page.paragraphs for row in paragraph
    )
    writer = _Writer(hyphens)
    starts: list[int] = []
    last: Row | None = None
    for page in pages:
        if not page.paragraphs and not page.aside:
            starts.append(writer.length)
            last = None  # what a picture in between says is not known
            continue
        going_on = _going_on(last, page)
        joined = _room_for_aside(going_on, page.aside) if going_on else None
        starts.append(_write(writer, page, joined))
        last = page.paragraphs[-1][-1] if page.paragraphs else None
    writer.close()
    text = writer.text()
    ends = [*starts[1:], len(text)]
    spans = tuple(
        Page(page.number, start, end)
        for page, start, end in zip(pages, [0, *ends], ends, strict=False)
    )
    return Assembled(
        text,
        spans,
        tuple(writer.unranked),
        writer.placed_rows(),
        tuple(writer.asides),
        dict(writer.joined),
    )


def _going_on(last: Row | None, page: PageContent) -> list[Paragraph]:
    """The page's paragraphs, first the one that ``last`` runs on into; none if it does not."""
    paragraphs = list(page.paragraphs)
    if last is None:
        return []
    for first in (0, page.in_margin):
        if first < len(paragraphs) and continues(last, paragraphs[first][0]):
            return [paragraphs[first], *paragraphs[:first], *paragraphs[first + 1 :]]
    return []


def _room_for_aside(
    paragraphs: Sequence[Paragraph], aside: Sequence[object]
) -> list[Paragraph] | None:
    """The paragraphs of a page that opens within a sentence, the first one ending where it does.

    None where the page holds no end of a sentence after which something could be put.
    """
    first, *others = paragraphs
    if others or not aside or ends_sentence(first[-1].text):
        return [first, *others]
    for index, row in enumerate(first[:-1]):
        if ends_sentence(row.text):
            return [first[: index + 1], first[index + 1 :]]
    return None


def _write(writer: _Writer, page: PageContent, joined: list[Paragraph] | None) -> int:
    """Write one page and return where it starts. ``joined`` goes on from the page before."""
    before = len(writer.rows)
    if joined is not None:
        first, *others = joined
        writer.paragraph(first, page.number)
        start = writer.rows[before].start
        writer.aside(page)
    else:
        writer.separate()
        start = writer.length
        writer.aside(page, separated=True)
        others = list(page.paragraphs)
        if not page.aside and others:
            writer.paragraph(others.pop(0), page.number)
    for paragraph in others:
        writer.separate()
        writer.paragraph(paragraph, page.number)
    return start
