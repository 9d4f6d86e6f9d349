"""Stage 6, relevance: chunks below ``relevance_threshold`` go.

The threshold is on the calibrated relevance, a probability that means the same for every
question; a min-max score would not do, since its best chunk is always 1.
"""

from __future__ import annotations

from core.settings import Settings
from core.stages.base import Run, State, entry, passed_on, selection
from core.trace import DROPPED, StageRecord


def relevance(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Drops what is not relevant enough; the dropped entries are the nearest misses, best first."""
    knobs = settings.of_groups("relevance")
    threshold = settings.relevance_threshold
    if all(c.relevance is None for c in state.candidates):
        warning = "No reranker gave a relevance in this mode: the threshold was not applied."
        return passed_on("relevance", state, knobs, warnings=(warning,) if threshold else ())
    kept, missed = [], []
    for c in state.candidates:
        below = c.relevance is not None and not c.relevance >= threshold
        (missed if below else kept).append(c)
    missed.sort(key=lambda c: -c.relevance if c.relevance == c.relevance else 2.0)
    dropped = [
        entry(
            c,
            DROPPED,
            reason=f"relevance {c.relevance:.3f} is below the threshold {threshold:g}",
            margin=c.relevance - threshold,
        )
        for c in missed
    ]
    warnings = (f"The threshold removed {len(missed)} of {len(state.candidates)} chunks.",)
    return selection(
        "relevance", state, kept, dropped, knobs, warnings=warnings if missed else ()
    )
