"""Late interaction: each token of a question finds its best token in a chunk.

MaxSim is the mean, over the question's tokens, of the best cosine in the chunk
(Khattab and Zaharia 2020, *ColBERT*, section 3.3, which sums where we take the mean, so
that long and short questions share a scale).

A chunk's score is the same to the last bit whichever chunks stand beside it, on any
number of threads: both sides are whole numbers, small enough that every partial sum is
exact in float32, so the order in which a matrix product adds them up cannot matter.
"""

from __future__ import annotations

import numpy as np

_BLOCK = 8192
"""Token states compared at once: bounds the memory at 4 MB and 32 kB a question token."""

_EXACT = 2**24
"""Whole numbers up to here are exact in float32."""


def maxsim(
    query: np.ndarray,
    states: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """MaxSim of one question with ``n`` chunks, float32 [n] in [-1, 1].

    ``query`` is float32 [t, p]; ``states`` int8 [T, p], the chunks' tokens one after
    another; ``offsets`` int64 [n + 1] says where each chunk begins and ends. Rows count
    by direction alone. ``weights`` [t], not negative, make the mean a weighted one. A chunk
    without tokens, or a question without (or of no weight), scores 0.
    """
    return mean_of_best(best_tokens(query, states, offsets)[0], weights)


def mean_of_best(best: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """MaxSim float32 [n] from the best cosines of ``t`` question tokens in ``n`` chunks, [t, n]."""
    shares = np.ones(len(best)) if weights is None else np.asarray(weights, dtype=np.float64)
    # Added up a token at a time, so that the order is fixed.
    total = np.zeros(best.shape[1], dtype=np.float64)
    for share, row in zip(shares, best, strict=True):
        total += share * row
    whole = float(shares.sum())
    return (total / whole if whole > 0 else total).astype(np.float32)


def best_tokens(
    query: np.ndarray, states: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each question token and chunk, the best cosine and which token of the chunk has it.

    Two arrays [t, n]: float32 cosines, and int32 positions counted from the chunk's
    first token. A chunk without tokens has cosine 0 at position -1; of equal cosines
    the first counts. Arguments as for :func:`maxsim`.
    """
    offsets = np.asarray(offsets, dtype=np.int64)
    count = len(offsets) - 1
    best = np.zeros((len(query), count), dtype=np.float32)
    where = np.full((len(query), count), -1, dtype=np.int32)
    if not len(query):
        return best, where
    whole, scale = _whole_numbers(query, states.shape[1])
    filled = np.flatnonzero(np.diff(offsets) > 0)
    for group in _groups(filled, offsets):
        begin, end = offsets[group[0]], offsets[group[-1] + 1]
        cosines = _cosines(whole, scale, states[begin:end])
        for chunk in group:
            low, high = offsets[chunk] - begin, offsets[chunk + 1] - begin
            part = cosines[:, low:high]
            where[:, chunk] = part.argmax(axis=1)
            best[:, chunk] = part.max(axis=1)
    return best, where


def _whole_numbers(query: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Question tokens as whole numbers in float32 [t, p], and one over their lengths [t]."""
    steps = (_EXACT - 1) // (127 * width)
    rows = np.asarray(query, dtype=np.float32)
    peaks = np.abs(rows).max(axis=1, keepdims=True)
    whole = np.rint(rows * (steps / np.where(peaks > 0, peaks, 1.0))).astype(np.float32)
    squares = np.einsum("ij,ij->i", whole, whole, dtype=np.float64)
    return whole, 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))


def _cosines(whole: np.ndarray, scale: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Cosines float32 [t, rows]."""
    rows = np.asarray(states).astype(np.float32)
    squares = np.einsum("ij,ij->i", rows, rows)  # exact: at most p · 127²
    inverse = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0).astype(np.float64))
    return ((whole @ rows.T) * inverse * scale[:, None]).astype(np.float32)


def _groups(filled: np.ndarray, offsets: np.ndarray):
    """Runs of neighbouring chunks of at most ``_BLOCK`` tokens together (or one chunk)."""
    group: list[int] = []
    for chunk in filled.tolist():
        if group and (
            offsets[chunk + 1] - offsets[group[0]] > _BLOCK
            or offsets[chunk] != offsets[group[-1] + 1]
        ):
            yield group
            group = []
        group.append(chunk)
    if group:
        yield group
