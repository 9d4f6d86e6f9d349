"""A sweep as a picture: columns of equal fates, and the rows that are worth a look. No streamlit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.diagnosis.grid import MODE
from core.fates import PROMPT
from core.modes import MODES
from core.settings import knob_named
from core.sweep import Map, Setting, Sweep, knob_values

MOST_ROWS = 48
"""Chunks that are drawn; the rest is told in words."""

NEAR = ("budget", "diversity", "dedup", "relevance")
"""The stages whose losses are near misses, the nearest first."""

NEAREST = 8


@dataclass(frozen=True, slots=True)
class Column:
    """Values next to each other at which everything is the same: ``first`` to ``last``.

    ``exact`` is False where ``first`` is only near the value at which things change.
    """

    first: Any
    last: Any
    setting: Setting
    exact: bool = True

    def nearest(self, value: Any) -> Any:
        """The value of this column that is nearest to another one."""
        if isinstance(self.first, (str, bool)):
            return self.first
        return min(max(value, self.first), self.last)


@dataclass(frozen=True, slots=True)
class Rows:
    """The chunks that are drawn, those that arrive most often first, and how many are not.

    ``crowded`` would be rows too, were there room; ``elsewhere`` never arrive, though another
    stage loses them here and there; ``steady`` end the same at every value; ``never`` are in
    the corpus and never a candidate.
    """

    chunks: tuple[str, ...]
    crowded: int
    elsewhere: int
    steady: int
    never: int

    @property
    def sentence(self) -> str:
        """What is not drawn; empty where all is."""
        said = [
            f"{number:,} {what}"
            for number, what in (
                (self.crowded, "more that arrive at some values"),
                (self.elsewhere, "that never arrive, lost at one stage or another"),
                (self.steady, "that end the same at every value"),
                (self.never, "that are no candidate at any value"),
            )
            if number
        ]
        return f"Chunks not drawn: {', '.join(said)}." if said else ""


def rows(
    found: Sweep, now: Any, marked: Collection[str] = (), corpus: int = 0, most: int = MOST_ROWS
) -> Rows:
    """The chunks that arrive at some values and not at others, or that matter: in the prompt
    now, marked, or near misses now.

    Args:
        now: the knob's present value.
        marked: chunks that are drawn whatever becomes of them (evidence, the selected one).
        corpus: chunks in all. most: rows at most; those marked come on top.
    """
    arrivals: dict[str, int] = {}
    for setting in found.settings:
        for chunk, stage in setting.fates.items():
            arrivals[chunk] = arrivals.get(chunk, 0) + (stage == PROMPT)
    runs = len(found.settings)
    here = found.at(now).fates
    wanted = dict.fromkeys([*marked, *(c for c, s in here.items() if s == PROMPT)])
    moving = [c for c, n in arrivals.items() if 0 < n < runs]
    wanted |= dict.fromkeys(sorted(moving, key=lambda c: (-arrivals[c], c)))
    near = [c for stage in NEAR for c, s in here.items() if s == stage]
    wanted |= dict.fromkeys(near[:NEAREST])
    drawn = list(wanted)[: max(most, len(marked))]
    first = {
        c: next((i for i, s in enumerate(found.settings) if s.fate(c) == PROMPT), runs)
        for c in drawn
    }
    drawn.sort(key=lambda c: (-arrivals.get(c, 0), first[c], c))
    left = set(arrivals) - set(drawn)
    idle = {c for c in left if not arrivals[c]}
    steady = {c for c in idle if len({s.fate(c) for s in found.settings}) == 1}
    return Rows(
        tuple(drawn),
        crowded=len(left - idle),
        elsewhere=len(idle - steady),
        steady=len(steady),
        never=max(0, corpus - len(set(arrivals) | set(drawn))),
    )


def columns(sweep: Sweep, chunks: Collection[str]) -> tuple[Column, ...]:
    """The values of a sweep, those next to each other that do the same to ``chunks`` and take as
    many tokens joined to one. Of a choice, every value is a column."""
    if knob_values(sweep.knob, sweep.current) is not None:
        return tuple(Column(s.value, s.value, s) for s in sweep.settings)
    exact = {c.value: c.exact for c in sweep.changes}
    found: list[Column] = []
    for setting in sweep.settings:
        if found and _same(found[-1].setting, setting, chunks):
            found[-1] = replace(found[-1], last=setting.value)
        else:
            known = exact.get(setting.value, True) or not found
            found.append(Column(setting.value, setting.value, setting, known))
    return tuple(found)


def _same(one: Setting, other: Setting, chunks: Collection[str]) -> bool:
    return (one.tokens, one.outcome) == (other.tokens, other.outcome) and all(
        one.fate(c) == other.fate(c) for c in chunks
    )


def column_at(found: Sequence[Column], value: Any) -> int:
    """The column that holds a value: the last that begins at or below it; of a choice its own."""
    if isinstance(value, (str, bool)):
        return next((i for i, c in enumerate(found) if c.first == value), 0)
    return max((i for i, c in enumerate(found) if c.first <= value), default=0)


def arrived(setting: Setting, chunks: Collection[str]) -> int:
    """How many of those chunks are in the prompt."""
    return sum(setting.fate(c) == PROMPT for c in chunks)


def in_words(knob: str, value: Any) -> str:
    """A knob's value as short as it can be read, without its unit."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return MODES[value].title if knob == MODE and value in MODES else value
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def span(knob: str, column: Column) -> str:
    """``12 to 17 chunks``: the values of a column with their unit."""
    first, last = in_words(knob, column.first), in_words(knob, column.last)
    unit = "" if knob == MODE else knob_named(knob).unit
    said = first if first == last else f"{first} to {last}"
    return f"{said} {unit}".strip() if not isinstance(column.first, (str, bool)) else said


def measured(found: Map, measure: str, evidence: Collection[str] = ()) -> list[list[int]]:
    """A number a cell of a map: its "tokens", "passages", or "evidence" chunks that arrive.

    KeyError for another measure.
    """
    count = {
        "tokens": lambda s: s.tokens,
        "passages": lambda s: sum(stage == PROMPT for stage in s.fates.values()),
        "evidence": lambda s: arrived(s, evidence),
    }[measure]
    return [[count(cell) for cell in row] for row in found.cells]
