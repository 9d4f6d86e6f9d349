"""Bins for documents with more chunks than a figure has room for: each keeps its best chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Bins:
    """Consecutive chunks of one document, cut to columns.

    Attributes:
        edges: int64[columns + 1], ascending places; column i holds edges[i] to edges[i + 1].
    """

    edges: np.ndarray

    @classmethod
    def over(cls, first: int, stop: int, most: int) -> Bins:
        """At most so many columns over the places ``first`` to ``stop`` (exclusive)."""
        n = stop - first
        if n <= most:
            return cls(np.arange(first, stop + 1))
        return cls(first + np.round(np.linspace(0, n, most + 1)).astype(np.int64))

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def widest(self) -> int:
        """Chunks in the widest column."""
        return int(np.diff(self.edges).max()) if len(self) else 0

    def columns(self, rows: np.ndarray) -> np.ndarray:
        """int64[n]: the column of each place."""
        return np.searchsorted(self.edges, rows, side="right") - 1

    def width(self, column: int) -> int:
        """How many chunks a column stands for."""
        return int(self.edges[column + 1] - self.edges[column])

    def best(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Positions in ``rows`` of the best of each occupied column, by column.

        Args:
            rows: int64[n], ascending.
            values: float[n]; NaN is worse than any number, ties go to the first.
        """
        if len(self) == 0 or self.widest <= 1:
            return np.arange(len(rows))
        worth = np.where(np.isnan(values), -np.inf, values)
        columns = self.columns(rows)
        order = np.lexsort((rows, -worth, columns))
        _, first = np.unique(columns[order], return_index=True)
        return order[first]
