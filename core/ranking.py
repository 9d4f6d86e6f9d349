"""Order, ties, normalisation and fusion: one rule for every stage.

Ties break by score, source priority, document id and ordinal, so the same question
gives the same trace whatever order the files came in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def descending(scores: np.ndarray, tiebreak: np.ndarray | None = None) -> np.ndarray:
    """Row numbers, best first. NaN goes last; equal scores keep ``tiebreak`` order.

    Args:
        scores: float[n], larger is better.
        tiebreak: int[n], smaller first. Row number where not given.
    """
    scores = np.asarray(scores, dtype=np.float64)
    keys = np.where(np.isnan(scores), np.inf, -scores)
    tiebreak = np.arange(len(scores)) if tiebreak is None else tiebreak
    return np.lexsort((tiebreak, keys))


def ranks(order: np.ndarray) -> np.ndarray:
    """int[n]: each row's rank, from 1, given the rows best first."""
    out = np.empty(len(order), dtype=np.int64)
    out[order] = np.arange(1, len(order) + 1)
    return out


def min_max(scores: np.ndarray) -> np.ndarray:
    """Scores scaled to [0, 1] over the finite ones.

    Equal scores say nothing about the order, so they all become 0.5 and not 1; what is
    not finite becomes NaN, for the caller to flag.
    """
    scores = np.asarray(scores, dtype=np.float64)
    scores = np.where(np.isfinite(scores), scores, np.nan)
    finite = scores[~np.isnan(scores)]
    if not len(finite):
        return scores
    low, high = finite.min(), finite.max()
    if high - low <= 1e-12:
        return np.where(np.isnan(scores), np.nan, 0.5)
    return (scores - low) / (high - low)


def reciprocal_rank_fusion(rank_lists: list[np.ndarray], k: int) -> np.ndarray:
    """float[n]: the sum over lists of ``1 / (k + rank)`` (Cormack et al., SIGIR 2009)."""
    return sum(1.0 / (k + r.astype(np.float64)) for r in rank_lists)


def weighted_sum(parts: list[tuple[float, np.ndarray]]) -> np.ndarray:
    """float[n] in [0, 1]: the weighted mean of scores that lie in [0, 1].

    Where every weight is 0 nothing tells the rows apart: all get 0.5. A part of weight 0
    takes no part, not even with its NaN.
    """
    total = sum(weight for weight, _ in parts)
    if total <= 0:
        return np.full(len(parts[0][1]), 0.5)
    return sum(weight * scores for weight, scores in parts if weight) / total


def smoothed_by_neighbours(
    scores: np.ndarray, places: list[tuple[str, int]], share: float
) -> np.ndarray:
    """Scores plus ``share`` × (½ of each neighbour one chunk away + ¼ of each two away).

    Args:
        scores: float[n].
        places: for each row its document and ordinal; only rows present count as neighbours.
        share: in [0, 1]; 0 changes nothing. A neighbour without a finite score gives none.
    """
    out = np.asarray(scores, dtype=np.float64).copy()
    given = np.where(np.isfinite(out), out, 0.0) * share
    steps = (-1, 1, -2, 2)
    for weight, at in zip((0.5, 0.5, 0.25, 0.25), neighbours(places, steps), strict=True):
        out += np.where(at >= 0, weight * given[at], 0.0)
    return out


def neighbours(places: list[tuple[str, int]], steps: Sequence[int]) -> list[np.ndarray]:
    """For each step of at most two chunks, which row stands that far on: int64[n], -1 for none.

    ``places`` are as in :func:`smoothed_by_neighbours`.
    """
    documents = {document: i for i, document in enumerate(dict.fromkeys(d for d, _ in places))}
    # Chunks of one document are neighbours on one number line, and no two documents touch.
    reach = 3 + max((ordinal for _, ordinal in places), default=0)
    line = np.array([documents[d] * reach + ordinal for d, ordinal in places], dtype=np.int64)
    by_place = np.argsort(line, kind="stable")
    ordered = line[by_place]
    found = []
    for step in steps:
        at = np.minimum(np.searchsorted(ordered, line + step), len(line) - 1)
        found.append(np.where(ordered[at] == line + step, by_place[at], -1))
    return found
