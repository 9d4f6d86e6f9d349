"""Stage 7, dedup: near-duplicates of a better-ranked chunk go, unless they add an exception.

The measure is the overlap coefficient over words; see :mod:`core.stages.overlaps`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from core.settings import Settings
from core.stages.base import Run, State, chunks_of, entry, passed_on, selection
from core.stages.exceptions import Wording, wording
from core.stages.overlaps import shared_words
from core.trace import DROPPED, StageRecord


def dedup(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Keeps the best-ranked of each group of near-duplicates; the record names it."""
    knobs = settings.of_groups("dedup")
    if settings.dedup_method == "off" or len(state.candidates) < 2:
        return passed_on("dedup", state, knobs)
    chunks = chunks_of(run, state.candidates)
    wordings = [run.index.derived(c, "wording", wording) for c in chunks]
    shared = shared_words(run.index, chunks, settings.dedup_method)
    verdicts = judge(shared, wordings, settings.dedup_threshold, settings.protect_exceptions)
    kept, dropped, reasons = [], [], {}
    for candidate, verdict in zip(state.candidates, verdicts, strict=True):
        twin = state.candidates[verdict.of].chunk_id if verdict.of >= 0 else ""
        if verdict.duplicate:
            dropped.append(
                entry(
                    candidate,
                    DROPPED,
                    reason=f"shares {verdict.overlap:.0%} of the smaller one's words with a better one",
                    cause=twin,
                    margin=settings.dedup_threshold - verdict.overlap,
                )
            )
            continue
        kept.append(candidate)
        if verdict.adds:
            reasons[candidate.chunk_id] = (
                f"kept although it shares {verdict.overlap:.0%} of the smaller one's words with {twin}: "
                f"it adds {verdict.adds}"
            )
    return selection("dedup", state, kept, dropped, knobs, reasons)


class Verdict(NamedTuple):
    """Whether a chunk goes, and beside which kept one it was judged.

    ``of`` is that one's position, −1 where none is near; ``overlap`` in [0, 1] is what the two
    share; ``adds`` says in words what the chunk has that the other lacks, "" for nothing.
    """

    duplicate: bool
    of: int = -1
    overlap: float = 0.0
    adds: str = ""


def judge(
    shared: np.ndarray, wordings: list[Wording], threshold: float, protect: bool
) -> list[Verdict]:
    """A verdict for each chunk, best first.

    A chunk is a duplicate if it overlaps a kept one by the threshold or more and, where
    exceptions are protected, adds nothing to *that* one. If it adds something to every
    kept chunk that it overlaps, it stays.

    Args:
        shared: float[n, n], overlaps in [0, 1].
    """
    verdicts: list[Verdict] = []
    near: dict[int, list[int]] = defaultdict(list)
    for i, j in np.argwhere(shared >= threshold).tolist():
        if j < i:
            near[i].append(j)
    for i in range(len(wordings)):
        verdict = Verdict(False)
        for j in near[i]:
            if verdicts[j].duplicate:
                continue
            adds = wordings[i].adds_to(wordings[j]) if protect else ""
            verdict = Verdict(not adds, j, float(shared[i, j]), adds)
            if verdict.duplicate:
                break
        verdicts.append(verdict)
    return verdicts
