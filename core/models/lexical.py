"""Lexical weights of stretches of text from the weights of their tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.models.states import LexicalWeights


class Weighed:
    """Tokens with a weight each; a stretch has of each token the largest (BGE-M3, section 3).

    Args:
        ids: int64 [t] token ids. weights: float32 [t].
        ignored: tokens that count for nothing.
    """

    def __init__(self, ids: np.ndarray, weights: np.ndarray, ignored: Sequence[int]) -> None:
        self._ids = np.asarray(ids, dtype=np.int32)
        counts = np.isfinite(weights) & ~np.isin(self._ids, list(ignored))
        self._weights = np.where(counts, weights, 0).astype(np.float32)

    def of(self, bounds: Sequence[tuple[int, int]]) -> LexicalWeights:
        """The weights of stretches, each given by its first token and one past its last."""
        ids, weights, offsets = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], [0]
        for low, high in bounds:
            held, kind = np.unique(self._ids[low:high], return_inverse=True)
            most = np.zeros(len(held), dtype=np.float32)
            np.maximum.at(most, kind, self._weights[low:high])
            ids.append(held[most > 0])
            weights.append(most[most > 0])
            offsets.append(offsets[-1] + len(ids[-1]))
        return LexicalWeights(
            np.concatenate(ids), np.concatenate(weights), np.array(offsets, dtype=np.int64)
        )
