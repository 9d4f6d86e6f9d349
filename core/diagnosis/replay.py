"""One question under many settings, cheaply: what a search asks, and no trace is made of.

A run of the pipeline is kept by its knobs; here a stage's result is also known again by its
content. Settings that lead to the same candidates share everything after them, and a run
stops at the stage that has lost the target for good.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.grid import MODE
from core.diagnosis.targets import Target
from core.errors import Cancelled
from core.index.index import Index
from core.kept import Kept
from core.modes import Mode, mode_named
from core.pipeline import STAGE_TABLE, Pipeline, part_of_mode
from core.records import Candidate, Principal
from core.settings import STAGES, Settings
from core.stages.base import Run, State
from core.stages.budget import TRIM

KEPT = 300_000
"""The weight of what is kept for one search, in candidates: some 100 MB."""

DECIDING = tuple(row for row in STAGE_TABLE if row[0] not in ("access", "order", "prompt"))
"""The stages that can lose a chunk."""

_BY_SET = ("piecewise", "context")
"""Rerankers whose answer depends on which candidates there are, and not on their order."""


@dataclass(frozen=True)
class Node:
    """A stage's result: the state, a number that equal states share, and its chunks."""

    state: State
    token: int
    ids: frozenset[str]
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """A chunk that would be in the prompt, and what of it would be shown."""

    chunk_id: str
    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Point:
    """Settings and mode together: what a search moves about in."""

    settings: Settings
    mode: str

    def moved(self, **changes: Any) -> Point:
        """This point with some knobs turned; the mode is the knob "mode"."""
        mode = changes.pop(MODE, self.mode)
        return Point(self.settings.changed(**changes) if changes else self.settings, mode)

    def value(self, knob: str) -> Any:
        return self.mode if knob == MODE else getattr(self.settings, knob)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a target came: ``far`` is, of each chunk, the number of stages that it passed,
    least first. ``arrived`` says that all of it would be in the prompt."""

    arrived: bool
    far: tuple[int, ...]


class Replay:
    """Runs the deciding stages of one question over an index, for one principal.

    Args:
        index: whole or restricted; only what ``principal`` may read takes part.
        cancelled: asked between stages and batches; True raises :class:`Cancelled`.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        index: Index,
        question: str,
        principal: Principal | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.index = index.restricted(principal)
        self.pipeline, self.question = pipeline, question
        self.cancelled = cancelled
        self.runs = 0
        self._nodes: Kept[Node] = Kept(KEPT, lambda node: 1 + len(node.state.candidates))
        self._tokens: dict[Hashable, int] = {}

    def reach(self, point: Point, target: Target) -> Reach:
        """How far ``target`` comes under ``point``. Stops where a part of it is lost for good."""
        self.runs += 1
        mode, wanted = mode_named(point.mode), target.chunk_ids
        far, node = dict.fromkeys(wanted, 0), None
        for node, place in self._nodes_of(point, mode):
            for chunk in wanted:
                if chunk in node.ids:
                    far[chunk] = place + 1
            if self._lost(node, place, wanted, point, mode):
                return Reach(False, tuple(sorted(far.values())))
        return Reach(target.reached(self._shown(node, target)), tuple(sorted(far.values())))

    @property
    def has_dense(self) -> bool:
        """Whether there are dense scores to fuse."""
        return self.pipeline.encoder is not None and self.index.vectors is not None

    def lost_at(self, point: Point, target: Target) -> str:
        """The first stage after which a part of the target is gone for good; "" where none is."""
        mode = mode_named(point.mode)
        for node, place in self._nodes_of(point, mode):
            if self._lost(node, place, target.chunk_ids, point, mode):
                return STAGES[place]
        return ""

    def comes_to(self, point: Point, target: Target, stage: str) -> bool:
        """Whether enough of the target comes into a stage for that stage to let it through."""
        ids = {c.chunk_id for c in self.entering(point, stage).candidates}
        outside = [c for c in target.chunk_ids if c not in ids]
        return not outside or (
            len(outside) < len(target.chunk_ids) and self.overlaps(target.chunk_ids)
        )

    def entering(self, point: Point, stage: str) -> State:
        """What comes into a stage."""
        mode = mode_named(point.mode)
        before = State()
        for node, place in self._nodes_of(point, mode):
            if place >= STAGES.index(stage):
                break
            before = node.state
        return before

    def run(self, mode: Mode) -> Run:
        """What the stages look things up in."""
        return self.pipeline.prepared(self.index, self.question, mode, self.cancelled)

    def _nodes_of(self, point: Point, mode: Mode):
        """Each deciding stage's result, with the stage's place among all stages."""
        run, node = self.run(mode), Node(State(), 0, frozenset())
        for name, stage, groups in DECIDING:
            if self.cancelled and self.cancelled():
                raise Cancelled
            knobs = tuple(point.settings.of_groups(*groups).values())
            part = tuple(part_of_mode(mode, name))
            key = (name, part, knobs, self._entry(name, mode, node))
            found = self._nodes.get(key)
            if found is None:
                state, record = stage(node.state, point.settings, run)
                found = self._node(state, point.settings, bool(record.degraded))
                if found.degraded and key[-1] != node.token:
                    key = (name, part, knobs, node.token)  # then the order was not remade
                self._nodes.put(key, found)
            node = found
            yield node, STAGES.index(name)

    def _entry(self, name: str, mode: Mode, node: Node) -> Hashable:
        """What a stage depends on of what comes into it."""
        kind = getattr(mode, name) if name in ("rerank_1", "rerank_2") else ""
        if kind in _BY_SET and kind in self.pipeline.rerankers:
            members = frozenset((c.chunk_id, c.anchor) for c in node.state.candidates)
            return ("set", self._token((members, _query(node.state))))
        return node.token

    def _node(self, state: State, settings: Settings, degraded: bool) -> Node:
        content = tuple(
            (c.chunk_id, c.score, c.relevance, c.anchor, c.offset, c.scores.get(TRIM))
            for c in state.candidates
        )
        ids = frozenset(c.chunk_id for c in state.candidates)
        return Node(state, self._token((content, _query(state))), ids, degraded)

    def _token(self, content: Hashable) -> int:
        return self._tokens.setdefault(content, len(self._tokens) + 1)

    def _lost(
        self, node: Node, place: int, wanted: Sequence[str], point: Point, mode: Mode
    ) -> bool:
        """Whether no later stage can still bring all of ``wanted`` to the prompt."""
        outside = [c for c in wanted if c not in node.ids]
        if outside and place < STAGES.index("extend") and mode.windows_from:
            rows = {self.index.row(c) for c in node.ids}
            outside = [c for c in outside if not self._near(c, rows, point.settings.max_radius)]
        # Where chunks overlap, others may show what is wanted of one that is lost.
        return bool(outside) and (len(outside) == len(wanted) or not self.overlaps(wanted))

    def overlaps(self, wanted: Sequence[str]) -> bool:
        """Whether text of these chunks stands in other chunks too."""
        return any(
            0 <= other < len(self.index.chunks)
            and (b := self.index.chunks[other]).document_id == a.document_id
            and b.start < a.end
            and a.start < b.end
            for a in map(self.index.chunk, wanted)
            for row in (self.index.row(a.id),)
            for other in (row - 1, row + 1)
        )

    def _near(self, chunk_id: str, rows: set[int], most: int) -> bool:
        row = self.index.row(chunk_id)
        first, last = self.index.document_range(row)
        return any(r in rows for r in range(max(first, row - most), min(last, row + most + 1)))

    def _shown(self, node: Node, target: Target) -> list[Stretch]:
        documents = {p.document_id for p in target.pieces}
        return [
            Stretch(
                chunk.id, chunk.document_id, chunk.start, _end(candidate, chunk.start, chunk.end)
            )
            for candidate in node.state.candidates
            if (chunk := self.index.chunk(candidate.chunk_id)).document_id in documents
        ]


def _end(candidate: Candidate, start: int, end: int) -> int:
    trim = candidate.scores.get(TRIM)
    return end if trim is None else min(end, start + int(trim))


def _query(state: State) -> Hashable:
    """What tells one reading of the question from another: the arrays that rerankers see."""
    query = state.query
    if query is None:
        return None
    return (hash(query.bm25.tobytes()), query.dense is None)
