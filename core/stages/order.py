"""Stage 10, order: how the chosen passages stand in the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from core.records import Candidate
from core.settings import Settings
from core.stages.base import Run, State, selection
from core.trace import StageRecord

HOW = {
    "score": "best first",
    "source": "by source name, then position",
    "date": "by the document's date, undated last, then position",
    "score_then_source": "sources by their best passage, each source in reading order",
}


def order(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Reorders, drops nothing."""
    ordered = arranged(state.candidates, settings.order, run)
    return selection(
        "order", state, ordered, (), settings.of_groups("order"), how=HOW[settings.order]
    )


def arranged(candidates: Sequence[Candidate], how: str, run: Run) -> list[Candidate]:
    """``candidates`` (best first) in the order that ``how`` names."""
    best: dict[str, int] = {}
    for rank, c in enumerate(candidates):
        best.setdefault(run.index.chunk(c.chunk_id).document_id, rank)

    def key(c: Candidate):
        chunk = run.index.chunk(c.chunk_id)
        document = run.index.document(chunk.document_id)
        if how == "source":
            return (document.name, document.id, chunk.ordinal)
        if how == "date":
            return (not document.date, document.date, document.name, document.id, chunk.ordinal)
        return (best[document.id], chunk.ordinal)

    return list(candidates) if how == "score" else sorted(candidates, key=key)
