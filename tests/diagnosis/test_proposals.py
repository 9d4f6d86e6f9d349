"""Proposals in small worlds whose answer can be worked out, and what a search says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.diagnosis import propose, target_of_chunk
from core.diagnosis.pairs import smallest
from core.diagnosis.proposals import UNFINISHED, Tried
from core.diagnosis.recall import recall_price, recall_prices
from core.diagnosis.rechunk import rechunked
from core.diagnosis.replay import Point, Replay
from core.diagnosis.scan import Clock
from core.diagnosis.targets import target_of_span
from core.errors import Cancelled, ChunkscopeError
from core.pipeline import Pipeline
from core.questions import Question, Reference
from core.records import Access, Principal
from core.settings import Settings
from tests.fakes import HashingEncoder
from tests.stages.made import index_of, named, scores_by_word
from tests.worlds import document, index, pipeline

TEXTS = {"a": ["alpha one", "alpha two", "alpha three"], "b": ["beta four five"]}
SCORES = {"one": 0.92, "two": 0.615, "three": 0.31, "four": 0.05}


def world(mode="bge_rerank", **knobs):
    made = index_of(TEXTS)
    pipe = Pipeline(HashingEncoder(), {"piecewise": scores_by_word(SCORES)})
    knobs = {"dedup_method": "off", "relevance_threshold": 0.0} | knobs
    return made, pipe, pipe.run(made, "alpha", Settings(**knobs), mode)


def changes(found) -> list[dict]:
    return [dict(p.changes) for p in found.proposals]


def proposed(name: str, seconds: float = 30, **knobs):
    made, pipe, trace = world(**knobs)
    return made, propose(
        pipe, made, trace, target_of_chunk(made, named(made, name)), seconds=seconds
    )


def test_a_threshold_comes_down_just_below_the_relevance():
    made, found = proposed("a3", relevance_threshold=0.5)
    first = next(p for p in found.proposals if "relevance_threshold" in p.changes)
    assert first.changes == {"relevance_threshold": 0.31} and first.exact and first.proved
    assert first.before == {"relevance_threshold": 0.5}
    assert first.size == pytest.approx(0.19)
    assert first.gained == (named(made, "a3"),)
    assert first.lost == ()
    assert "Relevance threshold from 0.5 to 0.31" in first.sentence


def test_candidates_go_up_to_its_rank():
    made, _, trace = world(candidate_k=1)
    ranked = sorted(made.chunk_ids, key=lambda c: -trace.corpus_scores.array("fused")[made.row(c)])
    third = ranked[2]
    _, pipe, trace = world(candidate_k=1)
    found = propose(pipe, made, trace, target_of_chunk(made, third), seconds=30)
    assert {"candidate_k": 3} in changes(found)
    own = next(p for p in found.proposals if "candidate_k" in p.changes)
    assert own.exact and len(own.gained) == 2 and own.tokens > 0


LONG = {"a": ["alpha one", "alpha two " + "word " * 1_500]}


def long_passage(**knobs):
    """A passage of 1,502 words, missed."""
    made = index_of(LONG)
    pipe = Pipeline(HashingEncoder(), {"piecewise": scores_by_word({"one": 0.9, "two": 0.8})})
    trace = pipe.run(made, "alpha", Settings(**knobs), "bge_rerank")
    return made, pipe, trace, target_of_chunk(made, named(made, "a2"))


def test_a_budget_that_the_window_does_not_hold():
    """Neither is enough by itself, and the budget alone does not even get it further."""
    made, pipe, trace, target = long_passage(
        window_tokens=1_000, answer_reserve=400, evidence_budget=100
    )
    found = propose(pipe, made, trace, target, seconds=60)
    both = next(p for p in found.proposals if "window_tokens" in p.changes)
    assert set(both.changes) == {"evidence_budget", "window_tokens"} and both.proved
    base = Settings(**trace.settings)

    def arrives(**changes):
        after = pipe.run(made, "alpha", base.changed(**changes), "bge_rerank")
        return target.reached(after.selected)

    budget, window = both.changes["evidence_budget"], both.changes["window_tokens"]
    assert arrives(evidence_budget=budget, window_tokens=window)
    assert not arrives(evidence_budget=budget - 50, window_tokens=window)
    assert not arrives(evidence_budget=budget, window_tokens=window - 500)
    assert not arrives(evidence_budget=200_000) and not arrives(window_tokens=1_000_000)


def test_a_pair_is_as_small_in_each_knob_as_the_other_lets_it_be():
    """From values far too large back to the step before which the other knob is not enough."""
    made, pipe, trace, target = long_passage(
        window_tokens=1_000, answer_reserve=400, evidence_budget=100
    )
    here = Point(Settings(**trace.settings), "bge_rerank")
    replay = Replay(pipe, made, "alpha")
    large = {"evidence_budget": 50_000, "window_tokens": 600_000}
    found = smallest(replay, here, target, large, Clock(60))
    assert replay.reach(here.moved(**found), target).arrived
    for knob, step in (("evidence_budget", 50), ("window_tokens", 500)):
        nearer = found | {knob: found[knob] - step}
        assert not replay.reach(here.moved(**nearer), target).arrived
    idle = smallest(replay, here, target, large | {"rrf_k": 90}, Clock(60))
    assert idle == found  # a knob that does nothing is left out


def test_nothing_brings_it_back_and_what_was_tried_is_said():
    """Three knobs would be needed: the threshold, the budget and the window."""
    made, pipe, trace, target = long_passage(
        window_tokens=1_000, answer_reserve=400, evidence_budget=100, relevance_threshold=0.85
    )
    found = propose(pipe, made, trace, target, seconds=60)
    assert found.proposals == () and found.complete and found.runs > 100
    assert found.sentence.startswith("No setting of one knob brings it back, nor any pair")
    assert f"{found.runs:,} settings" in found.sentence and "new index" in found.sentence
    outcomes = {t.knob: t.outcome for t in found.tried}
    assert outcomes["relevance_threshold"] == "gets it further at 0.8, not into the prompt"
    hurried = propose(pipe, made, trace, target, seconds=0.0)
    assert not hurried.complete and not hurried.proposals
    assert "No change was found" in hurried.sentence
    assert "Time was up before anything was tried." in hurried.sentence


def test_a_search_that_was_cut_short_says_so_though_it_found_something():
    _, found = proposed("a3", relevance_threshold=0.5)
    assert found.proposals and found.complete and "Time was up" not in found.sentence
    cut = replace(
        found,
        complete=False,
        tried=(*found.tried, Tried("candidate_k", 9, 0, UNFINISHED), Tried("b", 1, 0, UNFINISHED)),
    )
    assert cut.sentence == (
        f"{found.sentence} Time was up before every value of Candidates and BM25 b was tried. "
        "There may be others."
    )
    without = replace(found, complete=False)
    assert "before every pair of knobs was tried" in without.sentence


def test_more_candidates_are_not_run_one_by_one_where_the_order_stays():
    """Behind the chunk nothing matters: of all numbers of candidates one run is enough."""
    made = index_of({"a": [f"alpha number{n} stone" for n in range(400)]})
    pipe = Pipeline()
    trace = pipe.run(made, "alpha", Settings(candidate_k=1, evidence_budget=200_000), "no_rerank")
    target = target_of_chunk(made, made.chunk_ids[300])
    found = propose(pipe, made, trace, target, seconds=60)
    own = next(p for p in found.proposals if "candidate_k" in p.changes)
    assert own.changes == {"candidate_k": 301} and own.exact
    assert next(t for t in found.tried if t.knob == "candidate_k").runs <= 2
    assert found.complete


def test_knobs_that_build_the_index_anew_are_left_alone_and_named():
    _, found = proposed("a3", relevance_threshold=0.5)
    outcomes = {t.knob: t.outcome for t in found.tried}
    assert outcomes["chunk_tokens"] == "not tried: changing it builds the index anew"
    assert outcomes["rrf_k"] != outcomes["fusion_bm25"]
    assert outcomes["fusion_bm25"] == "not tried: it has no effect with these settings"
    assert len(outcomes) == len(found.tried)


def test_what_is_there_needs_nothing():
    _, found = proposed("a1")
    assert not found.needed and found.proposals == () and "nothing has to change" in found.sentence


def test_a_hidden_chunk_and_one_of_no_document_are_alike():
    docs = [
        document("The open fee is two days.", "o.md"),
        document("The southern fee is nine.", "s.md", Access("south")),
    ]
    made, pipe = index(docs), pipeline()
    trace = pipe.run(made, "fee", principal=Principal("north"))
    hidden = next(c for c in made.chunks if "southern" in c.text)
    one = propose(pipe, made, trace, target_of_chunk(made, hidden.id))
    other = propose(pipe, made, trace, target_of_chunk(made, "0" * 16 + ":000000"))
    assert one == other and not one.possible and "may retrieve" in one.sentence


def test_a_search_can_be_stopped():
    made, pipe, trace = world(relevance_threshold=0.5)
    target = target_of_chunk(made, named(made, "a3"))
    asked = iter([False] * 10 + [True] * 10_000)
    with pytest.raises(Cancelled):
        propose(pipe, made, trace, target, cancelled=lambda: next(asked))


def test_a_trace_of_other_documents_is_refused():
    made, pipe, trace = world()
    other = index_of({"z": ["other words"]})
    with pytest.raises(ChunkscopeError, match="other documents"):
        propose(pipe, other, trace, target_of_chunk(other, other.chunk_ids[0]))
    assert made.fingerprint != other.fingerprint


def test_another_chunk_size_where_it_is_asked_for():
    """Chunks of 32 words are larger than the budget; of 16 the first one fits."""
    text = " ".join(f"Alpha {w} stone." for w in "one two three four five six seven eight".split())
    docs, pipe = [document(text * 3, "a.md")], pipeline()
    settings = Settings(chunk_tokens=48, evidence_budget=30, relevance_threshold=0.0)
    built = []

    def rebuild(s):
        built.append(s.chunk_tokens)
        return index(docs, s)

    made = index(docs, settings)
    trace = pipe.run(made, "alpha one", settings, "no_rerank")
    target = target_of_span(made, docs[0].id, 0, 14)
    assert not target.reached(trace.selected)
    found = rechunked(pipe, trace, target, rebuild)
    assert found and found.proved and found.changes["chunk_tokens"] == built[-1] < 48
    assert built == sorted(built, key=lambda v: abs(v - 48))


def test_what_a_change_does_to_recall():
    made, pipe, trace = world(relevance_threshold=0.5)
    source = next(d for d in made.documents if d.name == "a")
    asked = [
        Question("q1", "alpha", "a", (Reference(quote="alpha three"),)),
        Question("q2", "alpha", "a", (Reference(quote="alpha one"),)),
        Question("q3", "alpha", "a", (Reference(quote="nowhere to be found"),)),
    ]
    assert "alpha three" in source.text
    base = Settings(**trace.settings)
    args = (pipe, made, asked, base, "bge_rerank")
    price = recall_price(*args, {"relevance_threshold": 0.3})
    assert (price.before, price.after, price.questions) == (0.5, 1.0, 2)
    assert price.better == ("q1",) and price.worse == ()
    worse = recall_price(*args, {"mode": "no_rerank", "evidence_budget": 0})
    assert worse.after == 0 and worse.worse == ("q2",)
    assert recall_price(pipe, made, asked[2:], base, "bge_rerank", {}) is None
    assert price.sentence == (
        "Recall over 2 questions from 50.0% to 100.0%: 1 gets better, none get worse."
    )
    same = recall_price(*args, {"rerank_seconds": 5.0})
    assert same.sentence == "Recall over 2 questions stays at 50.0%: none changes."


def test_several_changes_are_priced_in_one_go_and_can_be_stopped():
    made, pipe, trace = world(relevance_threshold=0.5)
    asked = [Question(f"q{n}", "alpha", "a", (Reference(quote="alpha three"),)) for n in range(4)]
    base, seen = Settings(**trace.settings), []
    changes = [{"relevance_threshold": 0.3}, {"mode": "no_rerank"}, {"evidence_budget": 0}]
    args = (pipe, made, asked, base, "bge_rerank", changes)
    together = recall_prices(*args, progress=lambda *at: seen.append(at))
    assert together == tuple(
        recall_price(pipe, made, asked, base, "bge_rerank", c) for c in changes
    )
    assert seen == [(n, 4) for n in range(5)]
    turns = iter([False, False, True])
    with pytest.raises(Cancelled):
        recall_prices(*args, cancelled=lambda: next(turns))
