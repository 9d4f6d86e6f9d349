"""How much two texts repeat each other: the overlap coefficient over their words.

|A ∩ B| / min(|A|, |B|), as in the second article; MinHash estimates the same from
``PERMUTATIONS`` hashes for large sets.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence

import numpy as np

from core.index.index import Index
from core.records import Chunk
from core.stages.exceptions import wording

PERMUTATIONS = 256


def overlap(sets: Sequence[frozenset[str]]) -> np.ndarray:
    """float32[n, n]: the overlap coefficients of word sets; 0 with an empty set."""
    return Overlaps().among([str(i) for i in range(len(sets))], sets)


def shared_words(index: Index, chunks: Sequence[Chunk], method: str = "overlap") -> np.ndarray:
    """float32[n, n]: the coefficients of an index's chunks, by ``dedup_method``; overlaps that
    were counted before are kept with the index."""
    sets = [index.derived(c, "wording", wording).words for c in chunks]
    if method != "overlap":
        return minhash_overlap(sets)
    return index.once("overlaps", Overlaps).among([c.id for c in chunks], sets)


class Overlaps:
    """Overlap coefficients of named word sets, each pair counted once.

    A moved knob asks again about chunks of which most were compared before. May be shared by
    threads.

    Args:
        limit: how many sets are remembered; one more, and all are forgotten.
    """

    def __init__(self, limit: int = 400) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._forget(0)

    def among(self, names: Sequence[str], sets: Sequence[frozenset[str]]) -> np.ndarray:
        """float32[n, n]: the coefficients of these sets. A name always stands for one set."""
        with self._lock:
            new = {n: s for n, s in zip(names, sets, strict=True) if n not in self._rows}
            if len(self._rows) + len(new) > len(self._common):
                self._forget(len(names))
                new = dict(zip(names, sets, strict=True))
            self._remember(new)
            rows = np.array([self._rows[name] for name in names], dtype=np.int64)
            block = np.ix_(rows, rows)
            bits = self._bits[rows]
            for i in np.flatnonzero((self._common[block] < 0).any(axis=1)):
                # Counting common bits needs no floating point and no BLAS thread.
                both = np.bitwise_count(bits[i] & bits).sum(axis=1, dtype=np.int64)
                self._common[rows[i], rows] = self._common[rows, rows[i]] = both
            common = self._common[block]
        return _coefficient(common, sets)

    def _forget(self, at_least: int) -> None:
        size = max(self._limit, at_least)
        self._rows: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._bits = np.zeros((size, 0), dtype=np.uint64)
        self._common = np.full((size, size), -1, dtype=np.float32)

    def _remember(self, new: dict[str, frozenset[str]]) -> None:
        """Sets as rows of bits, a bit a word."""
        for word in frozenset().union(*new.values()):
            self._ids.setdefault(word, len(self._ids))
        width = -(-len(self._ids) // 64)
        if (wider := width - self._bits.shape[1]) > 0:
            self._bits = np.pad(self._bits, ((0, 0), (0, wider)))
        for name, words in new.items():
            row = self._rows[name] = len(self._rows)
            present = np.zeros(self._bits.shape[1] * 64, dtype=bool)
            present[[self._ids[word] for word in words]] = True
            self._bits[row] = np.packbits(present).view(np.uint64)


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
