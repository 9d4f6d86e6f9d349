"""One question under many settings, cheaply: what a search asks, and no trace is made of.

A run of the pipeline is kept by its knobs; here a stage's result is also known again by its
content. Settings that lead to the same candidates share everything after them, a run stops at
the stage that has lost the target for good, and what ranks behind the target's last chunk is
left out as soon as no stage that is still to come could look at it before it looks at the target.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.diagnosis.grid import MODE
from core.diagnosis.targets import Target
from core.diagnosis.unrecorded import Unrecorded
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

GREEDY = ("off", "source_cap")
"""Kinds of diversity that decide on a candidate by those before it alone, as the removal of
duplicates and the budget do: what comes after a chunk then changes nothing for it."""

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
        self._run: set[Point] = set()
        self._nodes: Kept[Node] = Kept(KEPT, lambda node: 1 + len(node.state.candidates))
        self._tokens: dict[Hashable, int] = {}
        self._stages = Unrecorded()
        self._telling: dict[tuple[str, ...], frozenset[str]] = {}

    def reach(self, point: Point, target: Target) -> Reach:
        """How far ``target`` comes under ``point``. Stops where a part of it is lost for good."""
        self._run.add(point)
        mode, wanted = mode_named(point.mode), target.chunk_ids
        far, node = dict.fromkeys(wanted, 0), None
        for node, place in self._nodes_of(point, mode, self.telling(wanted)):
            for chunk in wanted:
                if chunk in node.ids:
                    far[chunk] = place + 1
            if self._lost(node, place, wanted, point, mode):
                return Reach(False, tuple(sorted(far.values())))
        return Reach(target.reached(self._shown(node, target)), tuple(sorted(far.values())))

    @property
    def runs(self) -> int:
        """How many different settings were run."""
        return len(self._run)

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

    def telling(self, wanted: tuple[str, ...]) -> frozenset[str]:
        """The chunks that can show any of the wanted ones' text: themselves, and what overlaps."""
        if wanted not in self._telling:
            self._telling[wanted] = frozenset(wanted) | frozenset(
                self.index.chunks[row].id for chunk in wanted for row in self._overlapping(chunk)
            )
        return self._telling[wanted]

    def _nodes_of(self, point: Point, mode: Mode, telling: frozenset[str] = frozenset()):
        """Each deciding stage's result, with the stage's place among all stages.

        Where ``telling`` is given, what ranks behind the last of these chunks is left out from
        the stage on after which it cannot matter to them.
        """
        run, node = self.run(mode), Node(State(), 0, frozenset())
        cut_from = _cut_from(point, mode) if telling else ""
        for name, stage, groups in DECIDING:
            if self.cancelled and self.cancelled():
                raise Cancelled
            knobs = tuple(point.settings.of_groups(*groups).values())
            part = tuple(part_of_mode(mode, name))
            upto = telling if name == cut_from else None
            key = (name, part, knobs, self._entry(name, mode, node), upto)
            found = self._nodes.get(key)
            if found is None:
                state, degraded = self._stages.after(name, stage, node.state, point.settings, run)
                if upto is None:
                    found = self._node(state, degraded)
                else:
                    found = self._shortened(state, degraded, upto)
                if found.degraded and key[3] != node.token:
                    key = (*key[:3], node.token, upto)  # then the order was not remade
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

    def _node(self, state: State, degraded: bool) -> Node:
        content = tuple(
            (c.chunk_id, c.score, c.relevance, c.anchor, c.offset, c.scores.get(TRIM))
            for c in state.candidates
        )
        ids = frozenset(c.chunk_id for c in state.candidates)
        return Node(state, self._token((content, _query(state))), ids, degraded)

    def _shortened(self, state: State, degraded: bool, telling: frozenset[str]) -> Node:
        """Without what ranks behind the last of ``telling``. Scores are not read any more, so
        the order alone tells one such node from another."""
        names = [c.chunk_id for c in state.candidates]
        stop = next((i for i in range(len(names), 0, -1) if names[i - 1] in telling), 0)
        names = tuple(names[:stop])
        state = replace(state, candidates=state.candidates[:stop])
        return Node(state, self._token(("order", names)), frozenset(names), degraded)

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
        return any(self._overlapping(chunk) for chunk in wanted)

    def _overlapping(self, chunk_id: str) -> list[int]:
        """Rows of the other chunks that hold some of a chunk's text."""
        own, row = self.index.chunk(chunk_id), self.index.row(chunk_id)
        first, stop = self.index.document_range(row)
        found = []
        for way in (range(row - 1, first - 1, -1), range(row + 1, stop)):
            for other in way:  # starts and ends of a document's chunks both rise
                chunk = self.index.chunks[other]
                if chunk.start >= own.end or own.start >= chunk.end:
                    break
                found.append(other)
        return found

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


def unordered(mode: Mode) -> bool:
    """Whether a mode leaves the first stage's order as it is."""
    return not (mode.rerank_1 or mode.windows_from or mode.rerank_2)


def _cut_from(point: Point, mode: Mode) -> str:
    """The stage after which the candidates behind the target's last one are left out; "" none."""
    if point.settings.diversity not in GREEDY:
        return ""
    return "first_stage" if unordered(mode) else "relevance"


def _end(candidate: Candidate, start: int, end: int) -> int:
    trim = candidate.scores.get(TRIM)
    return end if trim is None else min(end, start + int(trim))


def _query(state: State) -> Hashable:
    """What tells one reading of the question from another: the arrays that rerankers see."""
    query = state.query
    if query is None:
        return None
    return (hash(query.bm25.tobytes()), query.dense is None)
