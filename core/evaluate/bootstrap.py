"""Bootstrap intervals of means over questions, and of paired differences.

Questions are drawn again, with replacement, as many as there are. Recall is mostly 1 and seldom
0. BCa intervals (bias corrected and accelerated, Efron 1987) reach far enough on the long side
of such values, and not far enough on the short one: three questions of hundreds would make a
difference. Percentile intervals err the other way. Each end is that of the wider one. All columns
share their draws, so that pairs stay pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from statistics import NormalDist

import numpy as np

DRAWS, SEED, LEVEL = 10_000, 20_260, 0.95

_BLOCK = 4_000_000
"""Counts held at once."""

_EQUAL = 1e-12
"""A drawn mean nearer to the true one than this is equal to it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its interval, ``low <= mean <= high``."""

    mean: float
    low: float
    high: float

    @property
    def differs(self) -> bool:
        """Whether 0 lies outside: of a difference, whether it is one."""
        return self.low > 0 or self.high < 0


def figures(
    values: np.ndarray, *, draws: int = DRAWS, level: float = LEVEL, seed: int = SEED
) -> list[Figure]:
    """The mean of each column with its interval.

    Args:
        values: float[questions, columns], all finite.
        level: the share of intervals that hold the true mean, in (0, 1).

    Raises:
        ValueError: no question.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or not len(values):
        raise ValueError("an interval needs at least one question")
    # Exact sums, so that no column's mean depends on the others' place in memory.
    middle = np.array([fsum(column) for column in values.T]) / len(values)
    apart = values - middle
    drawn = _drawn_means(apart, draws, seed)
    drawn[np.abs(drawn) < _EQUAL] = 0.0
    normal = NormalDist()
    out = []
    for column, mean, spread, means in zip(values.T, middle, apart.T, drawn.T, strict=True):
        if np.ptp(column) == 0:  # nothing is uncertain, and no sum is to be rounded
            out.append(Figure(*[float(column[0])] * 3))
            continue
        below = ((means < 0).mean() + (means <= 0).mean()) / 2
        bias = normal.inv_cdf(min(max(below, 1 / draws), 1 - 1 / draws))
        cubes, squares = (spread**3).sum(), (spread**2).sum()
        # The jackknife's values of a mean are (n·mean − x)/(n − 1): their skewness is −x's.
        acceleration = cubes / (6 * squares**1.5)
        ends = [(1 - level) / 2, (1 + level) / 2]
        for tail in ends[:2]:
            z = bias + normal.inv_cdf(tail)
            ends.append(normal.cdf(bias + z / (1 - acceleration * z)))
        reached = mean + np.quantile(means, ends)
        reached[np.abs(reached) < _EQUAL] = 0.0  # an end at 0 is at 0, on neither side of it
        out.append(Figure(float(mean), float(min(*reached, mean)), float(max(*reached, mean))))
    return out


def _drawn_means(values: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """float64[draws, columns]: the means of questions drawn with replacement."""
    n = len(values)
    rng = np.random.default_rng(seed)
    block = max(1, min(draws, _BLOCK // n))
    parts = []
    for at in range(0, draws, block):
        counts = rng.multinomial(n, np.full(n, 1 / n), size=min(block, draws - at))
        parts.append(counts @ values / n)
    return np.concatenate(parts)
