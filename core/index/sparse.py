"""Lexical weights of all chunks, by token: what an encoder such as BGE-M3 learnt to weigh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.models.states import LexicalWeights


class SparseIndex:
    """The weights of ``n`` chunks, sorted by token, then chunk."""

    def __init__(self, ids: np.ndarray, rows: np.ndarray, weights: np.ndarray, n: int) -> None:
        order = np.lexsort((rows, ids))
        self._ids, self._rows, self._weights = ids[order], rows[order], weights[order]
        self.n = n

    @classmethod
    def merge(cls, parts: Sequence[LexicalWeights]) -> SparseIndex:
        """One index of all parts' chunks, in their order."""
        n = sum(len(p) for p in parts)
        counts = [np.diff(p.offsets) for p in parts]
        rows = np.repeat(np.arange(n), np.concatenate(counts) if counts else [])
        ids = np.concatenate([p.ids for p in parts] or [np.zeros(0, np.int32)])
        weights = np.concatenate([p.weights for p in parts] or [np.zeros(0, np.float32)])
        return cls(ids, rows, weights, n)

    def scores(self, query: LexicalWeights) -> np.ndarray:
        """float64[n], 0 or more: the sum, over tokens that a chunk and the question share, of the
        product of their weights (Chen et al. 2024, section 3.1)."""
        out = np.zeros(self.n)
        low = np.searchsorted(self._ids, query.ids, side="left")
        high = np.searchsorted(self._ids, query.ids, side="right")
        for a, b, weight in zip(low, high, query.weights, strict=True):
            # A token stands once in a chunk's list, so no row comes twice.
            out[self._rows[a:b]] += self._weights[a:b].astype(np.float64) * float(weight)
        return out
