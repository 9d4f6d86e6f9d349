"""Two knobs together, where neither is enough: one gets the target further, the other finishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.diagnosis.grid import between_steps, size
from core.diagnosis.levers import budget_alone, levers
from core.diagnosis.replay import Point, Replay
from core.diagnosis.scan import Clock, Scan, scan
from core.diagnosis.targets import Target
from core.errors import Cancelled

SEARCHES = 4
"""How many ways of getting further are followed, the smallest changes first."""

Found = list[tuple[float, dict[str, Any]]]
"""The size of a change, and its values by knob."""


def pairs(
    replay: Replay, here: Point, target: Target, scans: Sequence[Scan], clock: Clock, most: int
) -> tuple[list[dict[str, Any]], bool]:
    """At most ``most`` pairs, smallest first, and whether every way was followed to its end.

    Of each knob the step before fails, while the other is as in the pair.
    """
    further = [s for s in scans if s.further]
    # The furthest first; among those the smallest change.
    further.sort(key=lambda s: size(s.knob, here.value(s.knob), s.further[0]))
    further.sort(key=lambda s: s.further[1].far, reverse=True)
    ways = [(s.knob, s.further[0]) for s in further[:SEARCHES]]
    found: Found = []
    complete = True
    try:
        if (enough := budget_alone(replay, here, target)) is not None:
            ways.insert(0, ("evidence_budget", enough))
        for knob, value in ways:
            there = here.moved(**{knob: value})
            done = _finish(replay, here, there, target, knob, clock, found, most)
            complete = complete and done
            if len(found) >= most or not clock.left:
                break
    except Cancelled:
        if clock.cancelled and clock.cancelled():
            raise
        complete = False
    found.sort(key=lambda pair: pair[0])
    return [changes for _, changes in found[:most]], complete


def _finish(
    replay: Replay,
    here: Point,
    there: Point,
    target: Target,
    first: str,
    clock: Clock,
    found: Found,
    most: int,
) -> bool:
    """Tries every other knob from ``there``; puts the pairs that work among ``found``."""
    base, complete = replay.reach(there, target), True
    others = [lever for lever in levers(replay, there, target)[0] if lever.knob != first]
    for at, lever in enumerate(others):
        if any({first, lever.knob} == set(p[1]) for p in found):
            continue
        clock.share(clock.left, len(lever.values), len(others) - at)
        result = scan(replay, there, target, lever, clock, base)
        complete = complete and result.finished
        if result.value is not None:
            values = {first: there.value(first), lever.knob: result.value}
            changes = smallest(replay, here, target, values, clock)
            if all(changes.keys() != known.keys() for _, known in found):
                found.append((sum(size(k, here.value(k), v) for k, v in changes.items()), changes))
        if len(found) >= most or not clock.left:
            break
    clock.limited(clock.left)
    return complete


def smallest(
    replay: Replay, here: Point, target: Target, changes: dict[str, Any], clock: Clock
) -> dict[str, Any]:
    """Values that work, each moved back towards its present one to where the step before fails.

    By halving, some ten runs a knob; moving one back can make room for the other, so it is done
    until neither moves. A knob that the others can do without is left out.
    """
    was, replay.cancelled = replay.cancelled, clock.cancelled
    try:
        while True:
            before = dict(changes)
            for knob in before:
                others = here.moved(**{k: v for k, v in changes.items() if k != knob})
                if replay.reach(others, target).arrived:
                    del changes[knob]
                    continue
                changes[knob] = _edge(replay, others, target, knob, changes[knob])
            if changes == before:
                return changes
    finally:
        replay.cancelled = was


def _edge(replay: Replay, others: Point, target: Target, knob: str, works: Any) -> Any:
    """A value that works, between the present one, which does not, and ``works``."""
    present = others.value(knob)
    between = between_steps(knob, present, works)
    failed, at = -1, len(between)
    while at - failed > 1:
        middle = (failed + at) // 2
        if replay.reach(others.moved(**{knob: between[middle]}), target).arrived:
            at = middle
        else:
            failed = middle
    return works if at == len(between) else between[at]
