"""Relevance: a calibrated probability, which means the same for every question.

A min-max score compares the chunks of one question; its best is always 1. Relevance
answers whether the documents answer the question at all: a logistic function of the best
raw cosine, MaxSim and term coverage among the candidates, fitted by
``benchmarks/calibration.py`` on questions asked of documents that answer them and of
documents that do not. A chunk's own relevance is that probability, with the odds lowered
by how much less the chunk itself matches than the best do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.models.protocols import RerankRequest


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fit. Each weight is in log-odds a unit of (cosine, MaxSim, coverage).

    ``answered`` weighs the best of each among the candidates; ``own`` weighs how far a
    chunk stays behind the best. Both are at least 0, so that a better match is never less
    relevant.
    """

    intercept: float
    answered: tuple[float, float, float]
    own: tuple[float, float, float]


# MaxSim of states that were read in context has its own scale; for what was read alone
# or in retrieval order, cosine and coverage carry the fit by themselves.
IN_CONTEXT = Calibration(-12.36, (14.15, 6.661, 8.829), (3.492, 0.996, 1.935))
OTHERWISE = Calibration(-10.385, (15.694, 0.0, 10.797), (3.814, 0.0, 2.281))
FITS = {"context": IN_CONTEXT, "piecewise": OTHERWISE, "listwise": OTHERWISE}


def calibrated(fit: Calibration, matches: np.ndarray) -> np.ndarray:
    """float64[n] in [0, 1]: the relevance of each chunk.

    Args:
        matches: float64[n, 3]: raw cosine, MaxSim and coverage of each candidate.
    """
    best = np.nanmax(matches, axis=0)
    odds = fit.intercept + best @ np.array(fit.answered) + (matches - best) @ np.array(fit.own)
    return 1.0 / (1.0 + np.exp(-odds))


def relevance(kind: str, request: RerankRequest, raw: np.ndarray) -> np.ndarray:
    """float64[n] in [0, 1]: the relevance that a kind of embedded reranker gives."""
    matches = np.column_stack([request.dense, raw, request.coverage])
    return calibrated(FITS[kind], matches)
