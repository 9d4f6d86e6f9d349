"""Windows cover a document, keep each token once, and as far from an edge as they can."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.windows import RangeIndex, plan, token_ranges


@given(tokens=st.integers(0, 5000), length=st.integers(1, 600), share=st.floats(0, 0.99))
def test_every_token_is_kept_once(tokens: int, length: int, share: float) -> None:
    overlap = int(length * share)
    windows = plan(tokens, length, overlap)
    kept = [t for w in windows for t in range(w.keep_start, w.keep_end)]
    assert kept == list(range(tokens))
    for window in windows:
        assert 0 <= window.start <= window.keep_start < window.keep_end <= window.end <= tokens
        assert window.end - window.start == min(length, tokens)
    for before, after in itertools.pairwise(windows):
        assert before.end - after.start >= overlap


@given(tokens=st.integers(1, 3000), length=st.integers(4, 300), overlap=st.integers(0, 150))
def test_a_state_comes_from_where_it_sees_most(tokens: int, length: int, overlap: int) -> None:
    windows = plan(tokens, length, min(overlap, length - 1))

    def room(window, token: int) -> int:
        """Tokens to the nearer edge; the document's own edges hide nothing."""
        left = token - window.start if window.start else tokens
        right = window.end - 1 - token if window.end < tokens else tokens
        return min(left, right)

    for kept in windows:
        for token in range(kept.keep_start, kept.keep_end):
            best = max(room(w, token) for w in windows if w.start <= token < w.end)
            assert room(kept, token) >= best - 1


def test_no_more_windows_than_needed() -> None:
    assert len(plan(510, 510, 128)) == 1
    assert len(plan(511, 510, 128)) == 2
    assert len(plan(510 + 382, 510, 128)) == 2
    assert len(plan(510 + 383, 510, 128)) == 3


def test_an_overlap_as_long_as_the_window_is_refused() -> None:
    with pytest.raises(ValueError, match="overlap 4"):
        plan(10, 4, 4)


def test_a_token_belongs_where_it_begins() -> None:
    starts = np.array([0, 4, 9, 15])
    first, last = token_ranges(starts, [(0, 6), (6, 6), (6, 20), (4, 5), (20, 30)])
    assert list(zip(first, last, strict=True)) == [(0, 2), (2, 2), (2, 4), (1, 2), (4, 4)]


@given(
    spans=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=12),
    low=st.integers(0, 60),
    size=st.integers(1, 30),
)
def test_ranges_that_meet_a_window(spans: list[tuple[int, int]], low: int, size: int) -> None:
    first = np.array([s for s, _ in spans], dtype=np.int64)
    last = first + np.array([n for _, n in spans], dtype=np.int64)
    found = RangeIndex(first, last).meeting(low, low + size)
    expected = [
        i for i in range(len(spans)) if set(range(first[i], last[i])) & {*range(low, low + size)}
    ]
    assert sorted(found) == expected
