"""Stage 10: the four orders, on one set of passages."""

from __future__ import annotations

import pytest

from core.settings import Settings
from core.stages.order import order
from tests.stages.made import index_of, names, ranked, run_over

TEXTS = {"b": ["one", "two", "three"], "a": ["four", "five"], "c": ["six"]}
SCORES = {"b3": 0.9, "a2": 0.8, "c1": 0.7, "b1": 0.6, "a1": 0.5}
DATES = {"a": "2026-05-01", "b": "2025-01-31"}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("score", ["b3", "a2", "c1", "b1", "a1"]),
        ("source", ["a1", "a2", "b1", "b3", "c1"]),
        ("date", ["b1", "b3", "a1", "a2", "c1"]),
        ("score_then_source", ["b1", "b3", "a1", "a2", "c1"]),
    ],
)
def test_the_order_of_passages(how, expected):
    made = index_of(TEXTS, date=DATES)
    state, record = order(ranked(made, SCORES), Settings(order=how), run_over(made))
    assert names(made, record.kept) == expected
    assert names(made, [c.chunk_id for c in state.candidates]) == expected
    assert not record.dropped and record.how
    assert [e.score for e in record.entries] == [SCORES[n] for n in expected]


def test_two_sources_of_one_name_stay_apart():
    made = index_of({"a": ["one", "two"], "b": ["three", "four"]}, title={"a": "x", "b": "x"})
    state = ranked(made, {"a2": 4, "b2": 3, "a1": 2, "b1": 1})
    _, record = order(state, Settings(order="score_then_source"), run_over(made))
    assert names(made, record.kept) == ["a1", "a2", "b1", "b2"]
