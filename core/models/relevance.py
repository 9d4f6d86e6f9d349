"""Relevance: a calibrated probability that a chunk bears on the question.

A min-max score compares chunks of one question; relevance means the same for every
question. It is a logistic function of raw numbers, fitted by ``benchmarks/calibration.py``
on questions with known evidence, where its reliability is drawn too.
"""

from __future__ import annotations

import numpy as np

from core.models.protocols import RerankRequest

FEATURES = ("cosine", "maxsim", "coverage", "best_cosine", "best_maxsim", "best_coverage")
"""A chunk's own numbers, then the best of each among the candidates."""

COEFFICIENTS: dict[str, tuple[float, ...]] = {
    "piecewise": (0.0, 4.0, 4.0, 2.0, 0.0, 2.0, 2.0),
    "listwise": (0.0, 4.0, 4.0, 2.0, 0.0, 2.0, 2.0),
    "context": (0.0, 4.0, 4.0, 2.0, 0.0, 2.0, 2.0),
}
"""For each kind of reranker the intercept and one weight a feature."""


def features(request: RerankRequest, raw: np.ndarray) -> np.ndarray:
    """float64[n, 6]: :data:`FEATURES` of each chunk."""
    own = np.column_stack([request.dense, raw, request.coverage])
    best = np.broadcast_to(np.nanmax(own, axis=0), own.shape)
    return np.hstack([own, best])


def relevance(kind: str, request: RerankRequest, raw: np.ndarray) -> np.ndarray:
    """float64[n] in [0, 1]: the probability of each chunk, for a kind of embedded reranker."""
    intercept, *weights = COEFFICIENTS[kind]
    return 1.0 / (1.0 + np.exp(-(intercept + features(request, raw) @ np.array(weights))))
