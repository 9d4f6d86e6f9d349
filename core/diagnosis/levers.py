"""Which knobs can change a target's fate, and between which bounds it is worth to turn them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.diagnosis.alike import sameness
from core.diagnosis.grid import MODE, outward
from core.diagnosis.replay import GREEDY, Point, Replay, unordered
from core.diagnosis.targets import Target
from core.modes import MODES, Mode, mode_named
from core.ranking import descending, ranks
from core.settings import STAGES, knob_named, knobs
from core.stages.budget import fill, passage_costs, room_within

LATER = STAGES.index("extend")
"""Up to here a chunk that is not among the candidates can still join them."""

UNTOUCHED = {
    "chunk_tokens": "changing it builds the index anew",
    "chunk_overlap": "changing it builds the index anew",
    "instructions": "it is text",
    "order": "it moves passages and drops none",
    "rerank_seconds": "it bounds the time, not what is found",
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


SHAPING = frozenset(
    "fusion_bm25 fusion_sparse rrf_k k1 b weight_bm25 weight_dense weight_maxsim weight_terms "
    "neighbour_words neighbour_share mmr_lambda full_document_limit".split()
)
"""Knobs that move every score a little. They have many values, and are tried after the others,
each of which stands for one decision."""

MANY = 300
"""Values. A knob of more, each of which has to be run, is tried last of all."""


def levers(replay: Replay, point: Point, target: Target) -> tuple[list[Lever], dict[str, str]]:
    """The knobs to try at a point, in the order to try them, and why the others are not tried.

    A knob is left out only where no value of it can help: its stage is not used, another knob
    switches it off, or the target never comes to its stage. The mode comes twice: the modes whose
    rerankers have read the documents already, and last of all those that read them anew.
    """
    mode, left_out = mode_named(point.mode), dict(UNTOUCHED)
    lost = replay.lost_at(point, target)
    found: list[Lever] = []
    for knob in knobs():
        if knob.name in left_out:
            continue
        stage = _stage(knob.group, mode)
        if not stage or not (own := _range(knob.name, replay, point, mode, target)) or not own[0]:
            left_out[knob.name] = "it has no effect with these settings"
        elif STAGES.index(stage) > LATER and not replay.comes_to(point, target, stage):
            left_out[knob.name] = f"it acts on {stage}, where not all of it comes"
        else:
            found.append(Lever(knob.name, stage, *own))
    light, heavy = _modes(replay, point.mode)
    found += [Lever(MODE, "first_stage", names) for names in (light, heavy) if names]
    found.sort(key=lambda lever: _urgency(lever, lost, heavy))
    return found, left_out


def _urgency(lever: Lever, lost: str, heavy: tuple[str, ...]) -> tuple:
    """The losing stage's own knobs, then those of few values, then the later and cheaper ones;
    what takes seconds by itself comes last."""
    return (
        lever.knob in ("candidate_k", "top_k") and len(lever.values) > MANY,
        lever.knob == MODE and lever.values == heavy,
        lever.knob in SHAPING,
        lever.stage != lost,
        len(lever.values) > len(MODES),
        -STAGES.index(lever.stage),
    )


def _stage(group: str, mode: Mode) -> str:
    """The first stage that a group of knobs acts on in a mode; "" where none."""
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
    size = len(replay.index.chunk_ids)
    judged = bool(mode.rerank_1 or mode.rerank_2)
    has_effect = {
        "fusion": fuses,
        "rrf_k": fuses and s.fusion == "rrf",
        "fusion_bm25": fuses and s.fusion == "weighted",
        "fusion_sparse": fuses and replay.index.sparse is not None,
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
    if name in ("candidate_k", "top_k"):
        values = tuple(outward(name, current, high=max(size, 1)))
        if unordered(mode) and mode.first_stage != "whole" and s.diversity in GREEDY:
            return distinct(values, current, _let_in(replay, point, target)), None
        return values, _too_few(replay, point, mode, target) if name == "candidate_k" else None
    if name == "full_document_limit":
        return _limits(replay, current), None
    if name == "max_context_tokens":
        chunks = replay.entering(point.moved(max_context_tokens=500_000), "rerank_2").candidates
        total = sum(replay.index.chunk(c.chunk_id).tokens for c in chunks)
        return tuple(outward(name, current, high=max(total + 500, 500))), None
    if name in ("evidence_budget", "window_tokens", "answer_reserve"):
        return _room(name, replay, point, mode, target)
    values = tuple(outward(name, current))
    alike = sameness(name, replay, point, mode)
    return (distinct(values, current, alike) if alike else values), None


def distinct(values: Iterable[Any], current: Any, alike: Callable[[Any], Hashable]) -> tuple:
    """Of values that are alike the first, and none that is like the present one."""
    seen, kept = {alike(current)}, []
    for value in values:
        if (own := alike(value)) not in seen:
            seen.add(own)
            kept.append(value)
    return tuple(kept)


def _modes(replay: Replay, current: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The other modes whose rerankers are loaded: those that read nothing anew, and the rest."""
    loaded = set(replay.pipeline.rerankers) | {""}
    read = {"", "context"}
    kinds = {m.name: {m.rerank_1, m.rerank_2} for m in MODES.values() if m.name != current}
    light = tuple(name for name, own in kinds.items() if own <= loaded & read)
    return light, tuple(n for n, own in kinds.items() if own <= loaded and n not in light)


def _let_in(replay: Replay, point: Point, target: Target) -> Callable[[int], int]:
    """How many of the chunks that can show the target are among the best so many. Where no stage
    changes the order, nothing else that more candidates bring can matter to it."""
    place = ranks(descending(replay.entering(point, "rerank_1").query.fused))
    rows = [replay.index.row(c) for c in replay.telling(target.chunk_ids)]
    own = np.sort(place[rows])
    return lambda k: int(np.searchsorted(own, k, side="right"))


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

    now = room(parts[name])
    if name != "evidence_budget" and now == s.evidence_budget:
        return None  # the window does not bind
    candidates = replay.entering(point, "budget").candidates
    _, costs = passage_costs(candidates, replay.run(mode))
    enough = sum(costs)
    # All rooms that take everything are alike, and so are values that give the same room.
    high = max(parts[name], parts[name] - now + enough) + knob_named(name).step
    reachable = outward(name, parts[name], high=None if name == "answer_reserve" else high)
    values = distinct(reachable, parts[name], lambda v: min(room(v), enough))
    if s.oversize == "trim" or replay.overlaps(target.chunk_ids):
        return values, None
    wanted = {i for i, c in enumerate(candidates) if c.chunk_id in target.chunk_ids}
    return values, lambda v: not wanted <= set(fill(costs, room(v))[0])


def budget_alone(replay: Replay, point: Point, target: Target) -> int | None:
    """The evidence budget nearest to the present one that would do if the model window did not
    bind; None where none would. It changes nothing by itself: the window has to grow with it."""
    if replay.lost_at(point, target) != "budget":
        return None
    free = point.moved(window_tokens=1_000_000, answer_reserve=0)
    mode = mode_named(point.mode)
    values, hopeless = _room("evidence_budget", replay, free, mode, target) or ((), None)
    for value in values:
        if hopeless is None or not hopeless(value):
            return value if hopeless else values[-1]
    return None
