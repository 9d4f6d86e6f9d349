"""A document's text in blocks that can be drawn: chunks, and what is in no chunk. No streamlit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Chunk, Document
from core.words import counted

CHUNK, LEFT_OUT = "chunk", "unranked"

SECTION_CHUNKS = 12
"""Chunks a section of a document that has no pages."""

LONGEST = 20_000
"""Characters of one block that are shown."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text, and what it is. ``chunk_id`` is empty where it is in no chunk."""

    kind: str
    label: str
    text: str
    chunk_id: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """What is shown at once: a page, or a dozen chunks where there are no pages."""

    title: str
    blocks: tuple[Block, ...]

    def holds(self, chunk_id: str) -> bool:
        return bool(chunk_id) and any(b.chunk_id == chunk_id for b in self.blocks)


def sections(document: Document, chunks: Sequence[Chunk]) -> list[Section]:
    """The document from beginning to end; at least one section."""
    if document.pages:
        return [
            Section(
                f"Page {p.number} of {len(document.pages)}" + _characters(document, p.number),
                _blocks(document, chunks, p.start, p.end),
            )
            for p in document.pages
        ]
    cuts = [c.start for c in chunks[::SECTION_CHUNKS]] or [0]
    cuts[0] = 0
    ends = [*cuts[1:], len(document.text)]
    return [
        Section(
            f"Part {n} of {len(cuts)}" if len(cuts) > 1 else "The whole text",
            _blocks(document, chunks, start, end),
        )
        for n, (start, end) in enumerate(zip(cuts, ends, strict=True), 1)
    ]


def _characters(document: Document, number: int) -> str:
    report = next((p for p in document.report.pages if p.number == number), None)
    if report is None:
        return ""
    images = f", {counted(report.images, 'image')}" if report.images else ""
    return f" · {counted(report.characters, 'character')}{images}"


def _blocks(document: Document, chunks: Sequence[Chunk], start: int, end: int) -> tuple[Block, ...]:
    """The chunks that touch [start, end), cut to it, and what lies between them."""
    blocks: list[Block] = []
    at = start
    first = bisect_left([c.end for c in chunks], start + 1)
    for chunk in chunks[first:]:
        if chunk.start >= end:
            break
        if chunk.start > at:
            blocks += _left_out(document, at, chunk.start)
        low, high = max(chunk.start, start), min(chunk.end, end)
        if document.text[low:high].strip():
            blocks.append(_chunk_block(document, chunk, low, high))
        at = max(at, high)
    return tuple(blocks + _left_out(document, at, end))


def _chunk_block(document: Document, chunk: Chunk, low: int, high: int) -> Block:
    before = " · continued" if low > chunk.start else ""
    after = " · goes on" if high < chunk.end and document.text[high : chunk.end].strip() else ""
    label = f"Chunk {chunk.ordinal + 1} · {chunk.tokens} tokens{before}{after}"
    return Block(CHUNK, label, _shown(document.text[low:high]), chunk.id)


def _left_out(document: Document, start: int, end: int) -> list[Block]:
    text = document.text[start:end]
    if not text.strip():
        return []
    kinds = {s.kind for s in document.unranked if s.start < end and start < s.end and s.kind}
    why = f"Not ranked: {', '.join(sorted(kinds)).replace('_', ' ')}" if kinds else "Not ranked"
    return [Block(LEFT_OUT, why, _shown(text))]


def _shown(text: str) -> str:
    text = text.strip("\n")
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"
