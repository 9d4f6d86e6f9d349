"""MaxSim against a plain loop, and its freedom from company."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.maxsim import best_tokens, maxsim


def world(seed: int, counts: list[int], tokens: int = 5, width: int = 128):
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(tokens, width)).astype(np.float32)
    states = rng.integers(-127, 128, size=(sum(counts), width)).astype(np.int8)
    return query, states, np.cumsum([0, *counts], dtype=np.int64)


def by_hand(query: np.ndarray, states: np.ndarray, offsets: np.ndarray) -> list[float]:
    scores = []
    for low, high in itertools.pairwise(offsets):
        best = []
        for q in query.astype(np.float64):
            cosines = [
                float(q @ s) / float(np.linalg.norm(q) * np.linalg.norm(s))
                for s in states[low:high].astype(np.float64)
            ]
            best.append(max(cosines, default=0.0))
        scores.append(sum(best) / len(best))
    return scores


@given(
    seed=st.integers(0, 2**32 - 1),
    counts=st.lists(st.integers(0, 7), max_size=9),
    tokens=st.integers(1, 6),
    width=st.sampled_from([1, 3, 32, 128]),
)
def test_equals_a_plain_loop(seed: int, counts: list[int], tokens: int, width: int) -> None:
    query, states, offsets = world(seed, counts, tokens, width)
    states[(states == 0).all(axis=1)] = 1  # a row of zeros has no direction
    scores = maxsim(query, states, offsets)
    assert scores.dtype == np.float32
    assert scores == pytest.approx(by_hand(query, states, offsets), abs=1e-3)


def test_a_score_does_not_depend_on_company() -> None:
    counts = [130, 0, 1, 127, 600, 64, 9000, 3, 128, 128]
    query, states, offsets = world(1, counts, tokens=13)
    together = maxsim(query, states, offsets)
    for chunk in range(len(counts)):
        own = states[offsets[chunk] : offsets[chunk + 1]]
        alone = maxsim(query, own, np.array([0, len(own)]))
        assert alone.tobytes() == together[chunk : chunk + 1].tobytes()
    order = np.random.default_rng(2).permutation(len(counts))
    shuffled = np.concatenate([states[offsets[i] : offsets[i + 1]] for i in order])
    moved = maxsim(query, shuffled, np.cumsum([0, *(counts[i] for i in order)]))
    assert moved.tobytes() == together[order].tobytes()


def test_only_directions_count() -> None:
    query, _, _ = world(3, [])
    states = np.random.default_rng(3).integers(-31, 32, size=(40, 128)).astype(np.int8)
    offsets = np.array([0, 10, 40])
    scores = maxsim(query, states, offsets)
    assert maxsim(query * 7, states * 4, offsets) == pytest.approx(scores, abs=1e-6)


def test_a_chunk_that_holds_the_question_scores_one() -> None:
    _query, states, offsets = world(4, [3, 8, 2])
    scores = maxsim(states[3:8].astype(np.float32), states, offsets)
    assert scores[1] == pytest.approx(1.0, abs=1e-5)
    assert scores[0] < 0.9 and scores[2] < 0.9


def test_best_tokens_name_the_place() -> None:
    _, states, offsets = world(5, [4, 0, 6])
    cosines, places = best_tokens(states[[1, 9]].astype(np.float32), states, offsets)
    assert cosines.shape == places.shape == (2, 3)
    assert (places[0, 0], places[1, 2]) == (1, 5)
    assert cosines[0, 0] == pytest.approx(1.0, abs=1e-5)
    assert (places[:, 1] == -1).all() and (cosines[:, 1] == 0).all()


def test_weights_make_a_weighted_mean() -> None:
    query, states, offsets = world(8, [4, 6], tokens=3)
    best, _ = best_tokens(query, states, offsets)
    weighted = maxsim(query, states, offsets, np.array([2.0, 0.0, 1.0]))
    assert weighted == pytest.approx((2 * best[0] + best[2]) / 3, abs=1e-6)
    assert maxsim(query, states, offsets, np.full(3, 5.0)) == pytest.approx(
        maxsim(query, states, offsets), abs=1e-6
    )
    assert maxsim(query, states, offsets, np.zeros(3)).tolist() == [0.0, 0.0]


def test_nothing_to_compare() -> None:
    query, states, offsets = world(6, [2, 3])
    assert maxsim(query, states[:0], np.array([0])).shape == (0,)
    assert maxsim(query, states[:0], np.array([0, 0])).tolist() == [0.0]
    assert maxsim(query[:0], states, offsets).tolist() == [0.0, 0.0]


def test_memory_stays_bounded() -> None:
    query, states, offsets = world(7, [20] * 20_000, tokens=16)
    tracemalloc.start()
    maxsim(query, states, offsets)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The states are 51 MB as bytes and would be 205 MB as floats.
    assert peak < 40e6
