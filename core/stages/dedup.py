"""Stage 7, dedup: near-duplicates of a better-ranked chunk go, unless they add an exception.

The measure is the overlap coefficient over words, |A ∩ B| / min(|A|, |B|), as in the second
article; MinHash estimates the same from ``PERMUTATIONS`` hashes for large sets.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.settings import Settings
from core.stages.base import Run, State, chunks_of, entry, passed_on, selection
from core.stages.exceptions import Wording, wording
from core.trace import DROPPED, StageRecord

PERMUTATIONS = 256


def dedup(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Keeps the best-ranked of each group of near-duplicates; the record names it."""
    knobs = settings.of_groups("dedup")
    if settings.dedup_method == "off" or len(state.candidates) < 2:
        return passed_on("dedup", state, knobs)
    wordings = [run.index.derived(c, "wording", wording) for c in chunks_of(run, state.candidates)]
    measure = overlap if settings.dedup_method == "overlap" else minhash_overlap
    shared = measure(tuple(w.words for w in wordings))
    verdicts = judge(shared, wordings, settings.dedup_threshold, settings.protect_exceptions)
    kept, dropped, reasons = [], [], {}
    for candidate, verdict in zip(state.candidates, verdicts, strict=True):
        twin = state.candidates[verdict.of].chunk_id if verdict.of >= 0 else ""
        if verdict.duplicate:
            dropped.append(
                entry(
                    candidate,
                    DROPPED,
                    reason=f"shares {verdict.overlap:.0%} of its words with a better one",
                    cause=twin,
                    margin=settings.dedup_threshold - verdict.overlap,
                )
            )
            continue
        kept.append(candidate)
        if verdict.adds:
            reasons[candidate.chunk_id] = (
                f"kept although it shares {verdict.overlap:.0%} of its words with {twin}: "
                f"it adds {verdict.adds}"
            )
    return selection("dedup", state, kept, dropped, knobs, reasons)


@dataclass(frozen=True, slots=True)
class Verdict:
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
    kept: list[int] = []
    for i in range(len(wordings)):
        verdict = Verdict(False)
        near = [j for j in kept if shared[i, j] >= threshold]
        for j in near:
            adds = wordings[i].adds_to(wordings[j]) if protect else ""
            verdict = Verdict(not adds, j, float(shared[i, j]), adds)
            if verdict.duplicate:
                break
        verdicts.append(verdict)
        if not verdict.duplicate:
            kept.append(i)
    return verdicts


def overlap(sets: Sequence[frozenset[str]]) -> np.ndarray:
    """float32[n, n], read-only: the overlap coefficients of word sets; 0 with an empty set."""
    return _overlap(tuple(sets))


@lru_cache(maxsize=4)  # a threshold that is moved asks for the same sets again
def _overlap(sets: tuple[frozenset[str], ...]) -> np.ndarray:
    # Sets as rows of bits: counting common bits needs no floating point and no BLAS thread.
    ids = {word: at for at, word in enumerate(frozenset().union(*sets))}
    present = np.zeros((len(sets), -(-max(1, len(ids)) // 64) * 64), dtype=bool)
    for row, words in zip(present, sets, strict=True):
        row[[ids[word] for word in words]] = True
    bits = np.packbits(present, axis=1).view(np.uint64)
    common = np.empty((len(sets), len(sets)), dtype=np.float32)
    for row in range(len(sets)):
        both = np.bitwise_count(bits[row] & bits[: row + 1]).sum(axis=1, dtype=np.int64)
        common[row, : row + 1] = common[: row + 1, row] = both
    shared = _coefficient(common, sets)
    shared.flags.writeable = False
    return shared


def minhash_overlap(sets: Sequence[frozenset[str]]) -> np.ndarray:
    """float32[n, n]: overlap coefficients estimated from MinHash (Broder 1997).

    The share of equal minima estimates the Jaccard index J; with the sizes known,
    |A ∩ B| = J (|A| + |B|) / (1 + J).
    """
    rng = np.random.default_rng(20_260_301)
    a = rng.integers(1, 2**31 - 1, PERMUTATIONS, dtype=np.uint64)
    b = rng.integers(0, 2**31 - 1, PERMUTATIONS, dtype=np.uint64)
    prime = np.uint64(2**31 - 1)
    signatures = np.full((len(sets), PERMUTATIONS), np.iinfo(np.uint64).max, dtype=np.uint64)
    for row, words in enumerate(sets):
        if words:
            hashes = np.array([zlib.crc32(w.encode()) for w in words], dtype=np.uint64) % prime
            signatures[row] = ((hashes[:, None] * a + b) % prime).min(axis=0)
    jaccard = (signatures[:, None, :] == signatures[None, :, :]).mean(axis=2, dtype=np.float32)
    sizes = np.array([len(s) for s in sets], dtype=np.float32)
    common = jaccard * (sizes[:, None] + sizes[None, :]) / (1 + jaccard)
    return _coefficient(common, sets)


def _coefficient(common: np.ndarray, sets: Sequence[frozenset[str]]) -> np.ndarray:
    sizes = np.array([len(s) for s in sets], dtype=np.float32)
    smaller = np.minimum(sizes[:, None], sizes[None, :])
    return np.where(smaller > 0, np.minimum(1, common / np.maximum(1, smaller)), 0)
