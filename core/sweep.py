"""A knob over its whole range: the fate of each chunk at every value, and where it changes.

Some values are run first; between two at which fates differ, the values halfway are run, down
to the knob's own step. So a change is found at its very value, and not only on a grid.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core.diagnosis.grid import MODE, at_step, is_number, step_below, steps
from core.errors import Cancelled, SettingsError
from core.fates import PROMPT, fates
from core.index.index import Index
from core.modes import MODES
from core.pipeline import Pipeline
from core.records import Principal
from core.settings import Knob, Settings, knob_named
from core.trace import Trace

FIRST = 24
"""Values that are run before any change is looked for."""

MOST = 300
"""Runs of one sweep, unless more are allowed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a knob: fates by chunk, and evidence tokens.

    ``fates`` holds the stage that lost each chunk that a stage named, or "prompt"; a chunk that
    is missing was below the candidates.
    """

    value: Any
    fates: Mapping[str, str]
    tokens: int
    outcome: str

    def fate(self, chunk_id: str) -> str:
        """The stage that lost a chunk, or "prompt"."""
        return self.fates.get(chunk_id, "first_stage")


@dataclass(frozen=True, slots=True)
class Change:
    """Between two values next to each other on the knob's grid, the fates of ``chunks`` differ.

    ``exact`` is False where ``before`` and ``value`` are more than a step apart, since the runs
    were used up before the value was pinned down.
    """

    before: Any
    value: Any
    chunks: tuple[str, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class Sweep:
    """A knob's values that were run, in order, and every change between them."""

    knob: str
    current: Any
    settings: tuple[Setting, ...]
    changes: tuple[Change, ...]
    runs: int

    @property
    def exact(self) -> bool:
        """Whether every change was pinned down to a step."""
        return all(c.exact for c in self.changes)

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """Every chunk that a stage named at some value, those that arrive most often first."""
        arrivals: dict[str, int] = {}
        for setting in self.settings:
            for chunk, stage in setting.fates.items():
                arrivals[chunk] = arrivals.get(chunk, 0) + (stage == PROMPT)
        return tuple(sorted(arrivals, key=lambda c: (-arrivals[c], c)))

    def at(self, value: Any) -> Setting:
        """What holds at a value of the grid: the run at it, or the last one before it.

        KeyError for a value below the first that was run, or a choice that was not.
        """
        if knob_values(self.knob, self.current) is not None:
            return next(s for s in self.settings if s.value == value)
        held = [s for s in self.settings if s.value <= value]
        if not held:
            raise KeyError(value)
        return held[-1]


@dataclass(frozen=True, slots=True)
class Map:
    """Two knobs over a coarse grid: ``cells[i][j]`` is at ``down[i]`` and ``across[j]``."""

    knobs: tuple[str, str]
    down: tuple[Any, ...]
    across: tuple[Any, ...]
    cells: tuple[tuple[Setting, ...], ...]


def sweep(
    pipeline: Pipeline,
    index: Index,
    question: str,
    settings: Settings,
    mode: str,
    knob: str,
    principal: Principal | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
    most: int = MOST,
) -> Sweep:
    """The fate of each chunk along a knob's whole range; "mode" is a knob too.

    What changes and changes back between two of the first values is not seen.

    Args:
        most: how many runs it may take; what is not pinned down by then says so.

    Raises:
        SettingsError: an unknown knob, one that is text, or one that builds the index anew.
        Cancelled: ``cancelled`` answered True between two runs.
    """
    current = mode if knob == MODE else getattr(settings, knob_named(knob).name)
    runner = _Runner(pipeline, index, question, settings, mode, principal, cancelled)
    choices = knob_values(knob, current)
    if choices is not None:
        rows = tuple(runner.setting({knob: v}, v) for v in choices)
        return Sweep(knob, current, rows, (), runner.runs)
    known = knob_named(knob)
    at: dict[int, Setting] = {}
    for step in first_steps(known, current, FIRST):
        at[step] = runner.setting({knob: at_step(known, step)}, at_step(known, step))
    _pin_down(at, lambda s: runner.setting({knob: at_step(known, s)}, at_step(known, s)), most)
    if current not in {s.value for s in at.values()}:
        own = [*at.values(), runner.setting({}, current)]  # a value off the grid, as it is
    else:
        own = list(at.values())
    own.sort(key=lambda s: s.value)
    changes = [
        Change(a.value, b.value, chunks, b.value - a.value <= known.step * (1 + 1e-6))
        for a, b in pairwise(own)
        if (chunks := differing(a, b))
    ]
    return Sweep(knob, current, tuple(own), tuple(changes), runner.runs)


def sweep2(
    pipeline: Pipeline,
    index: Index,
    question: str,
    settings: Settings,
    mode: str,
    knobs: tuple[str, str],
    principal: Principal | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
    size: int = 8,
) -> Map:
    """Two knobs over ``size`` values each; of a choice, over all of its values.

    Raises:
        SettingsError: an unknown knob, one that is text, or one that builds the index anew.
        Cancelled: ``cancelled`` answered True between two runs.
    """
    runner = _Runner(pipeline, index, question, settings, mode, principal, cancelled)
    down, across = (_coarse(knob, settings, mode, size) for knob in knobs)
    cells = tuple(
        tuple(runner.setting({knobs[0]: i, knobs[1]: j}, (i, j)) for j in across) for i in down
    )
    return Map(knobs, down, across, cells)


def knob_values(knob: str, current: Any) -> tuple[Any, ...] | None:
    """All values of a choice, a switch or the mode; None for a number.

    Raises:
        SettingsError: an unknown knob, one that is text, or one that builds the index anew.
    """
    if knob == MODE:
        return tuple(MODES)
    known = knob_named(knob)
    if known.group == "documents":
        raise SettingsError(knob, "builds the index anew", "Choose a knob of a later stage.")
    if is_number(known):
        return None
    if known.kind is bool:
        return (False, True)
    if not known.choices:
        raise SettingsError(knob, "is text, which has no range", "Choose another knob.")
    return known.choices


def first_steps(knob: Knob, current: float, count: int) -> list[int]:
    """Steps over the whole range: even ones, or ever wider ones where the range is very wide.

    The present value's step is among them.
    """
    last = steps(knob)
    if last <= count:
        chosen = set(range(last + 1))
    elif last <= 10 * count:
        chosen = {round(i * last / (count - 1)) for i in range(count)}
    else:
        chosen = {0, *(round(last ** (i / (count - 2))) for i in range(count - 1))}
    own = step_below(knob, current) + 1
    if own <= last:
        chosen.add(own)
    return sorted(chosen)


def _coarse(knob: str, settings: Settings, mode: str, size: int) -> tuple[Any, ...]:
    current = mode if knob == MODE else getattr(settings, knob_named(knob).name)
    choices = knob_values(knob, current)
    if choices is not None:
        return choices
    known = knob_named(knob)
    return tuple(at_step(known, s) for s in first_steps(known, current, size))


def differing(a: Setting, b: Setting) -> tuple[str, ...]:
    """The chunks whose fates differ between two settings."""
    names = dict.fromkeys([*a.fates, *b.fates])
    return tuple(c for c in names if a.fate(c) != b.fate(c))


def _pin_down(at: dict[int, Setting], run: Callable[[int], Setting], most: int) -> None:
    """Halves the widest gap over which fates differ, again and again, until each is one step."""
    gaps: list[tuple[int, int, int]] = []

    def look(a: int, b: int) -> None:
        if b - a > 1 and differing(at[a], at[b]):
            heapq.heappush(gaps, (a - b, a, b))

    for a, b in pairwise(sorted(at)):
        look(a, b)
    while gaps and len(at) < most:
        _, a, b = heapq.heappop(gaps)
        middle = (a + b) // 2
        at[middle] = run(middle)
        look(a, middle)
        look(middle, b)


class _Runner:
    """Runs the pipeline at settings, and keeps of each trace what a sweep shows."""

    def __init__(
        self,
        pipeline: Pipeline,
        index: Index,
        question: str,
        settings: Settings,
        mode: str,
        principal: Principal | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._ask = lambda s, m: pipeline.run(index, question, s, m, principal, cancelled=cancelled)
        self._settings, self._mode, self._cancelled = settings, mode, cancelled
        self.runs = 0

    def setting(self, changes: Mapping[str, Any], value: Any) -> Setting:
        if self._cancelled and self._cancelled():
            raise Cancelled
        self.runs += 1
        knobs = {k: v for k, v in changes.items() if k != MODE}
        trace: Trace = self._ask(self._settings.changed(**knobs), changes.get(MODE, self._mode))
        ends = {chunk: fate.stage for chunk, fate in fates(trace).items()}
        return Setting(value, ends, trace.ledger.evidence, trace.outcome)
