"""Stage 4, extend: neighbours of strong candidates join, more of them the stronger the anchor.

The first article's context extension. Windows overlap without repeating a chunk, and stop
at the document's edge and at ``max_context_tokens``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from core.ranking import min_max
from core.records import Candidate
from core.settings import Settings
from core.stages.base import Run, State, entry, number, ordering_scores, passed_on
from core.trace import ADDED, KEPT, StageRecord


def radius(score: float, threshold: float, max_radius: int) -> int:
    """How many chunks join on each side of an anchor: ``ceil(max_radius·(s − t)/(1 − t))``.

    Args:
        score: min-max score in [0, 1].
        threshold: in [0, 1); below it the radius is 0.

    Returns:
        0 to ``max_radius``, never falling as the score rises.
    """
    if not score >= threshold:  # also for NaN
        return 0
    share = (score - threshold) / (1 - threshold)
    # Halfway is 0.5, and not the 0.5000000001 that floats make of it, which is one chunk more.
    return min(max_radius, math.ceil(max_radius * share - 1e-9))


def extend(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Adds the windows of all anchors; every joined chunk names its anchor and offset."""
    knobs = settings.of_groups("extend")
    if not run.mode.windows_from:
        return passed_on("extend", state, {}, ran=False)
    if not state.candidates:
        return passed_on("extend", state, knobs)
    scores, radii, windows = opened(state, settings, run)
    added = tuple(windows.added)
    kept_entries = tuple(
        entry(
            c,
            KEPT,
            rank,
            scores={"window_score": number(s), "radius": float(wide)},
            reason=windows.remark(c.chunk_id, wide),
        )
        for rank, (c, s, wide) in enumerate(zip(state.candidates, scores, radii, strict=True), 1)
    )
    added_entries = tuple(
        entry(
            c,
            ADDED,
            rank,
            reason=f"{abs(c.offset)} {'after' if c.offset > 0 else 'before'} its anchor",
        )
        for rank, c in enumerate(added, len(state.candidates) + 1)
    )
    ids = tuple(c.chunk_id for c in state.candidates)
    record = StageRecord(
        name="extend",
        settings=knobs,
        how=f"windows from the scores of {_source(state, run)}, min-max over the candidates",
        entered=len(ids),
        passed=len(ids) + len(added),
        kept=ids,
        added=tuple(c.chunk_id for c in added),
        entries=kept_entries + added_entries,
        warnings=windows.warnings(),
    )
    return replace(state, candidates=state.candidates + added), record


def opened(state: State, settings: Settings, run: Run) -> tuple[list[float], list[int], _Windows]:
    """Each candidate's window score in [0, 1] and radius in chunks, and what the windows add."""
    scores = min_max(ordering_scores(state.candidates)).tolist()
    radii = [radius(s, settings.extend_threshold, settings.max_radius) for s in scores]
    windows = _Windows(run, state.candidates, settings.max_context_tokens)
    for candidate, wide in zip(state.candidates, radii, strict=True):
        if wide:
            windows.open(candidate, wide)
    return scores, radii, windows


def _source(state: State, run: Run) -> str:
    """The stage whose scores opened the windows: an earlier one where the mode's own degraded."""
    wanted = run.mode.windows_from
    return wanted if any(wanted in c.scores for c in state.candidates) else "first_stage"


class _Windows:
    """The chunks that joined so far, strongest anchor first, within the context limit."""

    def __init__(self, run: Run, candidates: tuple[Candidate, ...], limit: int) -> None:
        self._index, self._limit = run.index, limit
        rows = [run.index.row(c.chunk_id) for c in candidates]
        self._taken = set(rows)
        self._tokens = sum(run.index.chunks[row].tokens for row in rows)
        self._stopped: dict[str, int] = {}
        self.added: list[Candidate] = []

    def open(self, anchor: Candidate, wide: int) -> None:
        """Adds up to ``wide`` neighbours on each side, nearest first."""
        row = self._index.row(anchor.chunk_id)
        first, last = self._index.document_range(row)
        sides = [-1, 1]
        for distance in range(1, wide + 1):
            for side in list(sides):
                neighbour = row + side * distance
                if not first <= neighbour < last:
                    sides.remove(side)
                elif neighbour not in self._taken and not self._join(
                    neighbour, anchor, side * distance
                ):
                    sides.remove(side)
                    self._stopped[anchor.chunk_id] = wide

    def _join(self, row: int, anchor: Candidate, offset: int) -> bool:
        chunk = self._index.chunks[row]
        if self._tokens + chunk.tokens > self._limit:
            return False
        self._tokens += chunk.tokens
        self._taken.add(row)
        self.added.append(Candidate(chunk.id, anchor=anchor.chunk_id, offset=offset))
        return True

    def remark(self, chunk_id: str, wide: int) -> str:
        if chunk_id in self._stopped:
            return f"radius {wide}, stopped by the context limit of {self._limit} tokens"
        return f"radius {wide}" if wide else "no window"

    def warnings(self) -> tuple[str, ...]:
        if not self._stopped:
            return ()
        said = f"{len(self._stopped)} windows stopped early: candidates and windows reached the "
        return (f"{said}context limit of {self._limit} tokens.",)


def window_spans(record: StageRecord) -> Iterator[tuple[str, int, int]]:
    """(anchor, chunks before it, chunks after it) of each window that added something."""
    reach: dict[str, list[int]] = {}
    for e in record.entries:
        if e.fate == ADDED:
            span = reach.setdefault(e.anchor, [0, 0])
            span[0], span[1] = min(span[0], e.offset), max(span[1], e.offset)
    for anchor, (before, after) in reach.items():
        yield anchor, -before, after
