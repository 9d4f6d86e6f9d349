"""Intervals: against scipy's, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.evaluate.bootstrap import Figure, figures

shares = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
columns = st.lists(shares, min_size=1, max_size=40)


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    # As recall is: most questions whole, some halved, a few lost.
    values = rng.choice([1.0, 0.6, 0.0], p=[0.85, 0.1, 0.05], size=200)
    (mine,) = figures(values[:, None])
    theirs = [
        stats.bootstrap((values,), np.mean, n_resamples=10_000, method=m, rng=rng)
        for m in ("BCa", "percentile")
    ]
    low = min(t.confidence_interval.low for t in theirs)
    high = max(t.confidence_interval.high for t in theirs)
    width = high - low
    assert mine.mean == pytest.approx(values.mean())
    assert mine.low == pytest.approx(low, abs=0.06 * width)
    assert mine.high == pytest.approx(high, abs=0.06 * width)


def test_an_interval_holds_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    values = rng.choice([1.0, 0.5, 0.0], p=[0.8, 0.1, 0.1], size=(120, 300))
    held = [f.low <= 0.85 <= f.high for f in figures(values, draws=2_000)]
    assert 0.90 <= np.mean(held) <= 0.99


@given(columns, st.integers(0, 5))
def test_it_holds_the_mean_and_stays_within_the_values(values, seed):
    (f,) = figures(np.array(values)[:, None], draws=200, seed=seed)
    assert f.low <= f.mean <= f.high
    assert f.mean == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= f.low and f.high <= max(values) + 1e-9


@given(columns)
def test_equal_seeds_give_equal_intervals_beside_any_other_column(values):
    column = np.array(values)
    alone = figures(column[:, None], draws=100)
    beside = figures(np.column_stack([1 - column, column]), draws=100)
    assert beside[1].mean == alone[0].mean
    assert beside[1].low == pytest.approx(alone[0].low)
    assert beside[1].high == pytest.approx(alone[0].high)


@given(shares, st.integers(1, 30))
def test_where_all_questions_agree_nothing_is_uncertain(value, n):
    assert figures(np.full((n, 1), value), draws=50) == [Figure(value, value, value)]


def test_pairs_stay_pairs():
    """Two modes that are far from certain can still differ for certain."""
    rng = np.random.default_rng(3)
    first = rng.uniform(0, 0.9, 80)
    a, b, apart = figures(np.column_stack([first, first + 0.1, np.full(80, 0.1)]))
    assert a.high > b.low, "their own intervals overlap"
    assert apart.differs and apart.low == pytest.approx(0.1)
    noise = rng.normal(0, 0.2, 80)
    assert not figures((noise - noise.mean())[:, None])[0].differs


@pytest.mark.parametrize(("moved", "differs"), [(1, False), (2, False), (3, False), (8, True)])
@pytest.mark.parametrize("by", [1.0, -0.3])
def test_a_few_questions_of_hundreds_are_no_difference(moved, differs, by):
    (f,) = figures(np.array([by] * moved + [0.0] * (400 - moved))[:, None])
    assert f.differs is differs
    assert differs or 0 in (f.low, f.high)


def test_no_question_is_no_interval():
    with pytest.raises(ValueError, match="at least one"):
        figures(np.zeros((0, 2)))
