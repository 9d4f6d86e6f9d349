"""Stage 1, access: what the principal may not read leaves before anything is scored.

The index that a run works on is already the visible part (:meth:`core.index.index.Index.restricted`),
so nothing hidden can leave a mark: no score, count, cache key or export knows of it.
"""

from __future__ import annotations

from core.settings import Settings
from core.stages.base import Run, State
from core.trace import StageRecord


def access(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Names every chunk that may be retrieved; scores none."""
    ids = run.index.chunk_ids
    return state, StageRecord(name="access", entered=len(ids), passed=len(ids), kept=ids)
