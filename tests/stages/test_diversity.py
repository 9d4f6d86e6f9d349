"""Stage 8: variety as the knob says, against the definitions worked out plainly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings import Settings
from core.stages.diversity import asks_for_steps, diversity, mmr, sections_first
from tests.stages.made import entries, index_of, named, names, ranked, run_over

FIVE = {
    "a": ["alpha beta", "alpha gamma", "delta eps"],
    "b": ["alpha beta too", "zeta eta"],
}
SCORES = {"a1": 5.0, "a2": 4.0, "b1": 3.0, "a3": 2.0, "b2": 1.0}


def over(scores=SCORES, question="alpha?", **knobs):
    made = index_of(FIVE)
    return made, diversity(
        ranked(made, scores), Settings(**knobs), run_over(made, question=question)
    )


def test_off_changes_nothing():
    made, (_, record) = over()
    assert names(made, record.kept) == list(SCORES) and not record.dropped


# MMR: the definition, one step after another.


@given(st.integers(1, 6), st.floats(0, 1), st.randoms(use_true_random=False))
def test_mmr_takes_the_best_of_what_is_left_each_time(n, share, rng):
    relevance = np.array([rng.random() for _ in range(n)])
    vectors = np.array([[0.1 + rng.random() for _ in range(3)] for _ in range(n)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = vectors @ vectors.T
    chosen: list[int] = []
    for taken in mmr(relevance, similarity, share):
        gains = {
            i: share * relevance[i]
            - (1 - share) * max((similarity[i, j] for j in chosen), default=0.0)
            for i in range(n)
            if i not in chosen
        }
        assert gains[taken] == pytest.approx(max(gains.values()), abs=1e-12)
        chosen.append(taken)
    assert sorted(chosen) == list(range(n))


def test_mmr_at_1_is_the_order_of_relevance():
    made, (_, record) = over(diversity="mmr", mmr_lambda=1.0)
    assert names(made, record.kept) == list(SCORES)


def test_mmr_prefers_what_is_new_and_says_what_moved():
    made, (_, record) = over(diversity="mmr", mmr_lambda=0.3)
    order = names(made, record.kept)
    assert order[0] == "a1" and order.index("b1") > list(SCORES).index("b1")
    assert entries(record, made)["b1"].reason == "was 3 by score"
    assert [e.rank for e in record.entries] == [1, 2, 3, 4, 5]


def test_a_candidate_without_a_score_is_the_least_relevant():
    made, (_, record) = over({**SCORES, "b2": float("nan")}, diversity="mmr", mmr_lambda=1.0)
    assert names(made, record.kept)[-1] in ("a3", "b2") and len(record.kept) == 5


# Sections.


@given(st.lists(st.sampled_from("xyz"), max_size=8))
def test_the_best_of_each_section_comes_first(sections):
    order = sections_first(sections)
    kinds = len(set(sections))
    assert sorted(order) == list(range(len(sections)))
    assert len({sections[i] for i in order[:kinds]}) == kinds
    assert order[:kinds] == sorted(order[:kinds]) and order[kinds:] == sorted(order[kinds:])


# The cap for each source.


@pytest.mark.parametrize("cap", [1, 2, 3, 50])
def test_at_most_so_many_of_one_source_and_the_best_of_it(cap):
    made, (_, record) = over(diversity="source_cap", per_source_cap=cap)
    a, b = ["a1", "a2", "a3"], ["b1", "b2"]
    assert set(names(made, record.kept)) == {*a[:cap], *b[:cap]}
    for name, entry in entries(record, made).items():
        if entry.fate == "dropped":
            assert entry.cause == named(made, f"{name[0]}{cap}")
            assert f"{cap} better passages of its source" in entry.reason


@pytest.mark.parametrize("lifts", [True, False])
def test_a_procedure_lifts_the_cap_if_it_may(lifts):
    _, (_, record) = over(
        question="How do I start it?", diversity="source_cap", per_source_cap=1, procedure_lifts_cap=lifts
    )  # fmt: skip
    assert len(record.dropped) == (0 if lifts else 3)
    assert bool(record.warnings) == lifts


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("How do I reset it?", True),
        ("List the steps to reset it", True),
        ("What is the procedure for a refund?", True),
        ("step-by-step guide", True),
        ("How many steps are there?", True),
        ("What does it cost?", False),
        ("How much is it?", False),
        ("Who misstepped?", False),
    ],
)
def test_which_questions_ask_for_a_procedure(question, steps):
    assert asks_for_steps(question) is steps
