"""One document's strip of the map, and what each of its rows shows in a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.figures.bins import Bins
from dashboard.figures.rows import MapRow
from dashboard.figures.stack import Band
from dashboard.lookup import Place


@dataclass(frozen=True)
class Strip:
    """A stretch of one document. ``span`` is its ordinals, the last exclusive."""

    place: Place
    span: tuple[int, int]
    rows: tuple[MapRow, ...]
    bands: tuple[Band, ...]
    bins: Bins

    @classmethod
    def of(
        cls,
        place: Place,
        first: int,
        stop: int,
        rows: Sequence[MapRow],
        stack: Sequence[Band],
        most: int,
    ) -> Strip:
        bins = Bins.over(place.first + first, place.first + stop, most)
        return cls(place, (first, stop), tuple(rows), tuple(stack), bins)

    @property
    def height(self) -> float:
        return self.bands[-1].bottom if self.bands else 0.0

    @property
    def corpus_rows(self) -> tuple[int, int]:
        return self.place.first + self.span[0], self.place.first + self.span[1]

    @property
    def edges(self) -> np.ndarray:
        """float[columns + 1]: the columns' borders on the axis, where chunk n stands at n."""
        return self.bins.edges - self.place.first + 0.5

    def counts(self) -> list[int]:
        """Chunks in each row; of the BM25 row, those that hold a term of the question."""
        cells = [row.cells.between(*self.corpus_rows) for row in self.rows]
        return [
            int((c.scores > 0).sum()) if row.name == "bm25" else len(c)
            for row, c in zip(self.rows, cells, strict=True)
        ]

    def centres(self, columns: np.ndarray) -> np.ndarray:
        edges = self.edges
        return (edges[columns] + edges[columns + 1]) / 2


@dataclass(frozen=True)
class Shown:
    """A row's cells in this strip, the best of each column.

    ``shared`` are the columns in which the row has a mark as well.
    """

    row: MapRow
    band: Band
    columns: np.ndarray
    rows: np.ndarray
    scores: np.ndarray
    levels: np.ndarray
    ranks: np.ndarray
    shared: frozenset[int]

    @classmethod
    def of(cls, row: MapRow, band: Band, strip: Strip) -> Shown:
        first, stop = strip.corpus_rows
        cells = row.cells.between(first, stop)
        best = strip.bins.best(cells.rows, cells.levels)
        rows = cells.rows[best]
        columns = strip.bins.columns(rows)
        marked = [m.row for m in row.marks if first <= m.row < stop]
        marks = strip.bins.columns(np.array(marked, dtype=np.int64))
        return cls(
            row,
            band,
            columns,
            rows,
            cells.scores[best],
            cells.levels[best],
            cells.ranks[best],
            frozenset(np.intersect1d(columns, marks).tolist()),
        )
