"""Shrinking token states: one fixed projection, then eight bits a number.

``projection.npy`` is float32 [384, 128]: flattened principal components, fitted by
``tools/fit_projection.py``. What is kept of a state is its direction, not its length.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import numpy as np

DIMENSIONS = 128
FITTED = Path(__file__).with_name("projection.npy")


@cache
def projection_for(dimensions: int) -> np.ndarray:
    """The projection for states of ``dimensions`` numbers, float32 [dimensions, ≤ 128].

    The fitted one where its size is right; the identity where nothing needs to shrink;
    otherwise fixed random orthonormal columns, which keep angles less well.
    """
    fitted = np.load(FITTED, allow_pickle=False)
    if fitted.shape[0] == dimensions:
        return fitted
    if dimensions <= DIMENSIONS:
        return np.eye(dimensions, dtype=np.float32)
    gaussian = np.random.Generator(np.random.PCG64(0)).standard_normal((dimensions, DIMENSIONS))
    return np.linalg.qr(gaussian)[0].astype(np.float32)


WIDEST = 1024
"""Numbers of a token state that are kept as they are, for encoders without a fitted projection."""


@cache
def fixed_projection(dimensions: int) -> np.ndarray | None:
    """For encoders of unknown kind: None up to 1,024 numbers, which are then all kept.

    Wider states go through fixed random orthonormal columns, float32 [dimensions, 1024]. Fewer
    would save disk, at a byte a number and token, and cost ranks: 128 of 384 cost 1.6 points
    (± 0.8) of recall within 1,000 tokens (``benchmarks/state_width.py``).
    """
    if dimensions <= WIDEST:
        return None
    gaussian = np.random.Generator(np.random.PCG64(0)).standard_normal((dimensions, WIDEST))
    return np.linalg.qr(gaussian)[0].astype(np.float32)


def digest(matrix: np.ndarray) -> str:
    """Hex digits that change with any number of ``matrix``."""
    return hashlib.sha256(np.ascontiguousarray(matrix).tobytes()).hexdigest()


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Float32 rows of unit length; a row of zeros stays one."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return (rows / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)


def quantise(rows: np.ndarray) -> np.ndarray:
    """Int8 [n, p] in the directions of float ``rows`` [n, p]: round(127 · v / max |v|)."""
    rows = np.asarray(rows, dtype=np.float32)
    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    return np.rint(rows * (127.0 / np.where(peaks > 0, peaks, 1.0))).astype(np.int8)
