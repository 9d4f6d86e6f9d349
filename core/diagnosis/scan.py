"""The smallest change of one knob that brings a target in: found by running, nearest first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.diagnosis.levers import Lever
from core.diagnosis.replay import Point, Reach, Replay
from core.diagnosis.targets import Target
from core.errors import Cancelled

FEW = 80
"""Values. So many are run one after another; of more, some are run first to narrow the search."""


SHORT = 5
"""A knob of so few values is tried with all of them, however little time is left for others."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a knob can do at a point.

    Attributes:
        value: the smallest change that brings all of the target in; None where none was found.
        exact: every nearer value was run, or is known to fail. Where False, the step before
            ``value`` was run and fails, and some nearer ones were not run.
        runs: how many values were run. excluded: how many are known to fail without a run.
        further: the nearest value that gets the target further than it was, and how far.
        finished: every value was tried, or the smallest was found.
    """

    knob: str
    value: Any = None
    exact: bool = False
    runs: int = 0
    excluded: int = 0
    further: tuple[Any, Reach] | None = None
    finished: bool = True


class Clock:
    """A time limit, and a person's own wish to stop."""

    def __init__(self, seconds: float, cancelled: Callable[[], bool] | None = None) -> None:
        self.began, self.ends = time.perf_counter(), time.perf_counter() + seconds
        self.cancelled = cancelled
        self._slice = self.ends

    def limited(self, seconds: float) -> None:
        """From now on the slice of time that may be used."""
        self._slice = min(self.ends, time.perf_counter() + seconds)

    def share(self, seconds: float, values: int, levers: int) -> None:
        """A slice of ``seconds`` for the first of so many ``levers``, which has so many values.

        What one does not use, the next ones have; none may use all of it, unless it is short.
        """
        self.limited(seconds * (1.0 if values <= SHORT else min(1.0, 3 / levers)))

    @property
    def left(self) -> float:
        return max(0.0, self.ends - time.perf_counter())

    def over(self) -> bool:
        """Whether to stop: raises Cancelled where the person wished it."""
        if self.cancelled and self.cancelled():
            raise Cancelled
        return time.perf_counter() > self._slice

    def stops(self) -> bool:
        """What stages ask: time is up, or the person wished to stop."""
        return bool(self.cancelled and self.cancelled()) or time.perf_counter() > self._slice


def scan(
    replay: Replay, point: Point, target: Target, lever: Lever, clock: Clock, base: Reach
) -> Scan:
    """Tries a lever's values, nearest first, until one brings the target in or time is up."""
    search = _Search(replay, point, target, lever, base)
    try:
        search.go(clock)
    except Cancelled:
        if clock.cancelled and clock.cancelled():
            raise
        return search.result(finished=False)
    return search.result(finished=not search.cut)


class _Search:
    def __init__(self, replay: Replay, point: Point, target: Target, lever: Lever, base: Reach):
        self._replay, self._point, self._target = replay, point, target
        self._lever, self._base = lever, base
        self._known: dict[Any, bool] = {}
        self._further: tuple[Any, Reach] | None = None
        self._runs = self._excluded = 0
        self._edges: list[tuple[list[Any], int, int]] = []
        self._best: Any = None
        self._exact = False
        self.cut = False

    def go(self, clock: Clock) -> None:
        values = self._hopeful()
        if len(values) > FEW:
            self._narrow(values, clock)
            self._settle()
        for value in values:
            if value == self._best:
                self._exact = True
                return
            if value in self._known:
                continue
            if clock.over():
                self.cut = self._best is None
                return
            if self._works(value):
                self._best, self._exact = value, True
                return

    def _hopeful(self) -> list[Any]:
        hopeless = self._lever.hopeless
        if hopeless is None:
            return list(self._lever.values)
        values = [v for v in self._lever.values if not hopeless(v)]
        self._excluded = len(self._lever.values) - len(values)
        return values

    def _narrow(self, values: list[Any], clock: Clock) -> None:
        """Strides outward on both sides, each stride twice the last, until a value works."""
        current = self._point.value(self._lever.knob)
        for side in ([v for v in values if v > current], [v for v in values if v < current]):
            failed, at, stride = -1, 0, 1
            while at < len(side) and not clock.over():
                if self._works(side[at]):
                    self._edges.append((side, failed, at))
                    break
                if at == len(side) - 1:
                    break
                failed, at, stride = at, min(at + stride, len(side) - 1), stride * 2

    def _settle(self) -> None:
        """Halves the strides that end in a value that works, down to one step. Some ten runs."""
        if not self._edges:
            return
        was, self._replay.cancelled = self._replay.cancelled, None
        found, current = [], self._point.value(self._lever.knob)
        try:
            for side, failed, works in self._edges:
                while works - failed > 1:
                    middle = (failed + works) // 2
                    if self._works(side[middle]):
                        works = middle
                    else:
                        failed = middle
                found.append(side[works])
        finally:
            self._replay.cancelled = was
        self._best = min(found, key=lambda v: abs(v - current))

    def _works(self, value: Any) -> bool:
        if value not in self._known:
            self._runs += 1
            reach = self._replay.reach(self._point.moved(**{self._lever.knob: value}), self._target)
            self._known[value] = reach.arrived
            best = self._further[1] if self._further else self._base
            if not reach.arrived and reach.far > best.far:
                self._further = (value, reach)
        return self._known[value]

    def result(self, finished: bool) -> Scan:
        """What was found; a search that was cut short is settled first."""
        if self._best is None:
            self._settle()
        return Scan(
            knob=self._lever.knob,
            value=self._best,
            exact=self._exact,
            runs=self._runs,
            excluded=self._excluded,
            further=self._further,
            finished=finished or self._best is not None,
        )
