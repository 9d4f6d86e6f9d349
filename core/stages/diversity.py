"""Stage 8, diversity: off, MMR, sections not yet seen first, or a cap for each source."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from core.ranking import min_max
from core.settings import Settings
from core.stages.base import (
    Run,
    State,
    chunks_of,
    entry,
    ordering_scores,
    passed_on,
    selection,
)
from core.stages.overlaps import shared_words
from core.trace import DROPPED, StageRecord

_PROCEDURE = re.compile(
    r"\b(step[- ]by[- ]step|steps?|procedure|instructions?|walk me through|how (do|can|should|to)\b)",
    re.IGNORECASE,
)


def diversity(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Reorders or caps the candidates, as the knob says."""
    knobs = settings.of_groups("diversity")
    if settings.diversity == "off" or len(state.candidates) < 2:
        return passed_on("diversity", state, knobs)
    if settings.diversity == "source_cap":
        return _capped(state, settings, run, knobs)
    if settings.diversity == "sections":
        chunks = chunks_of(run, state.candidates)
        order = sections_first([(c.document_id, c.headings) for c in chunks])
    else:
        order = _mmr_order(state, settings, run)
    kept = [state.candidates[i] for i in order]
    moved = {
        state.candidates[i].chunk_id: f"was {i + 1} by score"
        for rank, i in enumerate(order)
        if i != rank
    }
    return selection("diversity", state, kept, (), knobs, moved)


def asks_for_steps(question: str) -> bool:
    """Whether a question asks for a procedure, which one source should be free to tell in full."""
    return bool(_PROCEDURE.search(question))


def sections_first(sections: list) -> list[int]:
    """Positions, best first, so that the best passage of each section precedes all second ones."""
    seen, first, rest = set(), [], []
    for i, section in enumerate(sections):
        (rest if section in seen else first).append(i)
        seen.add(section)
    return first + rest


def _capped(state: State, settings: Settings, run: Run, knobs: dict) -> tuple[State, StageRecord]:
    if settings.procedure_lifts_cap and asks_for_steps(run.question):
        warning = "The question asks for a procedure: the cap for each source is lifted."
        return passed_on("diversity", state, knobs, warnings=(warning,))
    used: Counter[str] = Counter()
    last: dict[str, str] = {}
    kept, dropped = [], []
    for candidate in state.candidates:
        source = run.index.chunk(candidate.chunk_id).document_id
        if used[source] < settings.per_source_cap:
            used[source] += 1
            last[source] = candidate.chunk_id
            kept.append(candidate)
            continue
        dropped.append(
            entry(
                candidate,
                DROPPED,
                reason=f"{settings.per_source_cap} better passages of its source are in",
                cause=last[source],
            )
        )
    return selection("diversity", state, kept, dropped, knobs)


def mmr(relevance: np.ndarray, similarity: np.ndarray, share: float) -> list[int]:
    """Positions by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    Args:
        relevance: float[n] in [0, 1]. similarity: float[n, n].
        share: λ in [0, 1]: 1 is relevance alone.
    """
    left = list(range(len(relevance)))
    nearest = np.zeros(len(relevance))
    order: list[int] = []
    while left:
        gains = share * relevance[left] - (1 - share) * nearest[left]
        best = left.pop(int(np.argmax(gains)))
        order.append(best)
        nearest = np.maximum(nearest, similarity[best])
    return order


def _mmr_order(state: State, settings: Settings, run: Run) -> list[int]:
    relevance = np.nan_to_num(min_max(ordering_scores(state.candidates)), nan=0.0)
    rows = [run.index.row(c.chunk_id) for c in state.candidates]
    if run.index.vectors is not None:
        vectors = run.index.vectors[rows]
        similarity = vectors @ vectors.T
    else:
        similarity = shared_words(run.index, chunks_of(run, state.candidates))
    return mmr(relevance, similarity, settings.mmr_lambda)
