"""Measures over chunks: ir-measures against the arithmetic written out, and against recall."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluate import covered, within_budget
from core.evaluate.ranked import MEASURES, ranked_measures
from core.evaluate.records import Row
from core.questions import Evidence, Reference
from core.records import Chunk, Span


def row(ranks, relevant, question="q"):
    return Row(question, "no_rerank", {}, {}, {}, {}, {}, tuple(ranks), relevant)


rankings = st.integers(0, 60).flatmap(
    lambda missed: st.sets(st.integers(1, 70), max_size=8).map(lambda r: (sorted(r), missed % 4))
)


def by_hand(ranks, relevant):
    def recall(k):
        return sum(r <= k for r in ranks) / relevant

    ideal = sum(1 / log2(r + 1) for r in range(1, min(relevant, 10) + 1))
    return {
        "nDCG@10": sum(1 / log2(r + 1) for r in ranks if r <= 10) / ideal,
        "RR": 1 / ranks[0] if ranks else 0,
        "R@5": recall(5),
        "R@10": recall(10),
        "R@50": recall(50),
        "Success@1": float(1 in ranks),
        "Success@5": float(any(r <= 5 for r in ranks)),
    }


@given(st.lists(rankings, min_size=1, max_size=4))
def test_as_written_out(made):
    rows = [row(ranks, len(ranks) + missed) for ranks, missed in made]
    for r, values in zip(rows, ranked_measures(rows), strict=True):
        wanted = by_hand(r.ranks, r.relevant) if r.relevant else dict.fromkeys(MEASURES, 0.0)
        assert dict(zip(MEASURES, values, strict=True)) == pytest.approx(wanted)


@given(
    st.permutations(range(12)), st.sets(st.integers(0, 11), min_size=1), st.sampled_from([5, 10])
)
def test_recall_of_whole_chunks_of_one_size_is_recall_at_k(order, relevant, k):
    """Where evidence is whole chunks that are alike, characters within k chunks are R@k."""
    chunks = [Chunk(f"d:{i:06d}", "d", i, 7 * i, 7 * i + 7, "x" * 7, 10) for i in range(12)]
    evidence = [
        Evidence(Reference(start=7 * i, end=7 * i + 7), "d", Span(7 * i, 7 * i + 7))
        for i in relevant
    ]
    ranks = [rank for rank, i in enumerate(order, 1) if i in relevant]
    values = ranked_measures([row(ranks, len(relevant))])[0]
    shown = within_budget([chunks[i] for i in order], 10 * k)
    assert covered(evidence, shown) == pytest.approx(values[MEASURES.index(f"R@{k}")])


def test_nothing_ranked_and_nothing_relevant():
    assert not ranked_measures([row([], 3), row([], 0)]).any()
    assert ranked_measures([]).shape == (0, len(MEASURES))
    assert np.isfinite(ranked_measures([row([1], 1), row([], 2)])).all()
