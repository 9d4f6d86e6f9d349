"""Documents into chunks of about ``chunk_tokens`` tokens.

Laws: ``chunk.text == document.text[start:end]``; every character that is not in an
unranked span is in a chunk (chunks tile the ranked text, each with the white space
that follows it); no chunk has more tokens than the target.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from core.records import Chunk, Document, Heading, Page, Span, chunk_id
from core.tokens import READ_OVER, TokenCounter

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_END = re.compile(r"\n\s*")

TABLE = "Table: "
"""Stands in a heading path before the header row of a table that a chunk begins in."""

FILL_HEADING, FILL_PARAGRAPH, FILL_SENTENCE = 0.3, 0.5, 0.5
"""How full a chunk must be for a heading, a paragraph or a sentence end to close it early."""


def chunk_document(
    document: Document, counter: TokenCounter, chunk_tokens: int = 128, chunk_overlap: int = 0
) -> tuple[Chunk, ...]:
    """The chunks of one document, in reading order.

    Args:
        chunk_tokens: the most tokens that a chunk holds.
        chunk_overlap: tokens repeated from the chunk before; at most half a chunk is.
    """
    overlap = min(chunk_overlap, chunk_tokens // 2)
    spans = [
        span
        for region in _ranked_regions(document)
        for span in _cut(document, region, counter, chunk_tokens, overlap)
    ]
    texts = [document.text[start:end] for start, end in spans]
    tokens = counter.count_many(texts) if texts else []
    page_starts = [page.start for page in document.pages]
    paths = _HeadingPaths(document.headings, document.tables)
    return tuple(
        Chunk(
            id=chunk_id(document.id, ordinal),
            document_id=document.id,
            ordinal=ordinal,
            start=start,
            end=end,
            text=text,
            tokens=count,
            pages=_page_span(document.pages, page_starts, *_inked(text, start)),
            headings=paths.at(_inked(text, start)[0]),
        )
        for ordinal, ((start, end), text, count) in enumerate(
            zip(spans, texts, tokens, strict=True)
        )
    )


def _ranked_regions(document: Document) -> Iterator[tuple[int, int]]:
    """The stretches between unranked spans that hold more than white space."""
    at = 0
    blocked = sorted((s.start, s.end) for s in document.unranked)
    for start, end in [*blocked, (len(document.text), len(document.text))]:
        if document.text[at:start].strip():
            yield at, start
        at = max(at, end)


def _cut(
    document: Document, region: tuple[int, int], counter: TokenCounter, size: int, overlap: int
) -> Iterator[tuple[int, int]]:
    begin, stop = region
    text = document.text[begin:stop]
    tokens = [(begin + s, begin + e) for s, e in counter.spans(text)]
    if not tokens:
        # Nothing that the counter knows (control characters, say): still covered, as one chunk.
        yield region
        return
    starts = [s for s, _ in tokens]
    breaks = _Breaks(document.text, region, [h.start for h in document.headings])
    first, start, reached = 0, begin, begin
    while first < len(tokens):
        last = first + size
        end = stop if last >= len(tokens) else breaks.best(starts, first, last)
        end = _fitted(document.text, start, end, starts, first, counter, size)
        if end <= reached and start < reached:
            # What it repeats fills it: it would say nothing new, and repeats nothing instead.
            first, start = bisect_left(starts, reached), reached
            continue
        yield start, end
        reached = end
        if end >= stop:
            return
        following = bisect_left(starts, end)
        first = max(following - overlap, first + 1) if overlap else following
        if overlap:
            first = breaks.sentence_start(starts, first, following)
        start = end if first >= following else starts[first]


def _fitted(
    text: str,
    start: int,
    end: int,
    starts: Sequence[int],
    first: int,
    counter: TokenCounter,
    size: int,
) -> int:
    """``end``, or an earlier token where a word cut in two counts more tokens than it did whole."""

    def inside_word(at: int) -> bool:
        return 0 < at < len(text) and not _parts_words(text[at - 1]) and not _parts_words(text[at])

    if not (inside_word(start) or inside_word(end)):
        return end
    while (excess := counter.count(text[start:end]) - size) > 0:
        held = bisect_left(starts, end, first) - first
        if held <= 1:
            break
        end = starts[first + max(1, held - excess)]
    return end


def _parts_words(character: str) -> bool:
    return character.isspace() and character not in READ_OVER


class _Breaks:
    """Where a region may be cut, best kind first."""

    def __init__(self, text: str, region: tuple[int, int], headings: Sequence[int]) -> None:
        begin, stop = region
        self.text = text
        self.headings = [h for h in _first_of_runs(text, headings) if begin < h < stop]
        self.paragraphs = [m.end() for m in _PARAGRAPH_END.finditer(text, begin, stop)]
        self.sentences = [m.end() for m in _SENTENCE_END.finditer(text, begin, stop)]
        self.lines = [m.end() for m in _LINE_END.finditer(text, begin, stop)]

    def best(self, starts: Sequence[int], first: int, last: int) -> int:
        """The offset at which a chunk of tokens ``first`` to ``last`` (exclusive) should end."""
        limit, size = starts[last], last - first
        for kind, fill in (
            (self.headings, FILL_HEADING),
            (self.paragraphs, FILL_PARAGRAPH),
            (self.sentences, FILL_SENTENCE),
            (self.lines, FILL_SENTENCE),
        ):
            found = _latest(kind, starts[first + max(1, int(size * fill))], limit)
            if found is not None:
                return found
        for at in range(last, first + max(1, size // 2), -1):
            if self.text[starts[at] - 1].isspace():
                return starts[at]
        return limit

    def sentence_start(self, starts: Sequence[int], first: int, following: int) -> int:
        """The token from ``first`` on, before ``following``, at which a sentence begins."""
        found = bisect_left(self.sentences, starts[first])
        if found < len(self.sentences):
            at = bisect_left(starts, self.sentences[found])
            if at < following:
                return at
        return first


def _first_of_runs(text: str, headings: Sequence[int]) -> list[int]:
    """Headings, without those that only another heading's line precedes.

    A chapter's title and its first section's belong to one chunk: to cut between them would
    leave the title at the end of the chunk before.
    """
    kept, before = [], None
    for heading in sorted(set(headings)):
        if before is None or "\n" in text[before:heading].strip():
            kept.append(heading)
        before = heading
    return kept


def _latest(places: Sequence[int], low: int, high: int) -> int | None:
    """The last place in [low, high], if there is one."""
    at = bisect_right(places, high)
    return places[at - 1] if at and places[at - 1] >= low else None


def _inked(text: str, start: int) -> tuple[int, int]:
    """The stretch of a chunk that is not white space at its ends, in document offsets."""
    inner = text.strip()
    if not inner:
        return start, start + len(text)
    lead = len(text) - len(text.lstrip())
    return start + lead, start + lead + len(inner)


def _page_span(
    pages: Sequence[Page], page_starts: Sequence[int], start: int, end: int
) -> tuple[int, ...]:
    if not pages:
        return ()
    first = max(0, bisect_right(page_starts, start) - 1)
    last = max(first, bisect_left(page_starts, end) - 1)
    return pages[first].number, pages[last].number


class _HeadingPaths:
    """The path of headings in force at an offset; within a table, its header row is the last."""

    def __init__(self, headings: Sequence[Heading], tables: Sequence[Span] = ()) -> None:
        self._starts: list[int] = []
        self._paths: list[tuple[str, ...]] = []
        self._tables = sorted((t.start, t.end, t.kind) for t in tables)
        stack: list[Heading] = []
        for heading in sorted(headings, key=lambda h: h.start):
            while stack and stack[-1].level >= heading.level:
                stack.pop()
            stack.append(heading)
            self._starts.append(heading.start)
            self._paths.append(tuple(h.text for h in stack))

    def at(self, offset: int) -> tuple[str, ...]:
        place = bisect_right(self._starts, offset)
        path = self._paths[place - 1] if place else ()
        index = bisect_right(self._tables, offset, key=itemgetter(0)) - 1
        if index >= 0 and offset < self._tables[index][1]:
            return (*path, f"{TABLE}{self._tables[index][2]}")
        return path
