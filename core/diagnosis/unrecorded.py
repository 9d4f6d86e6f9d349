"""The stages as a search runs them: what they pass on, without the record of it.

They call what the stages themselves call, so they decide alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.kept import Kept
from core.models.protocols import Reranking
from core.ranking import descending
from core.records import Candidate
from core.settings import Settings
from core.stages.base import Run, Stage, State
from core.stages.extend import opened
from core.stages.first_stage import Asked, ask, taken, wanted_of
from core.stages.rerank import answered

_CUTS = ("candidate_k", "top_k", "full_document_limit")
"""Knobs of the first stage that say what goes on, and change no score."""

_ASKED = 4
"""So many scorings of the whole corpus are kept: a search moves about one knob at a time."""


class Unrecorded:
    """Runs stages of one question over one index, for one search."""

    def __init__(self) -> None:
        self._asked: Kept[tuple[Asked, np.ndarray | None]] = Kept(_ASKED)

    def after(
        self, name: str, stage: Stage, state: State, settings: Settings, run: Run
    ) -> tuple[State, bool]:
        """What a stage passes on, and whether it degraded.

        Of the first stage, a rerank and windows no record is made, which takes most of their time.
        """
        kind = getattr(run.mode, name) if name in ("rerank_1", "rerank_2") else ""
        if kind and state.candidates:
            given = answered(kind, state, settings, run)
            return (state, True) if isinstance(given, str) else (_reordered(state, *given), False)
        if name == "extend" and run.mode.windows_from and state.candidates:
            *_, windows = opened(state, settings, run)
            return replace(state, candidates=(*state.candidates, *windows.added)), False
        if name == "relevance" and settings.relevance_threshold <= 0:
            return state, False  # no chunk is below it
        if name != "first_stage":
            state, record = stage(state, settings, run)
            return state, bool(record.degraded)
        asked, order = self._ranked(settings, run)
        query, ids = asked.query, run.index.chunk_ids
        if order is None:
            rows, _ = taken(query, settings, run)
            candidates = tuple(Candidate(chunk_id=ids[row]) for row in rows.tolist())
        else:
            rows = order[: wanted_of(settings, run)]
            candidates = tuple(
                Candidate(chunk_id=ids[row], score=score)
                for row, score in zip(rows.tolist(), query.fused[rows].tolist(), strict=True)
            )
        return replace(state, candidates=candidates, query=query), bool(asked.degraded)

    def _ranked(self, settings: Settings, run: Run) -> tuple[Asked, np.ndarray | None]:
        """The whole corpus scored, and its rows best first; None where whole documents go in."""
        knobs = settings.of_groups("first_stage")
        key = (run.mode.first_stage, *(v for k, v in knobs.items() if k not in _CUTS))
        if (held := self._asked.get(key)) is None:
            asked = ask(settings, run)
            whole = run.mode.first_stage == "whole"
            held = asked, None if whole else descending(asked.query.fused)
            self._asked.put(key, held)
        return held


def _reordered(state: State, ordered: Sequence[Candidate], answer: Reranking) -> State:
    """The candidates in a reranker's order, with its score and relevance alone."""
    scores = answer.scores.tolist()
    relevance = [None] * len(scores) if answer.relevance is None else answer.relevance.tolist()
    candidates = tuple(
        Candidate(c.chunk_id, scores[i], {}, relevance[i], c.anchor, c.offset)
        for i in descending(answer.scores).tolist()
        for c in (ordered[i],)
    )
    return replace(state, candidates=candidates)
