"""The verdict: which stage lost what should have been there, why, because of what, by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.diagnosis.facts import Cut, Facts, Hidden, Trimmed, facts_of
from core.diagnosis.naming import chunk_name, listed, readable
from core.diagnosis.nearest import in_words, remedy
from core.diagnosis.sentences import WINDOW_SCORE, summary, told
from core.diagnosis.standing import Standing, standing
from core.diagnosis.targets import CHUNK, Piece, Target, shown_share
from core.errors import ChunkscopeError
from core.fates import PROMPT, fate_of
from core.index.index import Index
from core.records import Principal
from core.settings import STAGES
from core.trace import Trace

DOCUMENTS = "documents"
"""The stage of what never became a chunk."""

TITLES = {
    DOCUMENTS: "reading the documents",
    "access": "access",
    "first_stage": "the first stage",
    "rerank_1": "the first rerank",
    "extend": "the windows",
    "rerank_2": "the second rerank",
    "relevance": "the relevance threshold",
    "dedup": "the removal of duplicates",
    "diversity": "the diversity rule",
    "budget": "the evidence budget",
    "order": "the order",
    PROMPT: "the prompt",
}
"""What a sentence calls each stage."""


@dataclass(frozen=True, slots=True)
class ChunkVerdict:
    """What became of one chunk of a target.

    ``stage``, ``reason``, ``cause`` and ``margin`` are its fate's; ``stage`` is "prompt" for
    one that arrived. ``shown`` in [0, 1] is how much of what is wanted of it can be read in
    the prompt, perhaps in another chunk that overlaps it; ``arrived`` says that all is, and
    of a target that is a chunk, that it is there itself. ``facts`` holds the numbers.
    """

    chunk_id: str
    name: str
    stage: str
    reason: str
    cause: str
    margin: float | None
    sentence: str
    shown: float
    arrived: bool
    standing: Standing | None = None
    facts: Facts | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a target. ``stage`` is the first that lost a part.

    It is "prompt" where no chunk was lost; ``arrived`` is then False only if one was trimmed.
    """

    target: Target
    stage: str
    sentence: str
    chunks: tuple[ChunkVerdict, ...]
    arrived: bool

    @property
    def lost(self) -> tuple[ChunkVerdict, ...]:
        return tuple(c for c in self.chunks if not c.arrived)


def verdict(
    trace: Trace,
    index: Index,
    target: Target,
    *,
    viewer: Principal | None | Literal["asker"] = "asker",
) -> Verdict:
    """The first stage that lost each chunk of ``target``, and the target as a whole.

    Args:
        index: the index that the trace was made from, whole or as its principal sees it.
        viewer: who reads the verdict; None is the owner of the files. Only a viewer who may read
            a document learns that it was hidden from whoever asked; to any other it does not exist.

    Raises:
        ChunkscopeError: where the index is not the trace's.
    """
    seen = index_of_asker(trace, index)
    readable_to = index.restricted(trace.principal if viewer == "asker" else viewer)
    if not target.pieces:
        return Verdict(target, DOCUMENTS, _unfound(target), (), False)
    wanted: dict[str, list[Piece]] = {}
    for piece in target.pieces:
        wanted.setdefault(piece.chunk_id, []).append(piece)
    itself = target.kind == CHUNK
    chunks = tuple(_chunk(trace, seen, readable_to, c, own, itself) for c, own in wanted.items())
    lost = [c for c in chunks if not c.arrived]
    first = min(lost, key=lambda c: _place(c.stage), default=None)
    return Verdict(
        target=target,
        stage=first.stage if first else PROMPT,
        sentence=summary(
            [c.arrived for c in chunks],
            TITLES[first.stage] if first else "",
            first.sentence if first else "",
            target.share,
            chunks[0].name,
            shown_as(trace, target),
        )
        + _explained(chunks),
        chunks=chunks,
        arrived=not lost,
    )


def shown_as(trace: Trace, target: Target) -> list[int]:
    """The citation numbers of the passages that show some of a target."""
    return sorted(
        p.number
        for p in trace.selected
        if any(
            p.document_id == piece.document_id and p.start < piece.end and piece.start < p.end
            for piece in target.pieces
        )
    )


def _explained(chunks: tuple[ChunkVerdict, ...]) -> str:
    """What a window score is, where one is spoken of."""
    spoken = any(isinstance(c.facts, Cut) and c.facts.window for c in chunks)
    return f" {WINDOW_SCORE}" if spoken else ""


def index_of_asker(trace: Trace, index: Index) -> Index:
    """The part of ``index`` that whoever asked may read, which is what the trace was made from.

    Raises:
        ChunkscopeError: where it is not.
    """
    seen = index.restricted(trace.principal)
    if seen.fingerprint != trace.corpus:
        raise ChunkscopeError(
            "trace", "was made from other documents than these", "Run the question again."
        )
    return seen


def _place(stage: str) -> int:
    return STAGES.index(stage)


def _chunk(
    trace: Trace,
    seen: Index,
    readable_to: Index,
    chunk_id: str,
    wanted: list[Piece],
    itself: bool,
) -> ChunkVerdict:
    fate, where, facts = fate_of(trace, chunk_id), None, None
    size = sum(p.end - p.start for p in wanted)
    shown = sum(shown_share(p, trace.selected) * (p.end - p.start) for p in wanted) / size
    if fate.stage == "access":
        facts = _hidden(readable_to, chunk_id)
        sentence = f"{chunk_id} {fate.reason}."
        if facts:
            sentence = told(readable_to, chunk_id, facts, None)
    else:
        where = standing(trace, seen, chunk_id)
        facts = facts_of(trace, seen, chunk_id, fate, where)
        name = chunk_name(seen, chunk_id)
        if fate.arrived:
            passage = next(p for p in trace.selected if p.chunk_id == chunk_id)
            sentence = f"{name} is in the prompt, as [{passage.number}]."
            if shown < 1:
                facts = Trimmed(shown, passage.end - passage.start)
        else:
            sentence = f"{name} {readable(seen, fate.reason)}."
        if facts:
            sentence = told(seen, chunk_id, facts, where)
        if shown == 1 and not fate.arrived:
            sentence += " All that is wanted of it is in the prompt, in chunks that overlap it."
    return ChunkVerdict(
        chunk_id,
        chunk_name(readable_to, chunk_id),
        fate.stage,
        readable(seen, fate.reason),
        fate.cause,
        fate.margin,
        sentence,
        shown,
        shown == 1.0 and (fate.arrived or not itself),
        where,
        facts,
    )


def _hidden(readable_to: Index, chunk_id: str) -> Hidden | None:
    """Why a chunk was hidden from whoever asked, for a viewer who may know that it exists."""
    try:
        document = readable_to.document(readable_to.chunk(chunk_id).document_id)
    except KeyError:
        return None
    return Hidden(document.name, document.access)


def _unfound(target: Target) -> str:
    """Why no chunk holds a target, what comes nearest, and what can be done."""
    asked = " ".join(target.asked.split())
    asked = asked if len(asked) <= 60 else f"{asked[:57]}…"
    said = f"“{asked}” {target.problem}."
    if target.nearest:
        said += f" {in_words(target.nearest)}"
    if target.silent:
        pages = listed([f"{s.document}, page {s.page}" for s in target.silent], 5)
        said += f" It could stand on a page whose text was not extracted, or not well: {pages}."
    if target.kind == CHUNK:
        return f"{said} A chunk's id changes with its document and with the chunk size."
    if not any(c.isalnum() for c in asked):
        return f"{said} Paste letters or digits."
    if "which is in no chunk" in target.problem:
        return (
            f"{said} Such text is read but never retrieved, so no knob brings it in: look for "
            "the sentence of the body that says the same."
        )
    return f"{said} {remedy(bool(target.nearest), bool(target.silent))}"
