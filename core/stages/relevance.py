"""Stage 6, relevance: chunks below ``relevance_threshold`` go.

The threshold is on the calibrated relevance, a probability that means the same for every
question; a min-max score would not do, since its best chunk is always 1.
"""

from __future__ import annotations

import math

from core.records import Candidate
from core.settings import Settings
from core.stages.base import Run, State, entry, passed_on, selection
from core.trace import DROPPED, Entry, StageRecord


def relevance(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Drops what is not relevant enough; the dropped entries are the nearest misses, best first."""
    knobs = settings.of_groups("relevance")
    threshold = settings.relevance_threshold
    if all(c.relevance is None for c in state.candidates):
        warning = "No reranker gave a relevance in this mode: the threshold was not applied."
        return passed_on("relevance", state, knobs, warnings=(warning,) if threshold else ())
    known = {c.chunk_id: c.relevance for c in state.candidates}
    kept, missed, unjudged = [], [], 0
    for c in state.candidates:
        judged = c.relevance
        if judged is None:  # the second rerank did not do its part: a window goes with its anchor
            judged, unjudged = known.get(c.anchor), unjudged + 1
        below = threshold > 0 and judged is not None and not judged >= threshold
        (missed if below else kept).append((c, judged))
    missed.sort(key=lambda pair: 2.0 if math.isnan(pair[1]) else -pair[1])
    dropped = [_miss(c, judged, threshold) for c, judged in missed]
    warnings = []
    if missed:
        warnings.append(f"The threshold removed {len(missed)} of {len(state.candidates)} chunks.")
    if unjudged and threshold:
        warnings.append(
            f"{unjudged} chunks have no relevance of their own: each went with its window's anchor."
        )
    return selection(
        "relevance", state, (c for c, _ in kept), dropped, knobs, warnings=tuple(warnings)
    )


def _miss(candidate: Candidate, judged: float, threshold: float) -> Entry:
    if math.isnan(judged):
        reason = f"its relevance is not a number, so not {threshold:g} or more"
        return entry(candidate, DROPPED, reason=reason)
    own = "" if candidate.relevance is not None else "its anchor's "
    return entry(
        candidate,
        DROPPED,
        reason=f"{own}relevance {judged:.3f} is below the threshold {threshold:g}",
        cause=candidate.anchor if own else "",
        margin=judged - threshold,
    )
