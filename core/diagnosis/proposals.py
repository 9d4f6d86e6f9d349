"""What brings a target back: the smallest changes, each proved by running it, with its price."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.grid import MODE, size
from core.diagnosis.levers import levers
from core.diagnosis.naming import listed
from core.diagnosis.pairs import pairs
from core.diagnosis.replay import Point, Replay
from core.diagnosis.scan import Clock, Scan, scan
from core.diagnosis.targets import Target
from core.diagnosis.verdicts import index_of_asker
from core.errors import Cancelled
from core.index.index import Index
from core.pipeline import Pipeline
from core.settings import knob_named, parse_settings
from core.trace import Trace
from core.words import counted

SECONDS = 3.0
"""How long a search may take by default, before its proposals are run."""

FOR_SINGLE = 0.8
"""The share of it for single knobs; pairs, tried where no single knob is enough, have the rest."""

ROUNDS = 3
"""How often the single knobs that were cut short are taken up again, while there is time."""

PAIRS = 3
"""At most so many pairs are proposed."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that brings all of the target into the prompt, and what it costs.

    Attributes:
        changes: the new value by knob; "mode" is a knob too.
        before: the value that each of them has now.
        proved: the pipeline was run with it, and all of the target is in its prompt.
        exact: every smaller change of this knob, in its own steps, was run, or is known to fail.
            Where False, the step before fails, and some smaller ones were not run. A pair is the smallest in each
            of its knobs with the other as it is proposed.
        size: how far the knobs move, each as a share of its range; a switch counts 1.
        tokens: evidence tokens more than now (negative: fewer).
        gained, lost: chunk ids that come into the prompt, and that fall out, in its order.
    """

    changes: Mapping[str, Any]
    before: Mapping[str, Any]
    proved: bool
    exact: bool
    size: float
    tokens: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """``Candidates from 50 to 67: 13 tokens more, 1 chunk comes in, none fall out.``"""
        turned = " and ".join(
            f"{_title(k)} from {_said(self.before[k])} to {_said(v)}"
            for k, v in self.changes.items()
        )
        more = f"{counted(abs(self.tokens), 'token')} {'more' if self.tokens >= 0 else 'fewer'}"
        chunks = f"{len(self.gained)} {'chunk comes' if len(self.gained) == 1 else 'chunks come'}"
        falls = f"{len(self.lost) or 'none'} {'falls' if len(self.lost) == 1 else 'fall'} out"
        return f"{turned}: {more}, {chunks} in, {falls}."


@dataclass(frozen=True, slots=True)
class Tried:
    """What was tried of one knob: values run, values excluded without a run, and how it ended."""

    knob: str
    runs: int
    excluded: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Proposals:
    """All that a search found, smallest change first, and what it tried.

    ``runs`` counts the settings that were run. ``complete`` is False where time was up before
    every value of every knob was tried or, where no single knob is enough, before every pair
    that begins with a knob that gets it further. ``needed`` is False where the target is in
    the prompt already, ``possible`` where no chunk that the question may retrieve holds it;
    nothing is tried then.
    """

    proposals: tuple[Proposal, ...]
    tried: tuple[Tried, ...]
    complete: bool
    seconds: float
    runs: int = 0
    needed: bool = True
    possible: bool = True

    @property
    def sentence(self) -> str:
        """The outcome, for a person."""
        if not self.needed:
            return "What was found of it is in the prompt already: nothing has to change."
        if not self.possible:
            return "No knob can bring it in: it is in no chunk that this question may retrieve."
        if self.proposals:
            how_many = len(self.proposals)
            what = "1 change brings" if how_many == 1 else f"{how_many} changes bring"
            return f"{what} it into the prompt; each was run.{self._cut_short(' There may be others.')}"
        said = (
            f"{counted(self.runs, 'setting')} {'was' if self.runs == 1 else 'were'} run, over "
            f"{counted(sum(t.runs > 0 for t in self.tried), 'knob')}. Chunk size and overlap were "
            "not touched: they need a new index."
        )
        if self.complete:
            return f"No setting of one knob brings it back, nor any pair that was tried: {said}"
        tried = f" {said}" if any(t.runs for t in self.tried) else ""
        return f"No change was found in {self.seconds:.1f} s.{self._cut_short()}{tried}"

    def _cut_short(self, then: str = "") -> str:
        """What the search had no time for, as a sentence after others; "" where it had enough."""
        if self.complete:
            return ""
        unfinished = [_title(t.knob) for t in self.tried if t.outcome == UNFINISHED]
        if not any(t.runs for t in self.tried):
            what = "anything was tried"
        elif unfinished:
            what = f"every value of {listed(unfinished)} was tried"
        else:
            what = "every pair of knobs was tried"
        return f" Time was up before {what}.{then}"


UNFINISHED = "not finished in the time given"
"""The outcome of a knob of which not every value was tried."""

TITLES = {MODE: "Mode", "dedup_method": "Duplicate method"}
"""What a sentence calls a knob whose label says too little outside of the sidebar."""


def _title(knob: str) -> str:
    return TITLES.get(knob) or knob_named(knob).label


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def propose(
    pipeline: Pipeline,
    index: Index,
    trace: Trace,
    target: Target,
    *,
    seconds: float = SECONDS,
    cancelled: Callable[[], bool] | None = None,
) -> Proposals:
    """For each knob that could matter the smallest change that brings ``target`` in.

    Knobs that build the index anew are not touched. Pairs are tried where no single knob is
    enough: one that gets the target further, and another that brings it in from there.

    Args:
        index: the one that ``trace`` was made from, whole or as its principal sees it.
        seconds: after which the search stops and says so; each proposal is then run once more.

    Raises:
        ChunkscopeError: the index is not the trace's.
        Cancelled: ``cancelled`` answered True.
    """
    began = time.perf_counter()
    visible = index_of_asker(trace, index)
    if target.reached(trace.selected):
        return Proposals((), (), True, 0.0, needed=False)
    if not target.pieces or not all(map(visible.holds, target.chunk_ids)):
        return Proposals((), (), True, 0.0, possible=False)
    clock = Clock(seconds, cancelled)
    replay = Replay(pipeline, index, trace.question, trace.principal, clock.stops)
    here = Point(parse_settings(trace.settings), trace.mode)
    scans, left_out, complete = singles(replay, here, target, clock, seconds * FOR_SINGLE)
    found = [({s.knob: s.value}, s.exact) for s in scans if s.value is not None]
    if not found:
        clock.limited(seconds)
        pairs_found, pairs_complete = pairs(replay, here, target, scans, clock, PAIRS)
        found += [(changes, False) for changes in pairs_found]
        complete = complete and (pairs_complete or bool(pairs_found))
    proved = [_proved(pipeline, index, trace, here, target, *f, cancelled) for f in found]
    # What pushes nothing else out comes first: a small step can cost many other chunks.
    proved.sort(key=lambda p: (len(p.changes), len(p.lost), p.size, p.tokens))
    tried = [_tried([s for s in scans if s.knob == name]) for name in {s.knob: 0 for s in scans}]
    tried += [Tried(name, 0, 0, f"not tried: {why}") for name, why in left_out.items()]
    return Proposals(
        tuple(p for p in proved if p.proved),
        tuple(tried),
        complete,
        time.perf_counter() - began,
        replay.runs,
    )


def singles(
    replay: Replay, here: Point, target: Target, clock: Clock, seconds: float
) -> tuple[list[Scan], dict[str, str], bool]:
    """A scan of every lever, why the other knobs have none, and whether time was enough."""
    clock.limited(seconds)
    ends = time.perf_counter() + seconds
    try:
        base = replay.reach(here, target)
        found, left_out = levers(replay, here, target)
    except Cancelled:
        if clock.cancelled and clock.cancelled():
            raise
        return [], {}, False
    held: dict[int, Scan] = {}
    waiting = list(range(len(found)))
    for _ in range(ROUNDS):
        for place, at in enumerate(waiting):
            lever = found[at]
            left = max(0.0, ends - time.perf_counter())
            clock.share(left, len(lever.values), len(waiting) - place)
            if not any(s.knob == lever.knob and s.value is not None for s in held.values()):
                held[at] = scan(replay, here, target, lever, clock, base)
        # What was cut short has the time that others left; what it ran already is kept.
        waiting = [at for at in waiting if at in held and not held[at].finished]
        if not waiting or time.perf_counter() > ends:
            break
    scans = [held[at] for at in sorted(held)]
    return scans, left_out, all(s.finished for s in scans)


def _tried(scans: Sequence[Scan]) -> Tried:
    """One knob's scans as one; the mode has two."""
    telling = next((s for s in scans if s.value is not None or not s.finished), scans[0])
    runs, excluded = sum(s.runs for s in scans), sum(s.excluded for s in scans)
    return Tried(scans[0].knob, runs, excluded, _outcome(telling))


def _outcome(scan: Scan) -> str:
    if scan.value is not None:
        return f"brings it back at {_said(scan.value)}"
    if not scan.finished:
        return UNFINISHED
    if scan.further:
        return f"gets it further at {_said(scan.further[0])}, not into the prompt"
    return "no value brings it back"


def _proved(
    pipeline: Pipeline,
    index: Index,
    trace: Trace,
    here: Point,
    target: Target,
    changes: Mapping[str, Any],
    exact: bool,
    cancelled: Callable[[], bool] | None,
) -> Proposal:
    """Runs the pipeline with a change, and reads from its trace what it does."""
    there = here.moved(**changes)
    after = pipeline.run(
        index, trace.question, there.settings, there.mode, trace.principal, cancelled=cancelled
    )
    had = tuple(p.chunk_id for p in trace.selected)
    has = tuple(p.chunk_id for p in after.selected)
    return Proposal(
        changes=dict(changes),
        before={k: here.value(k) for k in changes},
        proved=target.reached(after.selected),
        exact=exact,
        size=sum(size(k, here.value(k), v) for k, v in changes.items()),
        tokens=after.ledger.evidence - trace.ledger.evidence,
        gained=tuple(c for c in has if c not in set(had)),
        lost=tuple(c for c in had if c not in set(has)),
    )
