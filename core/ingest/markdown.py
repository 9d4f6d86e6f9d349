"""Markdown → the text that a reader sees, by edits to the file's own.

Marks within lines, the signs of headings and HTML tags go; links and pictures leave their text.
Lists, quotations, tables and code stay as they are written, which is how they are read. Blocks
and marks are found by markdown-it's own rules, so that a ``#`` in a fence is no heading, and an
underlined line is one. What the parser places nowhere stays: no text is ever lost.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.alignment import Alignment
from core.ingest.edits import Edit, Edited
from core.ingest.html_text import COMMENT, entities, tag_text
from core.ingest.markdown_inline import InlineMarks
from core.records import Heading, Span

MAX_CHARACTERS = 200
"""A rule under a longer paragraph makes it a heading by the letter of the syntax only."""

DEFINITION, SCRIPT = "link definition", "script or style"

# The line endings that markdown-it normalises. str.splitlines would also split at form
# feeds and Unicode separators, and all later offsets would be wrong.
_LINE_END = re.compile(r"\r\n?|\n")
_FOOTNOTE = re.compile(r"[ \t>]*\[\^")
_HEADING_END = re.compile(r"[ \t]+#+[ \t]*$|[ \t]+$")
_BLANKS = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_DASHES = re.compile(r"-{4,}")
_SCRIPT = re.compile(r"\s*<(script|style)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Markdown:
    """``removed`` counts the characters that are in the raw text alone, by kind."""

    text: str
    alignment: Alignment
    headings: tuple[Heading, ...] = ()
    unranked: tuple[Span, ...] = ()
    tables: tuple[Span, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)


def read_markdown(raw: str, body: int = 0) -> Markdown:
    """The text of ``raw``; what stands before ``body`` stays as it is."""
    parser, env = _parser(), {}
    tokens = parser.parse(raw[body:], env)
    source = _Source(raw, body)
    marks = InlineMarks(parser, env)
    edits: list[Edit] = []
    headings: list[tuple[int, int, int, int]] = []  # start, end, level, depth
    unranked = [Span(*source.lines(entry["map"]), DEFINITION) for entry in _definitions(env)]
    tables: list[Sequence[int]] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.type == "table_open":
            tables.append(token.map)
            edits += _table(source, token.map, marks)
            while tokens[at].type != "table_close":
                at += 1
        elif token.type == "heading_open":
            inline = tokens[at]
            if place := _Heading.found(source, token, inline):
                edits += place.edits
                headings.append((place.start, place.end, int(token.tag[1:]), token.level))
        elif token.type == "inline":
            edits += source.inline(token, marks)
        elif token.type == "html_block":
            hidden, changes = _html(source, token.map)
            unranked += hidden
            edits += changes
    edited = Edited(raw, edits)
    removed: Counter[str] = Counter()
    for edit in edited.edits:
        if edit.kind:
            removed[edit.kind] += edit.end - edit.start
    return Markdown(
        edited.text,
        edited.alignment,
        tuple(_headings(edited, headings)),
        _apart(Span(edited.at(s.start), edited.at(s.end), s.kind) for s in unranked),
        tuple(span for between in tables for span in _named_rows(source, edited, between)),
        dict(removed),
    )


def _named_rows(source: _Source, edited: Edited, between: Sequence[int]) -> Iterator[Span]:
    """A table's rows below its header row, whose cells are the span's kind."""
    head = edited.text[slice(*map(edited.at, source.line(between[0])))]
    named = " · ".join(" ".join(cell.split()) for cell in head.split("|") if cell.strip())
    if named and between[1] - between[0] > 2:
        start, end = source.lines((between[0] + 2, between[1]))
        yield Span(edited.at(start), edited.at(end), named)


def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # Inline rules are run where there are marks, by InlineMarks.
    parser.core.ruler.enableOnly(["normalize", "block"])
    reference = next(r.fn for r in parser.block.ruler.__rules__ if r.name == "reference")

    def no_footnote(state: Any, start: int, end: int, silent: bool) -> bool:
        """A footnote of one word looks like the definition of a link."""
        line = state.src[state.bMarks[start] : state.eMarks[start]]
        return not _FOOTNOTE.match(line) and reference(state, start, end, silent)

    parser.block.ruler.at("reference", no_footnote)
    return parser


def _definitions(env: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*env.get("references", {}).values(), *env.get("duplicate_refs", ())]


class _Source:
    """The raw text by the lines that the parser counts."""

    def __init__(self, raw: str, body: int) -> None:
        self.raw = raw
        ends = list(_LINE_END.finditer(raw, body))
        self._starts = [body, *(match.end() for match in ends)]
        self._ends = [*(match.start() for match in ends), len(raw)]

    def line(self, number: int) -> tuple[int, int]:
        """Start and end of a line, its line break left out."""
        return self._starts[number], self._ends[number]

    def lines(self, between: Sequence[int]) -> tuple[int, int]:
        """Start and end of the lines from the first to the last (exclusive) of ``between``."""
        last = min(between[1], len(self._starts))
        return self._starts[between[0]], self._ends[max(between[0], last - 1)]

    def inline(self, token: Any, marks: InlineMarks) -> Iterator[Edit]:
        """The edits of a paragraph; none where its lines are not found again."""
        changes = marks.edits(token.content)
        if not changes or not token.map:
            return
        places = self._places(token)
        starts, length = [], 0
        for line in token.content.split("\n"):
            starts.append(length)
            length += len(line) + 1

        def raw_at(offset: int) -> int:
            row = bisect_right(starts, offset) - 1
            return places[row] + offset - starts[row]

        if len(places) == len(starts):
            for edit in changes:
                yield edit._replace(start=raw_at(edit.start), end=raw_at(edit.end - 1) + 1)

    def _places(self, token: Any) -> list[int]:
        """Where each line of a token's content begins, without what it is indented by."""
        places = []
        for number, line in enumerate(token.content.split("\n"), token.map[0]):
            start, end = self.line(number)
            shown = line.rstrip()
            found = self.raw.rfind(shown.lstrip(), start, end)
            if found < 0:
                return []
            places.append(found - (len(shown) - len(shown.lstrip())))
        return places


@dataclass(frozen=True)
class _Heading:
    """A heading's words, from ``start`` to ``end``, and the edits that leave these alone."""

    start: int
    end: int
    edits: tuple[Edit, ...]

    @classmethod
    def found(cls, source: _Source, token: Any, inline: Any) -> _Heading | None:
        """None for an empty one, and for one that is none but by the letter of the syntax."""
        shown = inline.content
        if not shown.strip() or len(shown) > MAX_CHARACTERS:
            return None
        first, last = token.map[0], token.map[1] - 1
        if token.markup.startswith("#"):
            start, end = source.line(first)
            sign = source.raw.find("#", start, end)
            words = source.raw.find(shown, sign + len(token.markup), end)
            if words < 0:
                return None
            stop = words + len(shown)
            return cls(start, end, (Edit(sign, words), Edit(stop, end)))
        start, (_, end) = source.line(first)[0], source.line(last - 1)
        return cls(start, end, (Edit(end, source.line(last)[1]),))


def _headings(edited: Edited, found: Sequence[tuple[int, int, int, int]]) -> Iterator[Heading]:
    for start, end, level, depth in found:
        at = edited.at(start)
        words = " ".join(edited.text[at : edited.at(end)].split())
        if words and not depth:  # not those within lists and quotations
            yield Heading(at, level, words)


def _table(source: _Source, between: Sequence[int], marks: InlineMarks) -> Iterator[Edit]:
    """Cells keep their bars and lose the blanks that line them up."""
    for number in range(between[0], between[1]):
        start, end = source.line(number)
        row = source.raw[start:end]
        for blanks in _BLANKS.finditer(row):
            yield Edit(start + blanks.start(), start + blanks.end(), " ")
        if number == between[0] + 1:
            for dashes in _DASHES.finditer(row):
                yield Edit(start + dashes.start(), start + dashes.end(), "---")
            continue
        for left, right in _cells(row):
            for edit in marks.edits(row[left:right], in_row=True):
                yield edit._replace(start=start + left + edit.start, end=start + left + edit.end)


def _cells(row: str) -> Iterator[tuple[int, int]]:
    left = 0
    for bar in re.finditer(r"(?<!\\)\|", row):
        yield left, bar.start()
        left = bar.end()
    yield left, len(row)


def _html(source: _Source, between: Sequence[int]) -> tuple[list[Span], list[Edit]]:
    """What of a block of HTML nobody reads, and the edits that leave the text of the rest."""
    from markdown_it.common.html_re import HTML_TAG_RE

    start, end = source.lines(between)
    block = source.raw[start:end]
    unranked: list[Span] = []
    at = 0
    lead = len(block) - len(block.lstrip())
    if script := _SCRIPT.match(block):
        close = re.search(rf"</{script[1]}\s*>", block, re.IGNORECASE)
        at = close.end() if close else len(block)
        unranked.append(Span(start + lead, start + at, SCRIPT))
    elif block.startswith("<!--", lead):
        close = block.find("-->", lead)
        at = close + 3 if close >= 0 else len(block)
        unranked.append(Span(start + lead, start + at, COMMENT))
    edits = []
    while at < len(block):
        sign = block.find("<", at)
        stop = len(block) if sign < 0 else sign
        edits += [_moved(edit, start + at) for edit in entities(block[at:stop])]
        if sign < 0:
            break
        closed = block.find(_closing(block, sign), sign + 2) >= 0
        tag = HTML_TAG_RE.match(block, sign) if closed else None
        at = tag.end() if tag else sign + 1
        if tag:
            before, after = block[sign - 1 : sign] or "\n", block[at : at + 1] or "\n"
            if edit := tag_text(tag[0], before, after):
                edits.append(_moved(edit, start + sign))
    return unranked, edits


def _closing(block: str, sign: int) -> str:
    """What must follow for there to be a tag; looking for it first saves the pattern a walk to
    the end from each of many openings."""
    for opening, closing in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")):
        if block.startswith(opening, sign):
            return closing
    return ">"


def _moved(edit: Edit, by: int) -> Edit:
    return edit._replace(start=edit.start + by, end=edit.end + by)


def _apart(spans: Iterator[Span]) -> tuple[Span, ...]:
    """The spans in order, without those that are empty or begin within another."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if span.start < span.end and (not kept or span.start >= kept[-1].end):
            kept.append(span)
    return tuple(kept)
