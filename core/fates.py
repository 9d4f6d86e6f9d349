"""The one fate of each chunk in a trace: in the prompt, or lost at one stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.ranking import descending, ranks
from core.trace import DROPPED, Entry, Trace

PROMPT = "prompt"

LEFT_OUT = "left_out"
"""Where a chunk ended that came as far as the prompt and is not in it. Only imports have such."""


@dataclass(frozen=True, slots=True)
class Fate:
    """Where a chunk ended. ``stage`` is "prompt" for one that arrived there."""

    stage: str
    reason: str = ""
    cause: str = ""
    margin: float | None = None

    @property
    def arrived(self) -> bool:
        return self.stage == PROMPT

    @property
    def words(self) -> str:
        """``in the prompt``, or where it was lost, without the reason."""
        if self.stage in (PROMPT, LEFT_OUT):
            return "in the prompt" if self.arrived else "left out of the prompt"
        return f"lost at {self.stage}"


def fates(trace: Trace) -> Mapping[str, Fate]:
    """The fate of every chunk that a stage names.

    A chunk that is missing here was below ``candidate_k`` in the first stage; see
    :class:`Fates`.
    """
    ends: dict[str, Fate] = {p.chunk_id: Fate(PROMPT) for p in trace.selected}
    for stage in trace.stages:
        for entry in stage.entries:
            if entry.fate == DROPPED:
                at = stage.name if stage.name != PROMPT else LEFT_OUT
                ends[entry.chunk_id] = Fate(at, entry.reason, entry.cause, entry.margin)
    return ends


class Fates:
    """The fate of any chunk of one trace; what many questions share is computed once.

    ``named`` is what :func:`fates` gives. Every place that shows a fate has it, and its words,
    from here.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @cached_property
    def named(self) -> Mapping[str, Fate]:
        return fates(self._trace)

    @cached_property
    def _ranks(self) -> np.ndarray:
        return ranks(descending(self._trace.corpus_scores.array("fused")))

    def of(self, chunk_id: str) -> Fate:
        """One chunk's fate, named by a stage or not.

        A chunk of no document of the trace may be hidden from its principal or never have been:
        the two must not be told apart.
        """
        named = self.named.get(chunk_id)
        if named is not None:
            return named
        row = corpus_row(self._trace, chunk_id)
        if row is None:
            return Fate("access", "is in none of the documents of this trace")
        first = self._trace.stage("first_stage")
        fused = self._trace.corpus_scores.array("fused")
        if not len(fused) or first.cut_score is None:
            return Fate("first_stage", "was not taken into the candidates", first.last_kept)
        # The cut as the corpus scores hold it, so that equal scores have a margin of 0.
        margin = float(fused[row]) - float(np.float32(first.cut_score))
        reason = f"ranked {self._ranks[row]:,} of {len(fused):,}; the best {first.passed:,} went on"
        return Fate("first_stage", reason, first.last_kept, margin)


def fate_of(trace: Trace, chunk_id: str) -> Fate:
    """:meth:`Fates.of` for a single chunk."""
    return Fates(trace).of(chunk_id)


def corpus_row(trace: Trace, chunk_id: str) -> int | None:
    """A chunk's place in the arrays of the trace's corpus scores; None for one of no document."""
    document, _, ordinal = chunk_id.rpartition(":")
    first = 0
    for info in trace.documents:
        if info.id == document:
            held = ordinal.isascii() and ordinal.isdigit() and int(ordinal) < info.chunks
            return first + int(ordinal) if held else None
        first += info.chunks
    return None


def journey(trace: Trace, chunk_id: str) -> list[tuple[str, Entry]]:
    """What each stage that touched this chunk did to it, in order."""
    return [(s.name, e) for s in trace.stages for e in s.entries if e.chunk_id == chunk_id]
