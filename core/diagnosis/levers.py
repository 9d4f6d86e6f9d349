"""Which knobs can change a target's fate, and between which bounds it is worth to turn them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.diagnosis.grid import MODE, outward
from core.diagnosis.replay import Point, Replay
from core.diagnosis.targets import Target
from core.modes import MODES, Mode, mode_named
from core.ranking import descending, ranks
from core.settings import STAGES, knobs
from core.stages.budget import fill, passage_costs, room_within

LATER = STAGES.index("extend")
"""Up to here a chunk that is not among the candidates can still join them."""

UNTOUCHED = {
    "chunk_tokens": "changing it builds the index anew",
    "chunk_overlap": "changing it builds the index anew",
    "instructions": "it is text",
    "order": "it moves passages and drops none",
}
"""Knobs that no proposal touches, and why."""


@dataclass(frozen=True)
class Lever:
    """A knob that could matter: the values to try, nearest first, and how to tell at once that
    one of them cannot help (``hopeless``, None where only a run can tell).

    ``stage`` is the first that the knob acts on.
    """

    knob: str
    stage: str
    values: tuple[Any, ...]
    hopeless: Callable[[Any], bool] | None = None


def levers(replay: Replay, point: Point, target: Target) -> tuple[list[Lever], dict[str, str]]:
    """The knobs to try at a point, those of the losing stage first, and why the others are not.

    A knob is left out only where no value of it can help: its stage is not used, another knob
    switches it off, or the target never comes to its stage.
    """
    mode, left_out = mode_named(point.mode), dict(UNTOUCHED)
    lost = replay.lost_at(point, target)
    found: list[Lever] = []
    for name, group in [(k.name, k.group) for k in knobs()] + [(MODE, MODE)]:
        if name in left_out:
            continue
        stage = _stage(group, mode)
        if not stage or not (own := _range(name, replay, point, mode, target)):
            left_out[name] = "it has no effect with these settings"
        elif STAGES.index(stage) > LATER and not replay.comes_to(point, target, stage):
            left_out[name] = f"it acts on {stage}, where not all of it comes"
        else:
            found.append(Lever(name, stage, *own))
    found.sort(key=lambda lever: _urgency(lever, lost))
    return found, left_out


def _urgency(lever: Lever, lost: str) -> tuple[bool, bool, int]:
    """The losing stage's own knobs, then the later and cheaper ones, then the earlier; the mode
    last, since it may ask a model that has read nothing yet."""
    return lever.knob == MODE, lever.stage != lost, -STAGES.index(lever.stage)


def _stage(group: str, mode: Mode) -> str:
    """The first stage that a group of knobs acts on in a mode; "" where none."""
    if group == MODE:
        return "first_stage"
    if group == "rerank":
        return next((r for r in ("rerank_1", "rerank_2") if getattr(mode, r) == "context"), "")
    if group == "extend":
        return "extend" if mode.windows_from else ""
    return {"prompt": "budget", "documents": ""}.get(group, group)


Range = tuple[tuple[Any, ...], Callable[[Any], bool] | None] | None


def _range(name: str, replay: Replay, point: Point, mode: Mode, target: Target) -> Range:
    """A knob's values and what tells the hopeless ones; None where none has an effect."""
    s, current = point.settings, point.value(name)
    fuses = mode.first_stage == "fusion" and replay.has_dense
    bm25 = mode.first_stage == "bm25"
    size = len(replay.index.chunk_ids)
    judged = bool(mode.rerank_1 or mode.rerank_2)
    has_effect = {
        "fusion": fuses,
        "rrf_k": fuses and s.fusion == "rrf",
        "fusion_bm25": fuses and s.fusion == "weighted",
        "k1": mode.first_stage != "whole",
        "b": mode.first_stage != "whole",
        "candidate_k": mode.first_stage == "fusion",
        "top_k": mode.first_stage != "fusion",
        "full_document_limit": mode.first_stage == "whole",
        "relevance_threshold": judged,
        "dedup_threshold": s.dedup_method != "off",
        "protect_exceptions": s.dedup_method != "off",
        "mmr_lambda": s.diversity == "mmr",
        "per_source_cap": s.diversity == "source_cap",
        "procedure_lifts_cap": s.diversity == "source_cap",
    }
    if not has_effect.get(name, True):
        return None
    if name == MODE:
        return _modes(replay, current), None
    if name in ("candidate_k", "top_k"):
        values = tuple(outward(name, current, high=max(size, 1)))
        return values, _too_few(replay, point, mode, target) if name == "candidate_k" else None
    if name == "full_document_limit":
        return _limits(replay, current), None
    if name == "max_context_tokens":
        chunks = replay.entering(point.moved(max_context_tokens=500_000), "rerank_2").candidates
        total = sum(replay.index.chunk(c.chunk_id).tokens for c in chunks)
        return tuple(outward(name, current, high=max(total + 500, 500))), None
    if name in ("evidence_budget", "window_tokens", "answer_reserve"):
        return _room(name, replay, point, mode, target)
    return tuple(outward(name, current)), None


def _modes(replay: Replay, current: str) -> tuple[str, ...]:
    """The modes whose rerankers are loaded, those that read nothing new first."""
    loaded = set(replay.pipeline.rerankers) | {""}
    others = [m for m in MODES.values() if m.name != current]
    others = [m for m in others if {m.rerank_1, m.rerank_2} <= loaded]
    light = {"", "context"}
    return tuple(m.name for m in sorted(others, key=lambda m: not {m.rerank_1, m.rerank_2} <= light))


def _too_few(replay: Replay, point: Point, mode: Mode, target: Target):
    """Tells which numbers of candidates leave a chunk out of every window's reach."""
    if replay.overlaps(target.chunk_ids):
        return None
    query = replay.entering(point, "rerank_1").query
    place = ranks(descending(query.fused))
    wide = point.settings.max_radius if mode.windows_from else 0
    least = 1
    for row in map(replay.index.row, target.chunk_ids):
        first, last = replay.index.document_range(row)
        least = max(least, int(np.min(place[max(first, row - wide) : min(last, row + wide + 1)])))
    return lambda k: k < least


def _limits(replay: Replay, current: int) -> tuple[int, ...]:
    """Sizes of documents, as values of the limit that lets them in whole, nearest first."""
    edges = {1_000 * (len(d.text) // 1_000 + 1) for d in replay.index.documents}
    edges |= {1_000 * (len(d.text) // 1_000) for d in replay.index.documents}
    values = [e for e in edges if 1_000 <= e <= 2_000_000 and e != current]
    return tuple(sorted(values, key=lambda e: (abs(e - current), e)))


def _room(name: str, replay: Replay, point: Point, mode: Mode, target: Target) -> Range:
    """The knobs that make the budget: greedy filling is quick to work out for every value."""
    s, counter = point.settings, replay.index.counter
    spoken = counter.count(s.instructions) + counter.count(replay.question)
    parts = {n: getattr(s, n) for n in ("evidence_budget", "window_tokens", "answer_reserve")}

    def room(value: int) -> int:
        own = parts | {name: value}
        return room_within(
            own["evidence_budget"], own["window_tokens"], own["answer_reserve"], spoken
        )

    candidates = replay.entering(point, "budget").candidates
    _, costs = passage_costs(candidates, replay.run(mode))
    enough = sum(costs)
    now = min(room(parts[name]), enough)
    values, seen = [], {now}
    for value in outward(name, parts[name]):
        # All rooms that take everything are alike, and so are values that give the same room.
        own = min(room(value), enough)
        if own not in seen:
            seen.add(own)
            values.append(value)
    if s.oversize == "trim" or replay.overlaps(target.chunk_ids):
        return (tuple(values), None) if values else None
    wanted = {i for i, c in enumerate(candidates) if c.chunk_id in target.chunk_ids}
    return (tuple(values), lambda v: not wanted <= set(fill(costs, room(v))[0])) if values else None
