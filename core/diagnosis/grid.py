"""The values that a knob takes, and how far apart two of them are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.modes import MODES
from core.settings import Knob, knob_named

MODE = "mode"
"""The mode counts as a knob too: its values are the names of the modes."""


def is_number(knob: Knob) -> bool:
    return knob.kind in (int, float)


def at_step(knob: Knob, step: int) -> Any:
    """The value ``step`` steps above the lowest one."""
    value = knob.low + step * knob.step
    return int(value) if knob.kind is int else round(value, 10)


def steps(knob: Knob) -> int:
    """How many steps there are from the lowest value to the highest."""
    return int((knob.high - knob.low) / knob.step + 1e-9)


def step_below(knob: Knob, value: float) -> int:
    """The step of the last value on the grid that is below ``value``; −1 where none is."""
    at = int((value - knob.low) / knob.step + 1e-9)
    while at >= 0 and at_step(knob, at) >= value:
        at -= 1
    return at


def step_above(knob: Knob, value: float) -> int:
    """The step of the first value on the grid that is above ``value``."""
    at = max(0, step_below(knob, value))
    while at <= steps(knob) and at_step(knob, at) <= value:
        at += 1
    return at


def outward(
    name: str, current: Any, low: float | None = None, high: float | None = None
) -> Iterator[Any]:
    """Every other value of a knob, nearest first; of a choice, all of the others in order.

    Args:
        low, high: values out of these bounds are left out.
    """
    if name == MODE:
        yield from (m for m in MODES if m != current)
        return
    knob = knob_named(name)
    if not is_number(knob):
        others = (False, True) if knob.kind is bool else knob.choices
        yield from (v for v in others if v != current)
        return
    down, up = step_below(knob, current), step_above(knob, current)
    lowest = 0 if low is None else max(0, step_below(knob, low) + 1)
    highest = steps(knob) if high is None else min(steps(knob), step_above(knob, high) - 1)
    down, up = min(down, highest), max(up, lowest)
    while down >= lowest or up <= highest:
        below = at_step(knob, down) if down >= lowest else None
        above = at_step(knob, up) if up <= highest else None
        if above is None or (below is not None and current - below <= above - current):
            yield below
            down -= 1
        else:
            yield above
            up += 1


def step_before(name: str, current: Any, value: Any) -> Any:
    """The value next to ``value`` on the way back to ``current``: ``current`` at the last step."""
    knob = None if name == MODE else knob_named(name)
    if knob is None or not is_number(knob):
        return current
    if value > current:
        return max(current, at_step(knob, max(0, step_below(knob, value))))
    return min(current, at_step(knob, min(steps(knob), step_above(knob, value))))


def between_steps(name: str, current: Any, value: Any) -> list[Any]:
    """The values on the grid between two, nearest to ``current`` first; none for a choice."""
    knob = None if name == MODE else knob_named(name)
    if knob is None or not is_number(knob):
        return []
    if value > current:
        return [
            at_step(knob, s) for s in range(step_above(knob, current), step_below(knob, value) + 1)
        ]
    steps_between = range(step_below(knob, current), step_above(knob, value) - 1, -1)
    return [at_step(knob, s) for s in steps_between]


def size(name: str, current: Any, value: Any) -> float:
    """How large a change is, in [0, 1]: of a number the steps moved as a share of all its steps.

    Any other knob has no steps between: a change of it has size 1.
    """
    knob = None if name == MODE else knob_named(name)
    if knob is None or not is_number(knob):
        return 1.0
    return min(1.0, abs(value - current) / (knob.high - knob.low))
