"""Faults that a trace shows by itself, each with its evidence. There is no overall number."""

from __future__ import annotations

from collections.abc import Callable

from core.diagnosis.symptoms.evidence import (
    cut_text,
    eager_dedup,
    everything_removed,
    one_source,
    weak_evidence,
)
from core.diagnosis.symptoms.fault import Fault
from core.diagnosis.symptoms.running import bad_text, slow_stage, unstable_citations
from core.diagnosis.symptoms.scores import idle_reranker, scale_mixing
from core.index.index import Index
from core.pipeline import Pipeline
from core.trace import Trace

__all__ = ["Fault", "faults"]

FROM_THE_TRACE = (
    everything_removed,
    idle_reranker,
    scale_mixing,
    eager_dedup,
    cut_text,
    weak_evidence,
    one_source,
    slow_stage,
)


def faults(
    trace: Trace,
    index: Index | None = None,
    pipeline: Pipeline | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Fault, ...]:
    """Every fault that ``trace`` shows.

    Args:
        index: the trace's own; without it the documents' text is not looked at.
        pipeline: runs the question again, twice and without what it has kept, to see whether
            the citations are stable; without it they are not checked.

    Raises:
        Cancelled: ``cancelled`` answered True during a run.
    """
    found = [fault for look in FROM_THE_TRACE for fault in look(trace)]
    if index is not None:
        found += bad_text(trace, index)
        if pipeline is not None:
            found += unstable_citations(trace, index, pipeline, cancelled)
    return tuple(found)
