"""Stage 4: windows stay in their document, at their size, and invent no score."""

from __future__ import annotations

import math

import pytest

from core.records import Page
from core.settings import Settings
from core.stages.extend import extend, radius, window_spans
from core.trace import ADDED
from tests.stages.made import ask, entries, index_of, named, names, ranked, run_over, scores_by_word

TWO = {"a": ["alpha one", "beta two"], "b": ["gamma three", "delta four"]}
LONG = {"a": [f"chunk number {n}" for n in range(1, 10)]}


def window(made, scores, **knobs):
    state, record = extend(ranked(made, scores), Settings(**knobs), run_over(made))
    return state, record


# D1: a window does not cross into the next document.


@pytest.mark.parametrize("title", [{}, {"a": "Same", "b": "Same"}])
@pytest.mark.parametrize(("hit", "other"), [("a2", "a1"), ("a1", "a2"), ("b1", "b2"), ("b2", "b1")])
@pytest.mark.parametrize("most", [1, 4, 20])
def test_a_window_stays_in_its_document(title, hit, other, most):
    made = index_of(TWO, title=title)
    _, record = window(made, {hit: 1.0}, max_radius=most, extend_threshold=0.0)
    assert names(made, record.kept) == [hit] and names(made, record.added) == [other]


# D2: adjacent hits keep their scores; what joined has none until it is reranked.


@pytest.mark.parametrize(
    "scores", [{"a4": 0.9, "a5": 0.8}, {"a4": 0.9, "a6": 0.8}, {"a1": 0.9, "a9": 0.1}]
)
def test_hits_keep_their_scores_and_what_joins_has_none(scores):
    made = index_of(LONG)
    state, record = window(made, scores, max_radius=2, extend_threshold=0.0)
    held = {names(made, [c.chunk_id])[0]: c.score for c in state.candidates}
    assert {n: held.pop(n) for n in scores} == scores
    assert set(held.values()) == {None}
    assert len(held) == len(record.added) == len(set(record.added))
    for entry in record.entries:
        if entry.fate == ADDED:
            assert entry.score is None and entry.relevance is None and entry.anchor


def test_what_joined_is_scored_by_the_second_round():
    made = index_of(LONG)
    reranker = scores_by_word({f"number {n}": n / 10 for n in range(1, 10)})
    trace = ask(made, reranker, "rerank_extend_rerank", "number 4", candidate_k=1, max_radius=1)
    joined = trace.stage("extend").added
    assert names(made, joined) == ["a3", "a5"]
    second = entries(trace.stage("rerank_2"), made)
    assert {n: second[n].score for n in ("a3", "a4", "a5")} == {"a3": 0.3, "a4": 0.4, "a5": 0.5}
    assert second["a3"].anchor == named(made, "a4") and second["a3"].offset == -1
    assert second["a5"].offset == 1


# D4: clipped evenly at the edges; nothing to join in a document of one chunk.


@pytest.mark.parametrize(
    ("scores", "most", "added"),
    [
        ({"a1": 1.0}, 2, ["a2", "a3"]),
        ({"a9": 1.0}, 2, ["a8", "a7"]),
        ({"a2": 1.0}, 3, ["a1", "a3", "a4", "a5"]),
        ({"a1": 1.0, "a9": 1.0}, 1, ["a2", "a8"]),
        ({"a5": 1.0}, 0, []),
        ({"a1": 1.0, "a9": 1.0}, 20, ["a2", "a3", "a4", "a5", "a6", "a7", "a8"]),
    ],
)
def test_windows_are_clipped_at_the_documents_edges(scores, most, added):
    made = index_of(LONG)
    _, record = window(
        made, scores, max_radius=most, extend_threshold=0.0, max_context_tokens=60_000
    )
    # Equal scores are 0.5 after min-max: their windows are half as wide.
    reach = math.ceil(most / 2)
    if most == 20:
        assert sorted(names(made, record.added)) == added
    else:
        expected = {
            n for s in scores for d in range(1, reach + 1)
            for n in (f"a{int(s[1:]) - d}", f"a{int(s[1:]) + d}") if 1 <= int(n[1:]) <= 9
        } - set(scores)  # fmt: skip
        assert set(names(made, record.added)) == expected <= {*added}


def test_a_document_of_one_chunk_has_no_window():
    made = index_of({"a": ["alone here"], "b": ["gamma three"]})
    _, record = window(made, {"a1": 1.0, "b1": 0.2}, max_radius=4, extend_threshold=0.0)
    assert record.added == () and record.passed == 2


def test_nearest_neighbours_join_first_and_name_the_best_anchor():
    made = index_of(LONG)
    _, record = window(made, {"a3": 1.0, "a6": 0.5, "a9": 0.0}, max_radius=2, extend_threshold=0.0)
    assert names(made, record.added) == ["a2", "a4", "a1", "a5", "a7"]
    by_name = entries(record, made)
    assert names(made, [by_name["a5"].anchor]) == ["a3"] and by_name["a5"].offset == 2
    spans = {names(made, [a])[0]: (before, after) for a, before, after in window_spans(record)}
    assert spans == {"a3": (2, 2), "a6": (0, 1)}


# D9: a window over a page break; each chunk keeps its pages.


@pytest.mark.parametrize("cut", [12, 16, 40])
def test_pages_survive_a_window_over_a_page_break(cut):
    texts = ["alpha is on the first page", "beta runs over the break", "gamma is on the second"]
    whole = "\n\n".join(texts)
    cut = len(texts[0]) + 2 + cut if cut < 40 else len(whole) - len(texts[2])
    pages = (Page(1, 0, cut), Page(2, cut, len(whole)))
    made = index_of({"a": texts}, pages={"a": pages})
    reranker = scores_by_word({"alpha": 0.2, "beta": 0.9, "gamma": 0.3})
    trace = ask(made, reranker, "rerank_extend_rerank", "beta break", candidate_k=1, max_radius=2)
    held = {names(made, [p.chunk_id])[0]: p for p in trace.selected}
    assert set(held) == {"a1", "a2", "a3"}
    assert held["a1"].pages == (1, 1) and held["a3"].pages == (2, 2)
    assert held["a2"].pages == ((1, 2) if cut < len(whole) - len(texts[2]) else (1, 1))
    if held["a2"].pages == (1, 2):
        assert held["a2"].citation.endswith("#p1-2")


# Radius: the formula by hand.


@pytest.mark.parametrize(
    ("score", "threshold", "most", "expected"),
    [
        (1.0, 0.35, 4, 4),
        (0.35, 0.35, 4, 0),
        (0.34, 0.35, 4, 0),
        (0.36, 0.35, 4, 1),
        (0.675, 0.35, 4, 2),
        (0.7, 0.35, 4, 3),
        (0.0, 0.0, 4, 0),
        (0.5, 0.0, 4, 2),
        (0.51, 0.0, 4, 3),
        (1.0, 0.99, 20, 20),
        (float("nan"), 0.0, 4, 0),
        (1.0, 0.0, 0, 0),
    ],
)
def test_the_radius_by_hand(score, threshold, most, expected):
    assert radius(score, threshold, most) == expected


# The context limit.


def test_windows_stop_at_the_context_limit_and_say_so():
    big = " ".join(["word"] * 100)
    made = index_of({"a": [f"{big} {n}" for n in range(9)]})  # 101 tokens each
    _, record = window(made, {"a5": 1.0, "a9": 0.0}, max_radius=20, extend_threshold=0.0, max_context_tokens=510)  # fmt: skip
    assert len(record.added) == 3  # 2 candidates and 3 joined: 505 tokens
    assert "stopped by the context limit" in entries(record, made)["a5"].reason
    assert "1 windows stopped early" in record.warnings[0]
    held = sum(made.chunk(i).tokens for i in record.kept + record.added)
    assert held <= 510


def test_modes_without_windows_pass_on_what_came():
    made = index_of(LONG)
    state, record = extend(ranked(made, {"a1": 1.0}), Settings(), run_over(made, "context_rerank"))
    assert not record.ran and record.kept == (named(made, "a1"),) and len(state.candidates) == 1
