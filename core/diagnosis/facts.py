"""What stood between a chunk and the prompt, in numbers: one record for each way to be lost."""

from __future__ import annotations

from dataclasses import dataclass

from core.diagnosis.differences import Difference, difference
from core.diagnosis.standing import Standing
from core.diagnosis.windows import MissedWindow, missed_window
from core.fates import Fate
from core.index.index import Index
from core.records import Access
from core.trace import DROPPED, Entry, StageRecord, Trace


@dataclass(frozen=True, slots=True)
class Cut:
    """Below the last candidate. ``gap`` is how much more the last one scored, 0 or more."""

    rank: int | None
    total: int
    limit: int
    by: str
    score: float | None
    last: str
    last_score: float | None
    gap: float | None
    window: MissedWindow | None


@dataclass(frozen=True, slots=True)
class Threshold:
    """Not relevant enough. ``anchor`` is set where its window's anchor was judged in its place."""

    relevance: float | None
    threshold: float
    short: float | None
    anchor: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Near enough to a better chunk. ``twin_arrived`` says whether that one is in the prompt."""

    twin: str
    overlap: float
    threshold: float
    difference: Difference
    twin_arrived: bool


@dataclass(frozen=True, slots=True)
class Capped:
    """As many passages of its source as the cap lets in, all of them better."""

    cap: int
    before: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """A passage that was chosen first, and the tokens that it takes in the prompt."""

    chunk_id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class OverBudget:
    """Tokens that it needs, that were left of ``room``, and what had taken the others.

    ``rank`` is its place, from 1, among the ``of`` candidates that the budget was asked for.
    """

    needed: int
    left: int
    room: int
    rank: int
    of: int
    before: tuple[Spent, ...]


@dataclass(frozen=True, slots=True)
class Trimmed:
    """In the prompt, but cut to fit: ``shown`` in [0, 1] of what is wanted can be read there."""

    shown: float
    characters: int


@dataclass(frozen=True, slots=True)
class Hidden:
    """In a document that whoever asked may not read."""

    document: str
    access: Access


Facts = Cut | Threshold | Duplicate | Capped | OverBudget | Trimmed | Hidden


def facts_of(
    trace: Trace, index: Index, chunk_id: str, fate: Fate, where: Standing
) -> Facts | None:
    """The numbers behind a fate; None for a chunk that arrived, or where the trace has none."""
    if fate.stage == "first_stage":
        return _cut(trace, index, chunk_id, where)
    if fate.stage not in _READERS:
        return None
    record = trace.stage(fate.stage)
    own = next(e for e in record.entries if e.chunk_id == chunk_id and e.fate == DROPPED)
    return _READERS[fate.stage](trace, index, record, own)


def _cut(trace: Trace, index: Index, chunk_id: str, where: Standing) -> Cut:
    first = trace.stage("first_stage")
    ranked = where.fused is not None
    gap = None
    if ranked and first.cut_score is not None:
        gap = max(0.0, first.cut_score - where.fused)
    return Cut(
        rank=where.fused_rank,
        total=where.total,
        limit=first.passed,
        by="BM25" if first.how == "BM25 alone" else "fused score",
        score=where.fused,
        last=first.last_kept,
        last_score=first.cut_score,
        gap=gap,
        window=missed_window(trace, index, chunk_id),
    )


def _threshold(trace: Trace, index: Index, record: StageRecord, own: Entry) -> Threshold:
    threshold = float(record.settings["relevance_threshold"])
    judged = None if own.margin is None else threshold + own.margin
    short = None if own.margin is None else -own.margin
    return Threshold(judged, threshold, short, own.cause)


def _duplicate(trace: Trace, index: Index, record: StageRecord, own: Entry) -> Duplicate:
    threshold = float(record.settings["dedup_threshold"])
    return Duplicate(
        twin=own.cause,
        overlap=threshold - (own.margin or 0.0),
        threshold=threshold,
        difference=difference(index.chunk(own.chunk_id).text, index.chunk(own.cause).text),
        twin_arrived=any(p.chunk_id == own.cause for p in trace.selected),
    )


def _capped(trace: Trace, index: Index, record: StageRecord, own: Entry) -> Capped:
    source = index.chunk(own.chunk_id).document_id
    same = tuple(c for c in record.kept if index.chunk(c).document_id == source)
    return Capped(int(record.settings["per_source_cap"]), same)


def _over_budget(trace: Trace, index: Index, record: StageRecord, own: Entry) -> OverBudget | None:
    if not {"tokens", "left", "room"} <= own.scores.keys():  # a trace of before they were kept
        return None
    order = trace.stage("diversity").kept
    rank = order.index(own.chunk_id)
    tokens = {p.chunk_id: p.tokens for p in trace.selected}
    return OverBudget(
        needed=int(own.scores["tokens"]),
        left=int(own.scores["left"]),
        room=int(own.scores["room"]),
        rank=rank + 1,
        of=len(order),
        before=tuple(Spent(c, tokens[c]) for c in order[:rank] if c in tokens),
    )


_READERS = {
    "relevance": _threshold,
    "dedup": _duplicate,
    "diversity": _capped,
    "budget": _over_budget,
}
