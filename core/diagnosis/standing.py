"""Where a chunk stands in the whole corpus, and which of the question's words it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.fates import corpus_row
from core.index.analyse import STOPWORDS, analyse_query, terms_with_spans
from core.index.index import Index
from core.trace import Trace


@dataclass(frozen=True, slots=True)
class Standing:
    """A chunk's ranks (from 1) and scores among ``total`` chunks.

    A rank is None where that score was not computed, and for BM25 also where the chunk has
    no term of the question. ``has`` and ``lacks`` are words of the question, as it has them.
    """

    total: int
    bm25_rank: int | None = None
    dense_rank: int | None = None
    fused_rank: int | None = None
    bm25: float | None = None
    dense: float | None = None
    fused: float | None = None
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


def standing(trace: Trace, index: Index, chunk_id: str) -> Standing | None:
    """None for a chunk of no document of the trace. ``index`` is the trace's own."""
    row = corpus_row(trace, chunk_id)
    if row is None:
        return None
    scores = {name: trace.corpus_scores.array(name) for name in ("bm25", "dense", "fused")}
    values = {name: float(array[row]) if len(array) else None for name, array in scores.items()}
    ranks = {name: _rank(array, row) for name, array in scores.items()}
    if not values["bm25"]:
        ranks["bm25"] = None
    ranks["fused"] = _agreed(trace, chunk_id, ranks["fused"])
    has, lacks = question_words(trace.question, index, chunk_id)
    return Standing(
        sum(d.chunks for d in trace.documents),
        ranks["bm25"],
        ranks["dense"],
        ranks["fused"],
        values["bm25"],
        values["dense"],
        values["fused"],
        has,
        lacks,
    )


def _rank(scores: np.ndarray, row: int) -> int | None:
    if not len(scores):
        return None
    better = np.count_nonzero(scores > scores[row])
    return int(1 + better + np.count_nonzero(scores[:row] == scores[row]))


def _agreed(trace: Trace, chunk_id: str, rank: int | None) -> int | None:
    """The rank as the first stage counted it: the trace's scores are rounded, its order is not."""
    first = trace.stage("first_stage")
    if rank is None or not first.passed:
        return rank
    own = next((e.rank for e in first.entries if e.chunk_id == chunk_id), None)
    return own if own is not None else max(rank, first.passed + 1)


def question_words(
    question: str, index: Index, chunk_id: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a question that a chunk has, in whatever form, and those that it lacks."""
    asked = set(analyse_query(question))
    forms: dict[tuple[int, int], set[str]] = {}
    for term, start, end in terms_with_spans(question):
        if term in asked:
            forms.setdefault((start, end), set()).add(term)
    held = {s.term for s in index.explain_bm25(sorted(asked), chunk_id, 1.5, 0.75) if s.count}
    for inner in list(forms):  # a part of a word belongs to it
        for outer in forms:
            if outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]:
                forms[outer] |= forms[inner]
                del forms[inner]
                break
    words: dict[str, bool] = {}
    for (start, end), terms in sorted(forms.items()):
        word = question[start:end]
        if word.lower() in STOPWORDS and len(forms) > 1:
            continue
        words[word] = words.get(word, False) or bool(terms & held)
    return tuple(w for w, is_held in words.items() if is_held), tuple(
        w for w, is_held in words.items() if not is_held
    )
