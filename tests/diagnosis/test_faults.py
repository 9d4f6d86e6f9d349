"""Each fault in a world that shows it, and absent from one that does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.diagnosis.symptoms import faults
from core.diagnosis.symptoms.scores import spearman
from core.models.protocols import Reranking
from core.pipeline import Pipeline
from core.records import ExtractionReport, PageReport
from core.settings import Settings
from tests.fakes import HashingEncoder
from tests.stages.made import Told, ask, index_of, named, names, scores_by_word
from tests.worlds import document, index


def shown(trace, *more) -> dict:
    """The faults of a trace by name."""
    found = {f.name: f for f in faults(trace, *more)}
    for fault in found.values():
        assert fault.title and fault.sentence.endswith(".")
    return found


MANY = {
    "a": [f"alpha {w} stone" for w in "one two three four five six seven eight nine ten".split()]
}


def mixed(weights: tuple[float, float]):
    """A rerank that adds two scores, each with a weight of its own, whatever their scales."""

    def answer(request):
        rng = np.random.default_rng(1)
        n = len(request.chunks)
        bm25, dense = np.arange(n, dtype=float), rng.permutation(n).astype(float)
        raw = weights[0] * bm25 + weights[1] * dense
        return Reranking(
            raw / raw.max(), raw, relevance=np.full(n, 0.9), parts={"bm25": bm25, "dense": dense}
        )

    return Told(answer)


def test_scale_mixing():
    made = index_of(MANY)
    knobs = {"weight_maxsim": 0.0, "dedup_method": "off"}
    bad = shown(ask(made, mixed((100.0, 0.1)), mode="context_rerank", **knobs))
    fault = bad["scale_mixing"]
    assert fault.knob == "weight_bm25" and fault.numbers["bm25"] > 0.99 > fault.numbers["dense"]
    assert "BM25" in fault.sentence and "the dense score" in fault.sentence
    good = shown(ask(made, mixed((1.0, 1.0)), mode="context_rerank", **knobs))
    assert "scale_mixing" not in good
    asked_for = shown(
        ask(made, mixed((100.0, 0.1)), mode="context_rerank", weight_dense=0.0, **knobs)
    )
    assert "scale_mixing" not in asked_for


@pytest.mark.parametrize("fusion", ["bm25", "dense"])
def test_one_score_alone_is_no_fault_where_it_was_asked_for(fusion):
    trace = ask(index_of(MANY), mode="no_rerank", question="alpha one two", fusion=fusion)
    assert "scale_mixing" not in shown(trace)


def test_rank_correlation_against_numbers_worked_out():
    assert spearman(np.array([1, 2, 3, 4.0]), np.array([10, 20, 30, 40.0])) == pytest.approx(1)
    assert spearman(np.array([1, 2, 3, 4.0]), np.array([4, 3, 2, 1.0])) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 · 5).
    tied = spearman(np.array([1, 2, 2, 3.0]), np.array([1, 2, 3, 4.0]))
    assert tied == pytest.approx(4.5 / np.sqrt(4.5 * 5))


RULES = {
    "a": [
        "Refunds are given within 14 days to guests of the house",
        "Refunds are not given within 14 days to guests of the house",
    ]
}


def test_eager_dedup():
    made, scores = index_of(RULES), scores_by_word({"not given": 0.8, "given": 0.9})
    bad = shown(ask(made, scores, question="refunds", protect_exceptions=False))["eager_dedup"]
    assert bad.knob == "protect_exceptions" and names(made, bad.chunks) == ["a2"]
    assert "“not” (negation)" in bad.sentence
    assert "eager_dedup" not in shown(ask(made, scores, question="refunds"))


def test_a_true_copy_may_go():
    made = index_of({"a": ["the very same words", "the very same words"]})
    trace = ask(made, scores_by_word({"same": 0.9}), question="same", protect_exceptions=False)
    assert trace.stage("dedup").dropped
    assert "eager_dedup" not in shown(trace)


def restless(jitter: float):
    """A reranker that answers otherwise every time."""
    rng = np.random.default_rng(3)

    def answer(request):
        scores = np.linspace(0.5, 0.9, len(request.chunks)) + jitter * rng.random(
            len(request.chunks)
        )
        return Reranking(scores / 2, scores, relevance=np.full(len(scores), 0.9))

    return Told(answer)


@pytest.mark.parametrize(("jitter", "stable"), [(1.0, False), (0.0, True)])
def test_unstable_citations(jitter, stable):
    made = index_of(MANY)
    pipeline = Pipeline(HashingEncoder(), {"piecewise": restless(jitter)})
    settings = Settings(dedup_method="off", evidence_budget=40, relevance_threshold=0.0)
    trace = pipeline.run(made, "alpha", settings, "bge_rerank")
    found = shown(trace, made, pipeline)
    assert ("unstable_citations" not in found) == stable
    if not stable:
        fault = found["unstable_citations"]
        assert fault.numbers["changed"] or fault.numbers["moved"]
    assert "unstable_citations" not in shown(trace)  # nothing was run again


def timed(seconds: dict[str, float]):
    trace = ask(index_of(MANY), scores_by_word({"alpha": 0.9}), question="alpha")
    stages = tuple(replace(s, seconds=seconds.get(s.name, 0.001)) for s in trace.stages)
    return replace(trace, stages=stages)


def test_a_slow_stage():
    fault = shown(timed({"rerank_1": 3.0, "first_stage": 0.5}))["slow_stage"]
    assert fault.knob == "candidate_k" and fault.numbers["chunks"] == 10
    assert "rerank_1 took 3.0 of 3.5 seconds, for 10 chunks" in fault.sentence
    assert "slow_stage" not in shown(timed({"rerank_1": 0.4}))
    assert "slow_stage" not in shown(timed({"rerank_1": 1.2, "first_stage": 1.1, "budget": 1.1}))


def told(scores: list[float]):
    def answer(request):
        array = np.array(scores[: len(request.chunks)])
        return Reranking(array, array, relevance=np.full(len(array), 0.9))

    return Told(answer)


def test_a_reranker_that_orders_nothing():
    made = index_of({"a": ["alpha one", "alpha two", "alpha three"]})
    assert shown(ask(made, told([0.5] * 3)))["equal_scores"].numbers["score"] == 0.5
    broken = shown(ask(made, told([0.9, np.nan, 0.1])))["scores_missing"]
    assert (
        names(made, broken.chunks) == ["a2"] and "1 score of 3 is not a number" in broken.sentence
    )
    assert not {"equal_scores", "scores_missing"} & shown(ask(made, told([0.9, 0.2, 0.1]))).keys()


def test_a_reranker_that_is_missing():
    made = index_of({"a": ["alpha one", "alpha two"]})
    assert "no_rerank" in shown(ask(made))
    assert "no_rerank" not in shown(ask(made, mode="no_rerank"))


def test_ends_that_no_model_read():
    made = index_of({"a": ["alpha one", "alpha two"]})

    def unread(tokens):
        given = {"alpha": 0.9}
        return shown(ask(made, scores_by_word(given, truncated=np.array(tokens))))

    fault = unread([0, 40])["unread_ends"]
    assert names(made, fault.chunks) == ["a2"] and fault.knob == "chunk_tokens"
    assert "unread_ends" not in unread([0, 0])


def test_passages_that_are_cut_to_fit():
    made = index_of({"a": ["Alpha one two. " + "Beta three four. " * 30]})
    knobs = {"evidence_budget": 30, "question": "alpha beta"}
    assert shown(ask(made, oversize="trim", **knobs))["trimmed_passages"].numbers["passages"] == 1
    assert "trimmed_passages" not in shown(ask(made, oversize="skip", **knobs))


def test_a_threshold_that_removes_everything():
    made = index_of({"a": ["alpha one", "alpha two"]})
    scores = scores_by_word({"one": 0.3, "two": 0.2})
    fault = shown(ask(made, scores, relevance_threshold=0.5))["everything_removed"]
    assert fault.numbers == {"threshold": 0.5, "removed": 2, "best": 0.3}
    assert "everything_removed" not in shown(ask(made, scores, relevance_threshold=0.25))


def test_one_source_that_crowds_the_others_out():
    texts = {
        "a": [f"alpha {w} of many" for w in "one two three four five".split()],
        "b": ["beta lone"],
    }
    made = index_of(texts)
    ranked = {f"alpha {w}": 0.9 for w in "one two three four five".split()}
    knobs = {"evidence_budget": 55, "dedup_method": "off", "question": "alpha beta"}

    def judged(relevance, **more):
        def answer(request):
            scores = np.array([0.9 if "alpha" in c.text else 0.5 for c in request.chunks])
            chances = np.array([0.8 if "alpha" in c.text else relevance for c in request.chunks])
            return Reranking(scores, scores, relevance=chances)

        return ask(made, Told(answer), **(knobs | more))

    assert ranked
    fault = shown(judged(0.85))["one_source"]
    assert fault.knob == "diversity" and names(made, fault.chunks) == ["b1"]
    assert "are from a;" in fault.sentence
    assert "one_source" not in shown(judged(0.2))  # what was cut is worse
    assert "one_source" not in shown(judged(0.85, evidence_budget=500))  # nothing was cut


def test_weak_evidence():
    made = index_of({"a": ["alpha one", "alpha two"]})
    weak = shown(ask(made, scores_by_word({"one": 0.3, "two": 0.2})))["weak_evidence"]
    assert weak.numbers["best"] == 0.3
    assert "weak_evidence" not in shown(ask(made, scores_by_word({"one": 0.7, "two": 0.2})))
    assert "weak_evidence" not in shown(ask(made, mode="no_rerank"))  # nothing was judged


def test_bad_text():
    report = ExtractionReport(
        pages=(
            PageReport(1, 900),
            PageReport(
                2, 0, 1, ("The page is a picture without text: nothing on it can be found.",)
            ),
        )
    )
    scan = replace(document("Alpha beta gamma.", "scan.pdf"), report=report)
    made = index([scan, document("Alpha delta.", "clean.md")])
    fault = shown(ask(made, question="alpha"), made)["bad_text"]
    assert "1 page of 2 has no text" in fault.sentence and "scan.pdf, page 2" in fault.sentence
    clean = index([document("Alpha delta.", "clean.md")])
    assert "bad_text" not in shown(ask(clean, question="alpha"), clean)
    odd = index([document("Al\ufffdha be\ufffda \ufffd.", "odd.txt")])
    assert "could not be decoded" in shown(ask(odd, question="alpha"), odd)["bad_text"].sentence


def test_a_sound_trace_shows_nothing():
    made = index_of({"a": ["alpha one stone", "beta two sand"], "b": ["gamma three rock"]})
    reranker = scores_by_word({"one": 0.9, "two": 0.5, "three": 0.4})
    trace = ask(made, reranker, question="alpha beta gamma")
    kinds = dict.fromkeys(("piecewise", "listwise", "context"), reranker)
    assert faults(trace, made, Pipeline(HashingEncoder(), kinds)) == ()
    assert named(made, "a1") in {p.chunk_id for p in trace.selected}
