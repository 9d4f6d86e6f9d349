"""How much the terms and tokens of a question say, by how few chunks hold them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.index.analyse import terms_with_spans
from core.index.bm25 import BM25Index, inverse_document_frequency


def coverage(bm25: BM25Index, terms: Sequence[str]) -> np.ndarray:
    """float64[chunks] in [0, 1]: the share of the question's IDF mass that each chunk holds.

    A term that no chunk holds weighs most, since it is the surest sign of a question that
    the documents do not answer.
    """
    held, total = np.zeros(bm25.n), 0.0
    for term in dict.fromkeys(terms):
        idf = inverse_document_frequency(bm25.document_frequency(term), bm25.n)
        held += idf * (bm25.scores((term,)) > 0)
        total += idf
    return held / total if total else held


def token_weights(bm25: BM25Index, question: str, starts: np.ndarray) -> np.ndarray:
    """float64[t], at least 0: the IDF of the rarest term that each of an encoder's tokens meets.

    So a name weighs more in late interaction than the words that ask for it, which almost any
    chunk matches. What stands between terms, such as a question mark, weighs nothing; where no
    token meets a term, all weigh 1.

    Args:
        starts: int64[t + 1], the characters at which the tokens begin and the last one ends.
    """
    weights = np.zeros(max(0, len(starts) - 1))
    for term, start, end in terms_with_spans(question):
        if not len(weights) or start >= starts[-1] or end <= starts[0]:
            continue  # past what the encoder reads
        first = max(0, int(np.searchsorted(starts, start, side="right")) - 1)
        met = slice(first, int(np.searchsorted(starts, end)))
        idf = inverse_document_frequency(bm25.document_frequency(term), bm25.n)
        weights[met] = np.maximum(weights[met], idf)
    return weights if weights.any() else np.ones_like(weights)
