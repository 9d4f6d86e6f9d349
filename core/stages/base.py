"""The one shape of every stage: ranked candidates and settings in, a record out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.index.index import Index
from core.index.scores import ScoreCache
from core.models.protocols import Reranker
from core.models.states import QueryStates
from core.modes import Mode
from core.records import NO_SCORES, Candidate, Chunk
from core.settings import Settings
from core.trace import Entry, StageRecord


@dataclass(frozen=True)
class Query:
    """The question as the first stage read it: terms, states, and the whole corpus's scores.

    Arrays are float64[chunks], in the index's order of rows: ``bm25`` raw, ``dense`` cosines
    (None without an encoder), ``fused`` what orders, ``coverage`` the share in [0, 1] of the
    question's IDF mass that a chunk holds, ``sparse`` 0 or more, by lexical weights that the
    encoder learnt (None where it learns none). ``states`` is None where the encoder did not
    read the question. ``token_weights`` is float64[t], what each token of ``states`` weighs by
    its rarity, or None where the encoder does not say where its tokens stand.
    """

    terms: tuple[str, ...]
    states: QueryStates | None
    bm25: np.ndarray
    dense: np.ndarray | None
    fused: np.ndarray
    coverage: np.ndarray
    sparse: np.ndarray | None = None
    token_weights: np.ndarray | None = None


@dataclass(frozen=True)
class Run:
    """What stays the same through a run.

    ``memo`` gives the scores kept between runs, by model, ``kept_scores`` those on disk, if
    any; ``read`` holds, by encoder, the question's states and its cosines with every chunk,
    which no knob changes. ``no_encoder`` says why there is no encoder.
    """

    index: Index
    question: str
    mode: Mode
    rerankers: Mapping[str, Reranker]
    encoder: Any = None
    no_encoder: str = "no encoder is loaded"
    memo: Callable[[str], MutableMapping[str, float]] = field(default=lambda model: {})
    read: MutableMapping[str, Any] = field(default_factory=dict)
    kept_scores: ScoreCache | None = None
    cancelled: Callable[[], bool] | None = None


@dataclass(frozen=True)
class State:
    """What one stage hands to the next. ``candidates`` are best first."""

    candidates: tuple[Candidate, ...] = ()
    query: Query | None = None


Stage = Callable[[State, Settings, Run], tuple[State, StageRecord]]


def entry(
    candidate: Candidate,
    fate: str,
    rank: int | None = None,
    *,
    scores: Mapping[str, float | None] | None = None,
    reason: str = "",
    cause: str = "",
    margin: float | None = None,
) -> Entry:
    """An entry with the candidate's own score, relevance and window."""
    return Entry(
        candidate.chunk_id,
        fate,
        rank,
        number(candidate.score),
        scores or NO_SCORES,
        reason,
        cause,
        margin,
        number(candidate.relevance),
        candidate.anchor,
        candidate.offset,
    )


def number(value: float | None) -> float | None:
    """A plain float; None for one that is not a number."""
    return float(value) if value is not None and math.isfinite(value) else None


def passed_on(
    name: str, state: State, settings: Mapping[str, Any], **more: Any
) -> tuple[State, StageRecord]:
    """The record of a stage that changed nothing: everything goes on as it came."""
    ids = tuple(c.chunk_id for c in state.candidates)
    record = StageRecord(
        name=name, settings=settings, entered=len(ids), passed=len(ids), kept=ids, **more
    )
    return state, record


def selection(
    name: str,
    state: State,
    kept: Iterable[Candidate],
    dropped: Iterable[Entry],
    settings: Mapping[str, Any],
    reasons: Mapping[str, str] | None = None,
    **more: Any,
) -> tuple[State, StageRecord]:
    """The record of a stage that lets some candidates through, in a new order perhaps."""
    kept, dropped = tuple(kept), tuple(dropped)
    reasons = reasons or {}
    entries = tuple(
        entry(c, "kept", rank, reason=reasons.get(c.chunk_id, "")) for rank, c in enumerate(kept, 1)
    )
    record = StageRecord(
        name=name,
        settings=settings,
        entered=len(state.candidates),
        passed=len(kept),
        kept=tuple(c.chunk_id for c in kept),
        dropped=tuple(e.chunk_id for e in dropped),
        entries=entries + dropped,
        last_kept=kept[-1].chunk_id if kept else "",
        cut_score=number(kept[-1].score) if kept else None,
        **more,
    )
    return replace(state, candidates=kept), record


def ordering_scores(candidates: Iterable[Candidate]) -> np.ndarray:
    """float64[n]: the score that orders each candidate now; NaN where it has none."""
    return np.array([np.nan if c.score is None else c.score for c in candidates], dtype=np.float64)


def chunks_of(run: Run, candidates: Iterable[Candidate]) -> list[Chunk]:
    """The candidates' chunks, in their order."""
    return [run.index.chunk(c.chunk_id) for c in candidates]
