"""A chunk as the pages show it, from the live index or from a saved trace. No streamlit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.trace import Trace
from dashboard.lookup import pages_in_words

if TYPE_CHECKING:
    from core.index.index import Index


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person needs to know of a chunk. ``of`` is how many its document has."""

    id: str
    document_id: str
    document: str
    ordinal: int
    of: int
    tokens: int
    text: str
    pages: tuple[int, ...] = ()
    headings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        where = place(self.pages, self.ordinal)
        return f"{self.document}, {where}"

    @property
    def caption(self) -> str:
        path = " › ".join(self.headings)
        size = f"Chunk {self.ordinal + 1:,} of {self.of:,}, {self.tokens:,} tokens"
        return f"{size} · {path}" if path else size


def find(trace: Trace, index: Index | None, chunk_id: str) -> Shown | None:
    """The chunk of that id; None where neither the trace nor the index has it.

    ``index`` must be restricted to those who may read it.
    """
    documents = {d.id: d for d in trace.documents}
    chunk = next((c for c in trace.chunks if c.id == chunk_id), None)
    if chunk is None and index is not None:
        try:
            chunk = index.chunk(chunk_id)
        except KeyError:
            return None
    if chunk is None:
        return None
    document = documents.get(chunk.document_id)
    return Shown(
        id=chunk.id,
        document_id=chunk.document_id,
        document=document.name if document else chunk.document_id,
        ordinal=chunk.ordinal,
        of=document.chunks if document else chunk.ordinal + 1,
        tokens=chunk.tokens,
        text=chunk.text,
        pages=chunk.pages,
        headings=chunk.headings,
    )


def clicked_chunk(points: Iterable[Mapping[str, Any]]) -> str:
    """The id of the chunk that a click in a figure hit; empty where it hit none."""
    for point in points:
        found = point.get("customdata")
        parts = [found] if isinstance(found, str) else list(found or ())
        named = next((p for p in parts if isinstance(p, str) and ":" in p), "")
        if named:
            return named
    return ""


def step_in_document(trace: Trace, index: Index | None, chunk: Shown, step: int) -> str:
    """The id of the next chunk of the same document that can be shown; empty at its end."""
    from core.records import chunk_id

    ordinal = chunk.ordinal + step
    while 0 <= ordinal < chunk.of:
        target = chunk_id(chunk.document_id, ordinal)
        if find(trace, index, target) is not None:
            return target
        ordinal += step
    return ""


def step_in_ranking(ranking: Sequence[str], chunk_id: str, step: int) -> str:
    """The id so many rows away in the table; empty where there is none."""
    if chunk_id not in ranking:
        return ranking[0] if ranking else ""
    at = ranking.index(chunk_id) + step
    return ranking[at] if 0 <= at < len(ranking) else ""


def row_in_ranking(ranking: Sequence[str], chunk_id: str) -> str:
    """``row 12 of 54``: where the table has a chunk that it may not show just now."""
    if chunk_id not in ranking:
        return "not in the table"
    return f"row {ranking.index(chunk_id) + 1:,} of {len(ranking):,}"


def place(pages: Sequence[int], ordinal: int) -> str:
    """Where a chunk stands, for a person: its page, or its number where there are none."""
    return pages_in_words(tuple(pages)) or f"chunk {ordinal + 1}"
