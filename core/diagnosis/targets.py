"""What should have been in the prompt: a passage, a span, a chunk or an evidence item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.diagnosis.matching import Match, Words, matches
from core.diagnosis.nearest import Nearest, nearest_text
from core.index.index import Index
from core.ingest.page_report import UNRELIABLE
from core.questions import Evidence
from core.records import Document, Span

CHUNK = "chunk"
"""The kind of a target that is one chunk, and not the text that stands in it."""

FEW = 50
"""Characters. A page with a warning and fewer than this may hold what its text does not."""


class Shown(Protocol):
    """A chunk in the prompt, and what of it is shown (a passage of a trace is one)."""

    chunk_id: str
    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What is wanted of one chunk: characters ``start`` to ``end`` of its document."""

    chunk_id: str
    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SilentPage:
    """A page whose text was not extracted, or not well: it may hold what cannot be found."""

    document: str
    page: int
    why: str


@dataclass(frozen=True, slots=True)
class Target:
    """What should have been in the prompt, as the chunks that hold it.

    Attributes:
        kind: "passage", "span", "chunk" or "evidence".
        asked: what was pasted or named.
        pieces: a piece a chunk, in document order; none where no chunk holds any of it.
        share: in [0, 1], how much of a passage was found in the documents, by words.
        missing: the parts of the passage that were not.
        problem: why no chunk holds it, in words; "" where one does.
        silent: pages without good text that could hold what was not found.
        nearest: the text that comes nearest to a passage of which nothing was found.
    """

    kind: str
    asked: str
    pieces: tuple[Piece, ...] = ()
    share: float = 1.0
    missing: tuple[str, ...] = ()
    problem: str = ""
    silent: tuple[SilentPage, ...] = ()
    nearest: Nearest | None = None

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.chunk_id for p in self.pieces))

    def reached(self, shown: Iterable[Shown]) -> bool:
        """Whether all of it stands in what the prompt shows; a chunk must be there itself."""
        shown = list(shown)
        if self.kind == CHUNK and not {s.chunk_id for s in shown} >= set(self.chunk_ids):
            return False
        return bool(self.pieces) and all(is_shown(p, shown) for p in self.pieces)


def is_shown(piece: Piece, shown: Iterable[Shown]) -> bool:
    """Whether every character of a piece is in one stretch or another."""
    return shown_share(piece, shown) == 1.0


def shown_share(piece: Piece, shown: Iterable[Shown]) -> float:
    """How much of a piece, in [0, 1], is in the stretches shown; overlapping chunks share text."""
    at, held = piece.start, 0
    for start, end in sorted((s.start, s.end) for s in shown if s.document_id == piece.document_id):
        start, end = max(start, at), min(end, piece.end)
        if start < end:
            held += end - start
            at = end
    return held / (piece.end - piece.start)


def target_of_chunk(index: Index, chunk_id: str) -> Target:
    """A chunk by its id. Without pieces where no document of the index holds it."""
    try:
        chunk = index.chunk(chunk_id)
    except KeyError:
        return Target(CHUNK, chunk_id, problem="is in none of the documents")
    return Target(CHUNK, chunk_id, (Piece(chunk.id, chunk.document_id, chunk.start, chunk.end),))


def target_of_span(
    index: Index, document_id: str, start: int, end: int, kind: str = "span"
) -> Target:
    """Characters ``start`` to ``end`` of a document."""
    asked = f"{document_id}[{start}:{end}]"
    try:
        document = index.document(document_id)
    except KeyError:
        return Target(kind, asked, problem="is in none of the documents")
    return _of_stretches(index, document, [(start, end)], kind, asked)


def target_of_evidence(index: Index, evidence: Evidence) -> Target:
    """A piece of evidence of a question set, as :func:`core.questions.locate` found it."""
    reference = evidence.reference
    if evidence.span is None:
        if reference.quote:
            return targets_of_passage(index, reference.quote, kind="evidence")[0]
        named = f"page {reference.page}" if reference.page is not None else "a span"
        return Target("evidence", named, problem="was not found in the documents")
    span = evidence.span
    found = target_of_span(index, evidence.document_id, span.start, span.end, "evidence")
    if found.pieces or reference.page is None:
        return found
    document = index.document(evidence.document_id)
    silent = tuple(s for s in silent_pages([document]) if s.page == reference.page)
    return Target(
        "evidence",
        f"{document.name}, page {reference.page}",
        problem="is a page without text that can be searched",
        silent=silent,
    )


def targets_of_passage(index: Index, text: str, kind: str = "passage") -> tuple[Target, ...]:
    """Where a passage stands, a target a place, in the order of the index; one at least.

    Where it stands whole nowhere, the one place that has most of it; where no text has it,
    a target without pieces that names the pages which could.
    """
    passage = Words(text)
    if not passage.words:
        return (Target(kind, text, share=0.0, problem="holds no word to look for"),)
    found: list[tuple[Document, Match]] = []
    read = [
        (document, index.once(f"words of {document.id}", lambda d=document: Words(d.text)))
        for document in index.documents
    ]
    for document, words in read:
        found += [(document, match) for match in matches(words, passage)]
    best = max((match.share for _, match in found), default=0.0)
    best_found = [(d, m) for d, m in found if m.share == best]
    if best < 1:
        best_found = best_found[:1]
    targets = tuple(
        _of_stretches(index, d, m.stretches, kind, text, m.share, m.missing) for d, m in best_found
    )
    if targets:
        return targets
    return (
        Target(
            kind,
            text,
            share=0.0,
            missing=(text,),
            problem="is not in any document's text",
            silent=silent_pages(index.documents),
            nearest=nearest_text(read, passage),
        ),
    )


def silent_pages(documents: Iterable[Document]) -> tuple[SilentPage, ...]:
    """The pages whose text is missing or not to be trusted, as extraction reported them."""
    return tuple(
        SilentPage(d.name, page.number, page.warnings[0])
        for d in documents
        for page in d.report.pages
        if page.warnings
        and (page.characters < FEW or any(w.startswith(UNRELIABLE) for w in page.warnings))
    )


def _of_stretches(
    index: Index,
    document: Document,
    stretches: Sequence[tuple[int, int]],
    kind: str,
    asked: str,
    share: float = 1.0,
    missing: tuple[str, ...] = (),
) -> Target:
    pieces = tuple(
        Piece(chunk.id, document.id, max(start, chunk.start), min(end, chunk.end))
        for start, end in stretches
        for chunk in _chunks(index, document.id)
        if start < chunk.end and chunk.start < end
    )
    problem = "" if pieces else _unranked(document, stretches)
    silent = silent_pages([document]) if share < 1 else ()
    return Target(kind, asked, pieces, share, missing, problem, silent)


def _chunks(index: Index, document_id: str):
    for document, first, stop in index.document_rows():
        if document.id == document_id:
            return index.chunks[first:stop]
    return ()


def _unranked(document: Document, stretches: Sequence[tuple[int, int]]) -> str:
    def touches(span: Span) -> bool:
        return any(start < span.end and span.start < end for start, end in stretches)

    kind = next((s.kind for s in document.unranked if touches(s)), "")
    what = f"the {kind}" if kind else "a part"
    return f"stands in {what} of {document.name}, which is in no chunk"
