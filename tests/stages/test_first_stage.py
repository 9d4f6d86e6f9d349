"""Stage 2: scores for the whole corpus, fused as the arithmetic says, cut where it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import Cancelled, EmptyIndexError
from core.index.build import build_index
from core.index.index import Index
from core.ranking import descending
from core.records import Span
from core.settings import Settings
from core.tokens import WordCounter
from core.trace import Trace
from tests.fakes import HashingEncoder, OtherEncoder
from tests.stages.made import WORDS, ask, entries, index_of, names
from tests.worlds import document, pipeline

FIVE = {
    "a": ["alpha alpha pump", "beta valve works", "gamma pump stands"],
    "b": ["delta valve opens", "alpha gamma beta"],
}


# B4: nothing to search is an error that says so.


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [document("")],
        [document(" \n\n\t ")],
        [document("--- meta ---", unranked=(Span(0, 12, "front matter"),))],
        [document(""), document(" ", "b.md")],
    ],
    ids=["none", "empty", "blank", "unranked", "two"],
)
@pytest.mark.parametrize("mode", ["rerank_extend_rerank", "bm25_top_k", "full_document"])
def test_an_empty_index_says_so(documents, mode):
    made = build_index(documents, Settings(), HashingEncoder(), counter=WordCounter())
    with pytest.raises(EmptyIndexError, match="the index is empty"):
        pipeline().run(made, "alpha", mode=mode)


def test_an_empty_document_beside_a_full_one_is_no_trouble():
    made = build_index([document(""), document("alpha beta", "b")], counter=WordCounter())
    trace = pipeline().run(made, "alpha", mode="no_rerank")
    assert [p.document for p in trace.selected] == ["b"]
    assert [d.chunks for d in trace.documents if d.name == "a.md"] == [0]


# B5: k beyond the corpus gives all of it, and says so.


@pytest.mark.parametrize("mode", ["no_rerank", "rerank_extend_rerank", "bm25_top_k"])
@pytest.mark.parametrize("k", [4, 5, 6, 100])
def test_k_beyond_the_corpus_takes_all_and_says_so(mode, k):
    made = index_of(FIVE)
    record = ask(made, mode=mode, candidate_k=k, top_k=k).stage("first_stage")
    assert len(record.kept) == min(k, 5)
    said = "; all 5 chunks taken, fewer than the "
    assert (f"{said}{k} asked for" in record.how) == (k > 5) == (said in record.how)


# Fusion, by hand.


def by_name(trace: Trace, made: Index, score: str) -> dict[str, float]:
    values = trace.corpus_scores.array(score)
    return dict(zip(names(made, made.chunk_ids), values.tolist(), strict=True))


@pytest.mark.parametrize("k", [1, 60, 200])
def test_reciprocal_rank_fusion_by_hand(k):
    made = index_of(FIVE)
    trace = ask(made, mode="no_rerank", question="alpha pump", rrf_k=k)
    bm25, dense = by_name(trace, made, "bm25"), by_name(trace, made, "dense")
    fused = by_name(trace, made, "fused")
    order = names(made, made.chunk_ids)
    for name in order:
        better = [n for n in order if bm25[n] > bm25[name]]
        ties = [n for n in order[: order.index(name)] if bm25[n] == bm25[name]]
        expected = 1 / (k + 1 + len(better) + len(ties)) if bm25[name] > 0 else 0.0
        expected += 1 / (k + 1 + sum(dense[n] > dense[name] for n in order))
        assert fused[name] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_weighted_sum_by_hand(share):
    made = index_of(FIVE)
    trace = ask(made, mode="no_rerank", question="alpha pump", fusion="weighted", fusion_bm25=share)
    bm25, dense = by_name(trace, made, "bm25"), by_name(trace, made, "dense")
    fused = by_name(trace, made, "fused")
    for name in bm25:
        scaled = [
            (s[name] - min(s.values())) / (max(s.values()) - min(s.values())) for s in (bm25, dense)
        ]
        expected = share * scaled[0] + (1 - share) * scaled[1]
        assert fused[name] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("fusion", ["bm25", "dense"])
def test_one_score_alone(fusion):
    made = index_of(FIVE)
    trace = ask(made, mode="no_rerank", question="alpha pump", fusion=fusion)
    assert trace.corpus_scores.fused == getattr(trace.corpus_scores, fusion)
    kept = [made.row(i) for i in trace.stage("first_stage").kept]
    assert kept == descending(trace.corpus_scores.array(fusion)).tolist()


def test_bm25_of_a_question_by_the_formula():
    """log(1 + (N − n + ½)/(n + ½)) · f(k1 + 1)/(f + k1(1 − b + b·len/avgdl)), summed."""
    made = index_of(FIVE)
    trace = ask(made, mode="bm25_top_k", question="alpha pump", k1=1.2, b=0.5)
    lengths = {"a1": 3, "a2": 5, "a3": 4, "b1": 5, "b2": 3}  # a word and its stem count as two
    idf = math.log(1 + (5 - 2 + 0.5) / (2 + 0.5))  # both words stand in two chunks
    average = sum(lengths.values()) / 5

    def gain(f: int, length: int) -> float:
        return idf * f * 2.2 / (f + 1.2 * (0.5 + 0.5 * length / average))

    expected = {"a1": gain(2, 3) + gain(1, 3), "a2": 0, "a3": gain(1, 4), "b1": 0, "b2": gain(1, 3)}
    assert by_name(trace, made, "bm25") == pytest.approx(expected, rel=1e-6)


def test_a_chunk_without_a_term_gets_nothing_from_bm25s_ranks():
    made = index_of({"a": ["one two", "three four", "alpha five"]})
    trace = ask(made, mode="no_rerank", question="alpha", rrf_k=60)
    dense = by_name(trace, made, "dense")
    best = max(("a1", "a2"), key=dense.get)
    rank = 1 + sum(v > dense[best] for v in dense.values())
    assert by_name(trace, made, "fused")[best] == pytest.approx(1 / (60 + rank), rel=1e-6)


# The modes of the first stage.


def test_where_no_term_matches_bm25_takes_the_first_and_says_so():
    made = index_of({"a": [f"chunk number {n}" for n in range(12)]})
    trace = ask(made, mode="bm25_top_k", question="zebra")
    record = trace.stage("first_stage")
    assert record.kept == made.chunk_ids[:8]
    assert any("No chunk holds a term" in w and "first 8" in w for w in record.warnings)
    assert not trace.degraded


def test_a_whole_document_is_not_ranked():
    made = index_of(FIVE)
    trace = ask(made, mode="full_document", question="alpha")
    record = trace.stage("first_stage")
    assert record.kept == made.chunk_ids
    assert trace.corpus_scores.fused == b"" and "nothing is ranked" in record.how
    assert {e.score for e in record.entries} == {None}


@pytest.mark.parametrize("length", [999, 1000, 1001])
def test_a_document_at_the_limit_does_not_go_in_whole(length):
    texts = ["alpha beta", "gamma", "x" * (length - len("alpha beta\n\ngamma\n\n"))]
    made = index_of({"a": texts})
    assert len(made.documents[0].text) == length
    knobs = {"full_document_limit": 1000, "top_k": 1}
    record = ask(made, mode="full_document", question="alpha", **knobs).stage("first_stage")
    assert names(made, record.kept) == (["a1", "a2", "a3"] if length < 1000 else ["a1"])
    assert bool(record.warnings) == (length >= 1000)


# Without the model, or with one that fails.


@pytest.mark.parametrize("error", [RuntimeError("boom"), ValueError("boom"), OSError("boom")])
def test_an_encoder_that_fails_leaves_bm25_and_says_so(error):
    class Failing(HashingEncoder):
        def encode_query(self, text):
            raise error

    made = index_of(FIVE)
    trace = ask(made, mode="no_rerank", question="alpha pump", encoder=Failing())
    record = trace.stage("first_stage")
    assert "boom" in record.degraded and "BM25 alone ranks" in record.degraded
    assert names(made, record.kept)[0] == "a1"
    assert trace.corpus_scores.dense == b"" and record.model == "" and trace.models == {}
    assert all("dense" not in e.scores for e in record.entries)


def test_an_index_of_another_encoder_is_a_failure_that_is_said():
    class Wide(HashingEncoder):
        def encode_query(self, text):
            states = super().encode_query(text)
            from dataclasses import replace

            return replace(states, vector=np.ones(99, dtype=np.float32))

    trace = ask(index_of(FIVE), mode="no_rerank", question="alpha", encoder=Wide())
    assert "BM25 alone ranks" in trace.stage("first_stage").degraded


def test_a_cancelled_encoder_cancels():
    class Stopped(HashingEncoder):
        def encode_query(self, text):
            raise Cancelled

    with pytest.raises(Cancelled):
        ask(index_of(FIVE), mode="no_rerank", encoder=Stopped())


def test_an_index_without_vectors_ranks_by_bm25_alone():
    made = build_index([document("alpha pump.", "a"), document("beta.", "b")], counter=WORDS)
    trace = ask(made, mode="no_rerank", question="alpha")
    assert "no encoder" in trace.stage("first_stage").degraded
    assert trace.selected[0].document == "a"


def test_vectors_that_are_no_numbers_rank_last():
    class Odd(HashingEncoder):
        def encode_alone(self, texts, **more):
            from dataclasses import replace

            states = super().encode_alone(texts, **more)
            bad = np.array(["delta" in t for t in texts])
            return replace(states, vectors=np.where(bad[:, None], np.nan, states.vectors))

    made = index_of(FIVE, encoder=Odd())
    trace = ask(made, mode="no_rerank", question="delta valve", fusion="dense")
    record = trace.stage("first_stage")
    assert names(made, record.kept)[-1] == "b1"
    assert entries(record, made)["b1"].scores["dense"] is None
    assert Trace.from_json(trace.to_json()) == trace


def test_a_question_cut_by_the_model_says_so():
    class Short(HashingEncoder):
        def encode_query(self, text):
            from dataclasses import replace

            return replace(super().encode_query(text), truncated=7)

    record = ask(index_of(FIVE), mode="no_rerank", encoder=Short()).stage("first_stage")
    assert any("7 tokens cut" in w for w in record.warnings)


def test_vectors_of_another_encoder_are_not_compared():
    made = build_index(
        [document("alpha pump.", "a")], Settings(), OtherEncoder(), counter=WordCounter()
    )
    record = ask(made, mode="no_rerank", question="alpha").stage("first_stage")
    assert "another encoder read the documents" in record.degraded
    assert all("dense" not in e.scores for e in record.entries)
    own = ask(made, mode="no_rerank", question="alpha", encoder=OtherEncoder())
    assert not own.degraded
