"""Stage 6: the threshold is on a probability, and says what it removed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.models.protocols import Reranking
from core.settings import Settings
from core.stages.relevance import relevance
from core.trace import EVIDENCE, INSUFFICIENT
from tests.stages.made import Told, ask, entries, index_of, names, ranked, run_over

FOUR = {"a": ["alpha one", "beta two", "gamma three", "delta four"]}
LOGITS = {"alpha": 3.0, "beta": 0.3, "gamma": -2.0, "delta": -5.0}


def _sigmoid(request) -> Reranking:
    raw = np.array([LOGITS[c.text.split()[0]] for c in request.chunks])
    scores = 1 / (1 + np.exp(-raw))
    return Reranking(scores, raw, relevance=scores)


# C3: 0.1 is a probability, as the scores are; the logit −2 is 0.119.


@pytest.mark.parametrize(
    ("threshold", "kept"),
    [
        (0.0, ["a1", "a2", "a3", "a4"]),
        (0.1, ["a1", "a2", "a3"]),
        (0.12, ["a1", "a2"]),
        (0.9, ["a1"]),
        (0.96, []),
    ],
)
def test_threshold_and_scores_are_on_one_scale(threshold, kept):
    made = index_of(FOUR)
    trace = ask(made, Told(_sigmoid), relevance_threshold=threshold)
    record = trace.stage("relevance")
    assert names(made, record.kept) == kept
    removed = 4 - len(kept)
    said = (f"The threshold removed {removed} of 4 chunks.",) if removed else ()
    assert record.warnings == said
    assert trace.outcome == (EVIDENCE if kept else INSUFFICIENT)
    given = entries(trace.stage("rerank_1"), made)
    for name, logit in zip(("a1", "a2", "a3", "a4"), LOGITS.values(), strict=True):
        assert given[name].relevance == pytest.approx(1 / (1 + math.exp(-logit)))
        assert given[name].scores["rerank_1_raw"] == logit


def test_misses_are_the_nearest_first_with_how_far_they_fell_short():
    made = index_of(FOUR)
    record = ask(made, Told(_sigmoid), relevance_threshold=0.97).stage("relevance")
    assert names(made, record.dropped) == ["a1", "a2", "a3", "a4"]
    margins = [e.margin for e in record.entries]
    assert margins == sorted(margins, reverse=True) and max(margins) < 0
    assert margins[0] == pytest.approx(1 / (1 + math.exp(-3)) - 0.97)


def test_a_score_equal_to_the_threshold_stays():
    made = index_of(FOUR)
    state = ranked(made, {"a1": 1, "a2": 0.9}, relevance={"a1": 0.3, "a2": 0.29})
    _, record = relevance(state, Settings(relevance_threshold=0.3), run_over(made))
    assert names(made, record.kept) == ["a1"] and names(made, record.dropped) == ["a2"]


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_without_a_reranker_the_threshold_is_not_applied_and_says_so(threshold):
    made = index_of(FOUR)
    record = ask(made, mode="no_rerank", relevance_threshold=threshold).stage("relevance")
    assert len(record.kept) == 4
    assert bool(record.warnings) == bool(threshold)


@pytest.mark.parametrize(("anchor", "stays"), [(0.8, True), (0.2, False)])
def test_a_window_that_nothing_judged_goes_with_its_anchor(anchor, stays):
    """The second round degraded: its window has no relevance of its own."""
    made = index_of(FOUR)
    from core.records import Candidate
    from core.stages.base import State
    from tests.stages.made import named

    judged = Candidate(named(made, "a2"), 0.9, relevance=anchor)
    window = Candidate(named(made, "a3"), anchor=judged.chunk_id, offset=1)
    state = State((judged, window))
    _, record = relevance(state, Settings(relevance_threshold=0.5), run_over(made))
    assert (names(made, record.kept) == ["a2", "a3"]) == stays
    assert any("its window's anchor" in w for w in record.warnings)
    if not stays:
        assert record.kept == ()
        entry = entries(record, made)["a3"]
        assert entry.cause == judged.chunk_id and entry.margin == pytest.approx(-0.3)
