"""One fate a chunk: where it ended, why, because of which, by how much."""

from __future__ import annotations

import pytest

from core.compare_traces.standing import Stands
from core.fates import PROMPT, corpus_row, fate_of, fates, journey
from dashboard.lookup import Lookup
from tests.stages.made import ask, index_of, named, scores_by_word

TEXTS = {
    "a": ["alpha kelp moss", "beta kelp moss", "gamma fern oak", "delta stone sand"],
    "b": ["alpha kelp moss!", "zeta rain wind", "eta " + "word " * 60],
}
SCORES = {
    "alpha kelp moss!": 0.8,
    "alpha": 0.9,
    "beta": 0.6,
    "zeta": 0.1,
    "eta": 0.7,
    "gamma": 0.65,
}


def traced(**knobs):
    made = index_of(TEXTS)
    knobs = {"evidence_budget": 50, "relevance_threshold": 0.2, "candidate_k": 6} | knobs
    question = "alpha beta gamma zeta eta"
    return made, ask(made, scores_by_word(SCORES), question=question, **knobs)


def test_every_fate_there_is():
    made, trace = traced()
    ends = {n: fate_of(trace, named(made, n)) for n in ("a1", "a2", "a3", "a4", "b1", "b2", "b3")}
    assert {n: f.stage for n, f in ends.items()} == {
        "a1": PROMPT,
        "a2": PROMPT,
        "a3": PROMPT,
        "a4": "first_stage",
        "b1": "dedup",
        "b2": "relevance",
        "b3": "budget",
    }
    assert ends["a1"].arrived and not ends["b1"].arrived
    assert ends["b1"].cause == named(made, "a1") and ends["b1"].margin < 0
    assert ends["b2"].margin == pytest.approx(0.1 - 0.2)
    assert "more than the whole budget" in ends["b3"].reason
    assert ends["a4"].cause == trace.stage("first_stage").last_kept


def test_fates_name_all_that_stages_name_and_no_other():
    made, trace = traced()
    assert set(fates(trace)) == {e.chunk_id for s in trace.stages for e in s.entries}
    assert named(made, "a4") not in fates(trace)


def test_a_journey_goes_through_the_stages_in_order():
    made, trace = traced()
    steps = journey(trace, named(made, "b1"))
    assert [name for name, _ in steps] == ["first_stage", "rerank_1", "relevance", "dedup"]
    assert steps[-1][1].fate == "dropped"
    assert journey(trace, named(made, "a4")) == []


def test_rows_are_those_of_the_corpus_scores():
    made, trace = traced()
    assert [corpus_row(trace, i) for i in made.chunk_ids] == list(range(7))


@pytest.mark.parametrize(
    "odd", ["", "x", ":", "{id}:000099", "{id}:-00001", "{id}:", "{id}", "{id}:²"]
)
def test_ids_of_no_chunk_are_of_none_of_the_documents(odd):
    made, trace = traced()
    chunk = odd.replace("{id}", made.documents[0].id)
    assert corpus_row(trace, chunk) is None
    assert fate_of(trace, chunk).stage == "access" and not fate_of(trace, chunk).arrived


def test_one_wording_wherever_a_fate_is_shown():
    made, trace = traced()
    lookup, stands = Lookup(trace), Stands(trace)
    for chunk in made.chunk_ids:
        fate = fate_of(trace, chunk)
        assert lookup.fate(chunk) == fate
        if fate.stage == "first_stage":
            assert fate.reason == "ranked 7 of 7; the best 6 went on"
            assert lookup.reason(chunk) == stands.of(chunk).reason == fate.reason


def test_where_nothing_is_ranked_no_rank_is_spoken_of():
    made = index_of({"a": ["alpha", "x" * 1200, "beta"]})
    trace = ask(made, mode="full_document", question="alpha", full_document_limit=1000, top_k=1)
    fate = fate_of(trace, named(made, "a3"))
    assert fate.stage == "first_stage" and "ranked" not in fate.reason and fate.margin is None
