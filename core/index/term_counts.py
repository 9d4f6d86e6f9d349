"""How often each term stands in each chunk of one document.

Nothing here depends on any other document, so that adding, removing or hiding a document
leaves the counts of the others as they are; :mod:`core.index.bm25` joins them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from rank_bm25 import BM25

from core.index.analyse import analyse


def inverse_document_frequency(document_frequency: int, n: int) -> float:
    """``log(1 + (N − n_t + 0.5) / (n_t + 0.5))``: above 0 for every term, however common.

    ``document_frequency`` (n_t) is the number of chunks that hold the term, of ``n`` (N). It is
    the IDF of Robertson and Sparck Jones with 1 added inside the logarithm, as Lucene does.
    """
    return math.log(1.0 + (n - document_frequency + 0.5) / (document_frequency + 0.5))


class TermStatistics(BM25):
    """rank-bm25's statistics (``doc_freqs``, ``doc_len``, ``avgdl``) with an IDF above 0.

    Scores are not computed here: rank-bm25 does so in one Python loop over all chunks a term.
    """

    def _initialize(self, corpus: Iterable[Sequence[str]]) -> dict[str, int]:
        try:
            return super()._initialize(corpus)
        except ZeroDivisionError:  # no chunk at all: there is no average length, nor a term
            return {}

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {
            term: inverse_document_frequency(frequency, self.corpus_size)
            for term, frequency in nd.items()
        }


@dataclass(frozen=True, eq=False)
class TermCounts:
    """The term counts of ``n`` chunks as a sparse matrix, a row a chunk (CSR).

    vocabulary  the distinct terms, sorted
    indptr      int64[n + 1]: row ``i`` holds the entries ``indptr[i]`` to ``indptr[i + 1]``
    indices     int32[nnz]: the entry's term, a position in ``vocabulary``
    counts      int32[nnz]: how often the chunk holds it, from 1
    lengths     int32[n]: the terms of each chunk, repeats included
    """

    vocabulary: tuple[str, ...]
    indptr: np.ndarray
    indices: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray

    @property
    def n(self) -> int:
        """The number of chunks."""
        return len(self.lengths)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays for ``numpy.savez``. Terms hold no white space: one a line, in UTF-8."""
        return {
            "vocabulary": np.frombuffer("\n".join(self.vocabulary).encode(), dtype=np.uint8),
            "indptr": self.indptr,
            "indices": self.indices,
            "counts": self.counts,
            "lengths": self.lengths,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> TermCounts:
        """The counts that :meth:`to_arrays` gave.

        Raises KeyError where an array is missing and ValueError where they do not fit together
        (a file cut short): count the document again.
        """
        packed = arrays["vocabulary"].tobytes().decode()
        vocabulary = tuple(packed.split("\n")) if packed else ()
        indptr, indices, counts, lengths = (
            np.asarray(arrays[name]) for name in ("indptr", "indices", "counts", "lengths")
        )
        entries = len(indices)
        fits = (
            len(indptr) == len(lengths) + 1
            and len(counts) == entries
            and indptr[0] == 0
            and indptr[-1] == entries
            and bool((np.diff(indptr) >= 0).all())
            and (not entries or 0 <= indices.min() <= indices.max() < len(vocabulary))
        )
        if not fits:
            raise ValueError("term counts: the arrays do not fit together; count the terms again")
        return cls(vocabulary, indptr, indices, counts, lengths)


def count_terms(texts: Sequence[str]) -> TermCounts:
    """Analyse chunk texts and count their terms; ``texts`` may be empty, and so may each text."""
    statistics = TermStatistics(map(analyse, texts))
    vocabulary = tuple(sorted(statistics.idf))
    column = {term: at for at, term in enumerate(vocabulary)}
    rows = statistics.doc_freqs
    sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    entries = int(indptr[-1])
    return TermCounts(
        vocabulary=vocabulary,
        indptr=indptr,
        indices=np.fromiter(
            map(column.__getitem__, chain.from_iterable(rows)), dtype=np.int32, count=entries
        ),
        counts=np.fromiter(
            chain.from_iterable(row.values() for row in rows), dtype=np.int32, count=entries
        ),
        lengths=np.array(statistics.doc_len, dtype=np.int32),
    )
