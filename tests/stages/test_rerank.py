"""Stages 3 and 5: whatever a reranker answers, scores belong to their chunks or are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.errors import Cancelled, ModelError
from core.models.embedded import EmbeddedPiecewise
from core.models.protocols import Reranking
from core.pipeline import Pipeline
from core.settings import Settings
from core.trace import Trace
from tests.fakes import HashingEncoder
from tests.stages.made import Told, ask, entries, index_of, names, scores_by_word

SIX = {"a": ["alpha one", "beta two", "gamma three"], "b": ["delta four", "eps five", "zeta six"]}
RISING = {"alpha": 0.1, "beta": 0.2, "gamma": 0.3, "delta": 0.4, "eps": 0.5, "zeta": 0.6}


# C7: scores are joined by chunk, not by position.


@pytest.mark.parametrize("mode", ["bge_rerank", "jina_rerank", "context_rerank"])
@pytest.mark.parametrize("question", ["alpha beta", "zeta six five", "gamma alpha zeta"])
def test_scores_stay_with_their_chunks(mode, question):
    made = index_of(SIX)
    trace = ask(made, scores_by_word(RISING), mode, question)
    given = {n: e.score for n, e in entries(trace.stage("rerank_1"), made).items()}
    assert given == {"a1": 0.1, "a2": 0.2, "a3": 0.3, "b1": 0.4, "b2": 0.5, "b3": 0.6} and (
        names(made, trace.stage("rerank_1").kept) == ["b3", "b2", "b1", "a3", "a2", "a1"]
    )


def test_a_reranker_that_answers_in_its_own_order_is_put_right_by_the_order_it_was_given():
    """A library that returns pairs sorted, with the index of each (jina's does)."""

    def answer(request):
        rows = request.retrieval_order
        pairs = [(int(i), len(request.chunks[i].text) / 100) for i in rows]
        pairs.sort(key=lambda pair: -pair[1])
        scores = np.empty(len(pairs))
        for i, score in pairs:
            scores[i] = score
        return Reranking(scores=scores, raw=scores)

    made = index_of({"a": ["alpha " * n for n in (3, 1, 2)]})
    trace = ask(made, Told(answer), question="alpha")
    assert names(made, trace.stage("rerank_1").kept) == ["a1", "a3", "a2"]


def test_retrieval_order_and_document_order_are_both_told():
    seen = {}

    def answer(request):
        seen["chunks"] = [c.text for c in request.chunks]
        seen["retrieved"] = [request.chunks[i].text for i in request.retrieval_order]
        return Reranking(np.zeros(len(request.chunks)), np.zeros(len(request.chunks)))

    made = index_of(SIX)
    trace = ask(made, Told(answer), "jina_rerank", "zeta six and delta")
    assert seen["chunks"] == [c.text for c in made.chunks]
    assert seen["retrieved"] == [made.chunk(i).text for i in trace.stage("first_stage").kept]
    assert seen["retrieved"] != seen["chunks"]


# C8: what is not reranked has a stated place.


@pytest.mark.parametrize("k", [1, 3, 5, 6, 50])
def test_the_order_of_what_is_not_reranked_is_stated(k):
    from core.fates import fate_of

    made = index_of(SIX)
    trace = ask(made, scores_by_word(RISING), question="alpha beta gamma delta eps", candidate_k=k)
    reranked = trace.stage("rerank_1").kept
    assert len(reranked) == min(k, 6)
    fused = trace.corpus_scores.array("fused")
    assert len(fused) == 6  # every chunk has a score, and so a rank
    cut = trace.stage("first_stage").last_kept
    for row, chunk in enumerate(made.chunk_ids):
        if chunk not in reranked:
            fate = fate_of(trace, chunk)
            assert (fate.stage, fate.cause) == ("first_stage", cut)
            assert fate.margin == pytest.approx(fused[row] - fused[made.row(cut)])
            assert fate.margin <= 0


# C9: no item, one item, a whole list.


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("mode", ["bge_rerank", "rerank_extend_rerank"])
def test_one_item_is_a_list_too(size, mode):
    made = index_of({"a": ["alpha one", "beta two", "gamma three"][:size]})
    trace = ask(made, scores_by_word(RISING), mode)
    assert len(trace.stage("rerank_1").kept) == size == len(trace.stage("rerank_1").entries)


def test_nothing_to_rerank_is_no_failure():
    made = index_of(SIX)
    reranker = scores_by_word({**RISING, "alpha": 0.0})
    trace = ask(made, reranker, relevance_threshold=1.0)
    assert trace.stage("dedup").entered == 0
    assert not trace.degraded
    assert trace.stage("budget").kept == () == trace.selected


# C6: a score that is not a number.


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("mode", ["bge_rerank", "rerank_extend_rerank"])
@pytest.mark.parametrize("threshold", [0.0, 0.1])
def test_what_is_no_number_goes_last_and_is_flagged(odd, mode, threshold):
    def answer(request):
        table = {"alpha": 0.9, "beta": odd, "gamma": 0.2}
        scores = np.array([table[c.text.split()[0]] for c in request.chunks])
        return Reranking(scores, scores, relevance=np.where(np.isfinite(scores), scores, np.nan))

    made = index_of({"a": ["alpha one", "beta two", "gamma three"]})
    trace = ask(made, Told(answer), mode, relevance_threshold=threshold)
    record = trace.stage("rerank_1")
    assert names(made, record.kept) == ["a1", "a3", "a2"]
    entry = entries(record, made)["a2"]
    assert entry.score is None and entry.rank == 3 and "no number" in entry.reason
    assert any("1 scores are not numbers" in w for w in record.warnings)
    assert Trace.from_json(trace.to_json()) == trace
    shown = names(made, [p.chunk_id for p in trace.selected])
    assert ("a2" in shown) == (threshold == 0)
    if threshold:
        (lost,) = (e for e in trace.stage("relevance").entries if e.fate == "dropped")
        assert "not a number" in lost.reason and lost.margin is None


def test_a_vector_that_is_no_number_is_one_chunks_trouble():
    """The context rerank's neighbours must not catch it."""

    class Odd(HashingEncoder):
        def encode_alone(self, texts, **more):
            states = super().encode_alone(texts, **more)
            vectors = np.array(states.vectors)
            vectors[[i for i, t in enumerate(texts) if "gamma" in t]] = np.nan
            return replace(states, vectors=vectors)

    from core.models.embedded import EmbeddedContext

    encoder = Odd()
    made = index_of(SIX, encoder=encoder)
    trace = ask(made, EmbeddedContext(encoder), "context_rerank", encoder=encoder)
    record = trace.stage("rerank_1")
    odd = [n for n, e in entries(record, made).items() if e.score is None]
    assert odd == ["a3"] and names(made, record.kept)[-1] == "a3"
    assert Trace.from_json(trace.to_json()) == trace


def test_a_zero_vector_is_a_low_score():
    made = index_of({"a": ["alpha one", "‑‑ ‑‑", "beta two"]})
    trace = ask(made, EmbeddedPiecewise(HashingEncoder()))
    assert np.isfinite(trace.corpus_scores.array("dense")).all()
    assert not trace.degraded
    assert names(made, trace.stage("rerank_1").kept)[-1] == "a2"


# The context score: what it is made of.


def context_trace(texts, question, **knobs):
    from core.models.embedded import EmbeddedContext

    encoder = HashingEncoder()
    made = index_of(texts, encoder=encoder)
    pipe = Pipeline(encoder, {"context": EmbeddedContext(encoder)})
    record = pipe.run(made, question, Settings(**knobs), "context_rerank").stage("rerank_1")
    return {n: e.scores for n, e in entries(record, made).items()}


def test_the_trace_holds_all_that_the_context_score_is_made_of():
    scores = context_trace(SIX, "alpha beta gamma", weight_terms=0.4)
    weights = {"bm25": 0.25, "dense": 0.25, "maxsim": 0.3, "terms": 0.4}
    for held in scores.values():
        mean = sum(w * held[f"rerank_1_{part}"] for part, w in weights.items()) / 1.2
        assert held["rerank_1_own"] == pytest.approx(mean)
    for part, source in (("terms", "coverage"), ("maxsim", "near")):
        raw = [held[f"rerank_1_{source}"] for held in scores.values()]
        share = [held[f"rerank_1_{part}"] for held in scores.values()]
        assert np.ptp(raw) > 0 and share == pytest.approx((raw - np.min(raw)) / np.ptp(raw))


def test_the_rare_word_of_a_question_decides():
    common = {"a": ["report on zebra", *("report of the year" for _ in range(8))]}
    alone = {"weight_bm25": 0, "weight_dense": 0, "weight_terms": 0, "neighbour_share": 0}
    scores = context_trace(common, "of the zebra", neighbour_words=0, **alone)
    # Two of three words are in the others; the one that is not says most.
    assert max(scores, key=lambda n: scores[n]["rerank_1"]) == "a1"


def test_a_word_in_the_chunk_next_door_counts_less():
    texts = {"a": ["alpha one", "beta two", "three four", "five six"], "b": ["alpha seven"]}
    alone = {"weight_bm25": 0, "weight_dense": 0, "weight_terms": 0, "neighbour_share": 0}
    near = {
        share: {
            n: s["rerank_1_near"] - s["rerank_1_raw"]
            for n, s in context_trace(texts, "alpha beta", neighbour_words=share, **alone).items()
        }
        for share in (0.0, 0.5, 1.0)
    }
    assert set(near[0.0].values()) == {0}
    for gained in (near[0.5], near[1.0]):
        assert gained["a1"] > 0 and gained["a2"] > 0 and gained["a3"] > 0
        assert gained["b1"] == 0  # another document is not next door
    assert near[0.5]["a1"] < near[1.0]["a1"]


# C1: what the model does not read is shown.


@pytest.mark.parametrize("cut", [1, 388])
def test_tokens_that_were_not_read_are_shown(cut):
    def answer(request):
        scores = np.full(len(request.chunks), 0.5)
        lengths = np.array([cut if "beta" in c.text else 0 for c in request.chunks])
        return Reranking(scores, scores, truncated=lengths)

    made = index_of(SIX)
    record = ask(made, Told(answer)).stage("rerank_1")
    reasons = {n: e.reason for n, e in entries(record, made).items()}
    assert reasons.pop("a2") == f"{cut} tokens at its end were not read"
    assert not any(reasons.values())
    assert any(w.startswith("1 chunks were longer") for w in record.warnings)


def test_a_long_chunk_read_alone_says_what_was_cut():
    class Short(HashingEncoder):
        """Reads 512 tokens of a text."""

        def encode_alone(self, texts, **more):
            states = super().encode_alone(texts, **more)
            over = [max(0, len(t.split()) - 512) for t in texts]
            return replace(states, truncated=np.array(over, dtype=np.int32))

    answer_last = " ".join(["filler"] * 899 + ["alpha"])
    made = index_of({"a": [answer_last, "beta two"]})
    record = ask(made, EmbeddedPiecewise(Short()), question="alpha").stage("rerank_1")
    assert entries(record, made)["a1"].reason == "388 tokens at its end were not read"


# Degraded: said so, and the order before it stays.


def _raises(error: BaseException):
    def answer(request):
        raise error

    return Told(answer)


def _gives(**fields):
    def answer(request):
        n = len(request.chunks)
        given = {"scores": np.linspace(0, 1, n), "raw": np.zeros(n)}
        return Reranking(**(given | {k: v(n) for k, v in fields.items()}))

    return Told(answer)


BROKEN = {
    "missing": (None, "no piecewise reranker is loaded"),
    "model error": (_raises(ModelError("m", "is not installed")), "m: is not installed"),
    "any error": (_raises(RuntimeError("out of memory")), "out of memory"),
    "key error": (_raises(KeyError("keys")), "keys"),
    "too few": (_gives(scores=lambda n: np.zeros(n - 1)), "gave 5 scores for 6 chunks"),
    "too many": (_gives(scores=lambda n: np.zeros(n + 1)), "gave 7 scores for 6 chunks"),
    "two labels": (_gives(scores=lambda n: np.zeros((n, 2))), "scores for 6 chunks"),
    "raw too few": (_gives(raw=lambda n: np.zeros(n - 1)), "gave 5 raw scores for 6 chunks"),
    "relevance short": (_gives(relevance=lambda n: np.zeros(1)), "1 relevances for 6 chunks"),
    "relevance of logits": (_gives(relevance=lambda n: np.linspace(-3, 3, n)), "probability"),
    "part short": (_gives(parts=lambda n: {"own": np.zeros(n - 2)}), "4 scores own for 6 chunks"),
    "lengths short": (_gives(truncated=lambda n: np.zeros(2)), "gave 2 lengths for 6 chunks"),
    "all NaN": (_gives(scores=lambda n: np.full(n, np.nan)), "not one of its scores is a number"),
    "not an answer": (Told(lambda request: None), "NoneType"),
    "words": (_gives(scores=lambda n: ["high"] * n), "high"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_reranker_that_fails_leaves_the_order_and_says_so(case):
    reranker, said = BROKEN[case]
    made = index_of(SIX)
    trace = ask(made, reranker)
    plain = ask(made, mode="no_rerank")
    record = trace.stage("rerank_1")
    assert said in record.degraded and record.degraded.endswith("the order before it stays")
    assert record.kept == trace.stage("first_stage").kept
    assert {e.reason for e in record.entries} == {"not reranked"}
    assert not any("rerank_1" in e.scores for s in trace.stages for e in s.entries)
    assert [e.score for e in record.entries] == [
        e.score for e in plain.stage("rerank_1").entries
    ] or (record.entries[0].score == trace.stage("first_stage").entries[0].score)
    assert [p.chunk_id for p in trace.selected] == [p.chunk_id for p in plain.selected]
    assert record.model == "" and "rerank_1" not in trace.models


def test_lists_in_place_of_arrays_will_do():
    made = index_of(SIX)
    trace = ask(made, _gives(scores=lambda n: list(range(n)), raw=lambda n: list(range(n))))
    assert not trace.degraded
    assert trace.stage("rerank_1").kept == made.chunk_ids[::-1]


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_scores_are_said_to_order_nothing(value):
    made = index_of(SIX)
    trace = ask(made, _gives(scores=lambda n: np.full(n, value)))
    record = trace.stage("rerank_1")
    assert any("ordered nothing" in w for w in record.warnings)
    assert record.kept == made.chunk_ids  # ties: document id, ordinal
    assert {e.score for e in record.entries} == {value}


def test_windows_say_whose_scores_opened_them():
    made = index_of(SIX)
    good = ask(made, scores_by_word(RISING), "rerank_extend_rerank")
    assert "scores of rerank_1" in good.stage("extend").how
    bad = ask(made, None, "rerank_extend_rerank")
    assert "scores of first_stage" in bad.stage("extend").how


def test_a_second_round_that_fails_keeps_the_first():
    """Chunks that only a window brought follow those that were scored."""
    answered = []

    def answer(request):
        if answered:
            raise RuntimeError("gone")
        answered.append(1)
        scores = np.array([RISING[c.text.split()[0]] for c in request.chunks])
        return Reranking(scores, scores, relevance=scores)

    made = index_of(SIX)
    knobs = {"candidate_k": 2, "max_radius": 2, "extend_threshold": 0.0}
    trace = ask(made, Told(answer), "rerank_extend_rerank", "gamma delta", **knobs)
    extend, second = trace.stage("extend"), trace.stage("rerank_2")
    assert "gone" in second.degraded
    assert extend.added and second.kept == extend.kept + extend.added
    assert [e.score for e in second.entries][2:] == [None] * len(extend.added)


# What is kept between runs.


def test_windows_cost_no_reading():
    """The context rerank reads nothing: states are the index's, scores are kept by chunk."""
    from tests.worlds import pipeline

    encoder = HashingEncoder()
    made = index_of({"a": [f"alpha beta {n} gamma" for n in range(40)]}, encoder=encoder)
    read = encoder.spans_read
    pipe = pipeline(encoder)
    asked = []
    fetch = made.states
    made.states = lambda rows: asked.extend(rows) or fetch(rows)
    knobs = Settings(candidate_k=5, max_radius=4, extend_threshold=0.0)
    pipe.run(made, "alpha gamma", knobs)
    assert encoder.spans_read == read and encoder.queries == 1
    assert len(asked) == len(set(asked))  # the second round asked for the windows alone
    first = len(asked)
    pipe.run(made, "alpha gamma", knobs.changed(max_radius=1, extend_threshold=0.5))
    pipe.run(made, "alpha gamma", knobs.changed(weight_bm25=1.0))
    assert len(asked) == first and encoder.queries == 1


def test_a_chunk_read_alone_is_read_once():
    encoder = HashingEncoder()
    pipe = Pipeline(encoder, {"piecewise": EmbeddedPiecewise(encoder)})
    made = index_of(SIX, encoder=encoder)
    before = encoder.spans_read
    pipe.run(made, "alpha", mode="bge_rerank")
    assert encoder.spans_read - before == 6
    pipe.run(made, "another question", mode="bge_rerank")
    assert encoder.spans_read - before == 6


def test_letting_go_of_what_is_kept_changes_no_score():
    encoder = HashingEncoder()
    small = EmbeddedPiecewise(encoder, kept=2)
    made = index_of(SIX, encoder=encoder)
    for _ in range(2):
        one = ask(made, small, encoder=encoder).without_timings()
        other = ask(made, EmbeddedPiecewise(encoder), encoder=encoder).without_timings()
        assert one == other


def test_a_reranker_may_be_cancelled():
    with pytest.raises(Cancelled):
        ask(index_of(SIX), _raises(Cancelled()))
