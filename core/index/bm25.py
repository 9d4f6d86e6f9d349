"""BM25 over the chunks of many documents, through a sparse matrix kept by term.

A term t gives a chunk of ``len`` terms that holds it f times

    idf(t) · f · (k1 + 1) / (f + k1 · (1 − b + b · len / avgdl))

(S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009)
with the IDF of :func:`core.index.term_counts.inverse_document_frequency`, which is never
negative. A chunk's score is the sum over the terms of the question.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.index.term_counts import TermCounts, count_terms, inverse_document_frequency

__all__ = ["BM25Index", "TermCounts", "TermScore", "count_terms", "inverse_document_frequency"]

# What each term gives each chunk is remembered per (k1, b), up to this many bytes.
_MEMORY = 128 << 20
# A term in more than one chunk of this many is kept as a dense column: adding a whole column
# in order is then quicker than adding scattered entries.
_DENSE = 6


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one term of the question gave one chunk.

    ``count`` is how often the chunk holds the term, ``document_frequency`` how many chunks do;
    ``score`` is 0 where ``count`` is.
    """

    term: str
    count: int
    document_frequency: int
    idf: float
    score: float


class BM25Index:
    """The joined statistics of ``n`` chunks. Immutable; safe to share between threads.

    Only what is merged takes part: a document left out leaves no mark on any score.
    """

    def __init__(
        self,
        column: dict[str, int],
        starts: np.ndarray,
        rows: np.ndarray,
        counts: np.ndarray,
        lengths: np.ndarray,
    ) -> None:
        """Use :meth:`merge`. Entries ``starts[c]`` to ``starts[c + 1]`` are of term ``c``."""
        self._column, self._starts = column, starts
        self._rows, self._counts, self._lengths = rows, counts, lengths
        self.average_length = float(lengths.mean()) if len(lengths) else 0.0
        """The mean number of terms a chunk; 0 without chunks."""
        self._remembered: OrderedDict[tuple, tuple[np.ndarray | None, np.ndarray]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @classmethod
    def merge(cls, parts: Sequence[TermCounts]) -> BM25Index:
        """Join documents; the rows stand in the order of ``parts``, each part's in its own."""
        column: dict[str, int] = {}
        columns, rows, first = [], [], 0
        for part in parts:
            new = [term for term in part.vocabulary if term not in column]
            column.update(zip(new, range(len(column), len(column) + len(new)), strict=True))
            ids = np.fromiter(map(column.__getitem__, part.vocabulary), np.int64)
            columns.append(ids[part.indices])
            rows.append(np.repeat(np.arange(first, first + part.n), np.diff(part.indptr)))
            first += part.n
        # One sort of packed integers, column above position, is the quickest transposition
        # that numpy has; the position keeps rows ascending within a column.
        packed = np.concatenate([*columns, np.zeros(0, np.int64)]) << 32
        packed += np.arange(len(packed))
        packed.sort()
        order = packed & 0xFFFFFFFF
        sizes = np.bincount(packed >> 32, minlength=len(column))
        return cls(
            column=column,
            starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            rows=_joined(rows, np.int32)[order],
            counts=_joined([part.counts for part in parts], np.int32)[order],
            lengths=_joined([part.lengths for part in parts], np.float64),
        )

    @property
    def n(self) -> int:
        """The number of chunks."""
        return len(self._lengths)

    def document_frequency(self, term: str) -> int:
        """How many chunks hold ``term`` (an analysed one); 0 for a term that none holds."""
        at = self._column.get(term)
        return 0 if at is None else int(self._starts[at + 1] - self._starts[at])

    def scores(self, terms: Sequence[str], k1: float = 1.5, b: float = 0.75) -> np.ndarray:
        """The score of every chunk, float64[n], at least 0; a repeated term counts again.

        ``terms`` come from :func:`core.index.analyse.analyse_query`. ``k1`` is at least 0 and
        ``b`` in [0, 1]; ValueError otherwise. With ``k1`` or ``b`` new, only what these terms
        give is computed anew.
        """
        _check(k1, b)
        total = np.zeros(self.n)
        for term in terms:
            at = self._column.get(term)
            if at is None:
                continue
            rows, impacts = self._impacts(at, k1, b)
            if rows is None:
                total += impacts
            else:
                np.add.at(total, rows, impacts)
        return total

    def explain(
        self, row: int, terms: Sequence[str], k1: float = 1.5, b: float = 0.75
    ) -> list[TermScore]:
        """What each of ``terms``, in order, gave chunk ``row``: the scores add up to its score.

        Raises IndexError for a row out of [0, n).
        """
        _check(k1, b)
        if not 0 <= row < self.n:
            raise IndexError(f"row {row} is not one of the {self.n} chunks")
        return [self._explain_term(row, term, k1, b) for term in terms]

    def _explain_term(self, row: int, term: str, k1: float, b: float) -> TermScore:
        frequency = self.document_frequency(term)
        idf = inverse_document_frequency(frequency, self.n)
        if not frequency:
            return TermScore(term, 0, 0, idf, 0.0)
        at = self._column[term]
        first, last = self._starts[at], self._starts[at + 1]
        found = first + np.searchsorted(self._rows[first:last], row)
        if found == last or self._rows[found] != row:
            return TermScore(term, 0, frequency, idf, 0.0)
        one = slice(found, found + 1)
        score = self._formula(self._rows[one], self._counts[one], idf, k1, b)
        return TermScore(term, int(self._counts[found]), frequency, idf, float(score[0]))

    def _formula(
        self, rows: np.ndarray, counts: np.ndarray, idf: float, k1: float, b: float
    ) -> np.ndarray:
        length = self._lengths[rows] / self.average_length
        return idf * counts * (k1 + 1.0) / (counts + k1 * (1.0 - b + b * length))

    def _impacts(self, at: int, k1: float, b: float) -> tuple[np.ndarray | None, np.ndarray]:
        """Rows and what term ``at`` gives each of them; no rows means a value for every chunk."""
        key = (k1, b, at)
        with self._lock:
            if (known := self._remembered.get(key)) is not None:
                self._remembered.move_to_end(key)
                return known
        first, last = int(self._starts[at]), int(self._starts[at + 1])
        rows: np.ndarray | None = self._rows[first:last].astype(np.intp)
        idf = inverse_document_frequency(last - first, self.n)
        impacts = self._formula(rows, self._counts[first:last], idf, k1, b)
        if (last - first) * _DENSE > self.n:
            dense = np.zeros(self.n)
            dense[rows] = impacts
            rows, impacts = None, dense
        self._remember(key, (rows, impacts))
        return rows, impacts

    def _remember(self, key: tuple, value: tuple[np.ndarray | None, np.ndarray]) -> None:
        with self._lock:
            if key in self._remembered:  # another thread was quicker
                return
            self._remembered[key] = value
            self._bytes += _size(value)
            while self._bytes > _MEMORY:
                self._bytes -= _size(self._remembered.popitem(last=False)[1])


def _joined(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([*arrays, np.zeros(0, dtype)]).astype(dtype, copy=False)


def _size(value: tuple[np.ndarray | None, np.ndarray]) -> int:
    rows, impacts = value
    return impacts.nbytes + (0 if rows is None else rows.nbytes)


def _check(k1: float, b: float) -> None:
    if not (0.0 <= k1 < float("inf") and 0.0 <= b <= 1.0):
        raise ValueError(f"BM25 needs k1 of at least 0 and b in [0, 1], not k1={k1}, b={b}")
