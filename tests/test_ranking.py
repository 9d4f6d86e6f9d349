"""Order, ties, normalisation and fusion, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ranking import (
    descending,
    min_max,
    ranks,
    reciprocal_rank_fusion,
    smoothed_by_neighbours,
    weighted_sum,
)

few = st.sampled_from([0.0, 0.25, 1.0, -3.0, math.nan])
scores = st.lists(st.one_of(few, st.floats(-1e6, 1e6)), max_size=12).map(np.array)


@given(scores, st.randoms(use_true_random=False))
def test_descending_is_a_stable_sort_with_nan_last(values, rng):
    tiebreak = np.arange(len(values))
    rng.shuffle(tiebreak)
    key = lambda i: (math.isnan(values[i]), -values[i] if not math.isnan(values[i]) else 0)
    assert descending(values).tolist() == sorted(range(len(values)), key=key)
    assert descending(values, tiebreak).tolist() == sorted(
        range(len(values)), key=lambda i: (*key(i), tiebreak[i])
    )


@given(scores)
def test_ranks_undo_the_order(values):
    order = descending(values)
    given_ranks = ranks(order)
    assert [int(given_ranks[i]) for i in order] == list(range(1, len(values) + 1))


@given(scores)
def test_min_max_keeps_the_order_within_0_and_1(values):
    scaled = min_max(values)
    finite = np.isfinite(values)
    assert np.isnan(scaled[~finite]).all()
    assert ((scaled[finite] >= 0) & (scaled[finite] <= 1)).all()
    held = values[finite]
    if len(held) and np.ptp(held) > 1e-12:
        assert scaled[finite].min() == 0 and scaled[finite].max() == 1
        order = np.argsort(held, kind="stable")
        assert (np.diff(scaled[finite][order]) >= 0).all()
    else:
        assert (scaled[finite] == 0.5).all()


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_one_odd_score_moves_no_other(odd):
    assert min_max(np.array([1.0, 3.0, 2.0, odd]))[:3].tolist() == [0, 1, 0.5]
    assert np.isnan(min_max(np.array([odd])))[0]
    assert min_max(np.array([])).tolist() == []


def test_equal_scores_are_neither_best_nor_worst():
    assert min_max(np.array([7.0, 7.0])).tolist() == [0.5, 0.5]
    assert min_max(np.array([7.0])).tolist() == [0.5]


def test_reciprocal_rank_fusion_by_hand():
    """Ranks 1 and 3 at k = 60: 1/61 + 1/63."""
    fused = reciprocal_rank_fusion([np.array([1, 2, 3]), np.array([3, 2, 1])], 60)
    assert fused.tolist() == pytest.approx([1 / 61 + 1 / 63, 2 / 62, 1 / 61 + 1 / 63])
    assert reciprocal_rank_fusion([np.array([np.inf, 1.0])], 1).tolist() == [0, 0.5]


def test_the_weighted_sum_is_a_mean():
    a, b = np.array([1.0, 0.0]), np.array([0.0, 0.5])
    assert weighted_sum([(0.3, a), (0.1, b)]).tolist() == pytest.approx([0.75, 0.125])
    assert weighted_sum([(0.0, a), (0.0, b)]).tolist() == [0.5, 0.5]


def test_a_part_of_no_weight_has_no_say_not_even_by_nan():
    odd = np.array([math.nan, 0.5])
    assert weighted_sum([(1.0, np.array([0.2, 0.4])), (0.0, odd)]).tolist() == [0.2, 0.4]


places = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 6)), max_size=8, unique=True
)  # fmt: skip


@given(places, st.floats(0, 1), st.data())
def test_neighbours_give_their_share(where, share, data):
    own = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(where), max_size=len(where))))
    gained = smoothed_by_neighbours(own, where, share)
    for i, (document, ordinal) in enumerate(where):
        expected = own[i] + share * sum(
            own[j] * {1: 0.5, 2: 0.25}.get(abs(ordinal - other), 0.0)
            for j, (d, other) in enumerate(where)
            if d == document and j != i
        )
        assert gained[i] == pytest.approx(expected)


def test_a_neighbour_without_a_number_gives_none():
    gained = smoothed_by_neighbours(
        np.array([0.4, math.nan, 0.8]), [("a", 0), ("a", 1), ("a", 2)], 1.0
    )
    assert gained[[0, 2]].tolist() == pytest.approx([0.4 + 0.2, 0.8 + 0.1])
    assert math.isnan(gained[1])
