"""The pipeline as a whole: errors, strictness, memory, cancelling, threads, modes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from core.errors import Cancelled, EmptyIndexError, ModelError, SettingsError
from core.models.embedded import EmbeddedListwise, EmbeddedPiecewise
from core.models.protocols import Reranking
from core.modes import DEFAULT_MODE, MODES, mode_named
from core.pipeline import Pipeline
from core.settings import STAGES, Settings
from core.trace import EVIDENCE, INSUFFICIENT, NOTHING_FITS
from tests.fakes import HashingEncoder
from tests.stages.made import Told, index_of, names, scores_by_word
from tests.worlds import pipeline

TEXTS = {
    "a": [f"alpha {w} and the pump number {n}" for n, w in enumerate("one two three four".split())],
    "b": [f"beta {w} beside valve number {n}" for n, w in enumerate("five six seven".split())],
}


# What is asked.


@pytest.mark.parametrize("question", ["", " ", "\n\t", "\u3000"])
def test_an_empty_question_is_refused(question):
    with pytest.raises(SettingsError, match="the question: is empty"):
        pipeline().run(index_of(TEXTS), question)


@pytest.mark.parametrize("mode", ["", "rerank", "No_Rerank"])
def test_an_unknown_mode_lists_those_there_are(mode):
    with pytest.raises(SettingsError) as caught:
        pipeline().run(index_of(TEXTS), "alpha", mode=mode)
    assert all(name in str(caught.value) for name in MODES)


@pytest.mark.parametrize(
    "question", ["?", "…", "the of and", "押金", "🙂", "a" * 5_000, "\x00", "a\ud800b"]
)
def test_odd_questions_are_answered(question):
    trace = pipeline().run(index_of(TEXTS), question)
    assert trace.question == question.encode("utf-8", "replace").decode()
    assert trace.to_json().encode()


# Modes.


@pytest.mark.parametrize("name", sorted(MODES))
def test_a_mode_runs_the_stages_that_its_row_names(name):
    mode = mode_named(name)
    trace = pipeline().run(
        index_of(TEXTS), "alpha pump", Settings(candidate_k=2, relevance_threshold=0.0), name
    )
    assert tuple(s.name for s in trace.stages) == STAGES
    for stage in trace.stages:
        assert stage.ran == mode.runs(stage.name), stage.name
    assert not trace.degraded and trace.outcome == EVIDENCE
    assert {k for k in trace.models if k != "encoder"} == {
        s for s in ("rerank_1", "rerank_2") if mode.runs(s)
    }
    for part, said in trace.named_models().items():
        record = trace.stage("first_stage" if part == "encoder" else part)
        assert said.startswith(f"{record.model}, ") and trace.models[part].endswith(said[-8:])


def test_modes_share_what_they_have_in_common():
    encoder = HashingEncoder()
    pipe, made = pipeline(encoder), index_of(TEXTS)
    traces = {m: pipe.run(made, "alpha pump", mode=m) for m in MODES}
    fused = {
        id(t.stage("first_stage")) for m, t in traces.items() if MODES[m].first_stage == "fusion"
    }
    assert len(fused) == 1 and encoder.queries == 1
    one = traces["context_rerank"].stage("rerank_1")
    assert traces[DEFAULT_MODE].stage("rerank_1") is one


@pytest.mark.parametrize(
    ("knobs", "outcome"),
    [
        ({"relevance_threshold": 0.0}, EVIDENCE),
        ({"relevance_threshold": 1.0}, INSUFFICIENT),
        ({"relevance_threshold": 0.0, "evidence_budget": 0}, NOTHING_FITS),
        ({"relevance_threshold": 1.0, "evidence_budget": 0}, INSUFFICIENT),
    ],
)
def test_outcomes(knobs, outcome):
    trace = pipeline().run(index_of(TEXTS), "what is alpha", Settings(**knobs))
    assert trace.outcome == outcome
    assert bool(trace.selected) == (outcome == EVIDENCE)


# Strict.


@pytest.mark.parametrize(
    ("make", "mode", "stage", "reason"),
    [
        (lambda: Pipeline(), "no_rerank", "first_stage", "no encoder"),
        (lambda: Pipeline(HashingEncoder()), "bge_rerank", "rerank_1", "no piecewise reranker"),
        (lambda: Pipeline(HashingEncoder()), "extend_rerank", "rerank_2", "no context reranker"),
    ],
)
def test_strict_raises_what_otherwise_degrades(make, mode, stage, reason):
    made, pipe = index_of(TEXTS), make()
    lenient = pipe.run(made, "alpha", mode=mode)
    assert lenient.degraded[0].name == stage
    for _ in range(2):
        with pytest.raises(ModelError, match=reason) as caught:
            pipe.run(made, "alpha", mode=mode, strict=True)
        assert caught.value.culprit == stage
    assert pipe.run(made, "alpha", mode=mode).without_timings() == lenient.without_timings()


def test_strict_changes_nothing_where_nothing_degrades():
    made = index_of(TEXTS)
    strict = pipeline().run(made, "alpha", strict=True).without_timings()
    assert strict == pipeline().run(made, "alpha").without_timings()
    # A mode that reads no model is not degraded without one.
    assert Pipeline().run(made, "alpha", mode="bm25_top_k", strict=True).outcome == EVIDENCE


# A failure is not remembered, nor what followed from it.


def test_after_a_failure_the_next_run_is_as_if_nothing_had_been():
    made, failing = index_of(TEXTS), [True]
    good = scores_by_word({"alpha": 0.1, "beta": 0.9})

    def answer(request):
        if failing:
            failing.pop()
            raise RuntimeError("out of memory")
        return good.rerank(request)

    pipe = Pipeline(HashingEncoder(), {"context": Told(answer)})
    knobs = Settings(candidate_k=3, max_radius=1)
    bad = pipe.run(made, "alpha beta pump", knobs)
    assert [s.name for s in bad.degraded] == ["rerank_1"]
    again = pipe.run(made, "alpha beta pump", knobs)
    fresh = Pipeline(HashingEncoder(), {"context": Told(answer)}).run(
        made, "alpha beta pump", knobs
    )
    assert not again.degraded
    assert again.without_timings() == fresh.without_timings()


def test_a_failure_after_a_success_does_not_show_the_successs_results():
    made, failing = index_of(TEXTS), []
    good = scores_by_word({"alpha": 0.1, "beta": 0.9})

    def answer(request):
        if failing:
            raise RuntimeError("out of memory")
        return good.rerank(request)

    # Room for the last 8 of 11 stages: the rerank is forgotten, what followed from it is not.
    pipe = Pipeline(HashingEncoder(), {"piecewise": Told(answer)}, kept=8)
    before = pipe.run(made, "alpha pump", mode="bge_rerank")
    failing.append(True)
    after = pipe.run(made, "alpha pump", mode="bge_rerank")
    plain = Pipeline(HashingEncoder()).run(made, "alpha pump", mode="bge_rerank")
    assert after.degraded and after.stage("prompt").kept == plain.stage("prompt").kept
    assert before.stage("relevance").kept != after.stage("relevance").kept


def test_the_memory_is_bounded_and_keeps_what_was_used_last():
    made, probe = index_of(TEXTS), Pipeline(HashingEncoder())
    probe.run(made, "alpha", mode="no_rerank")
    room = 2 * probe._results.weight
    pipe = Pipeline(HashingEncoder(), kept=room)
    first = pipe.run(made, "alpha", mode="no_rerank")
    for n in range(5):
        pipe.run(made, f"question {n}", mode="no_rerank")
        assert pipe.run(made, "alpha", mode="no_rerank").stages[1] is first.stages[1]
    assert pipe._results.weight <= room
    for n in range(3):
        pipe.run(made, f"another {n}", mode="no_rerank")
    assert pipe.run(made, "alpha", mode="no_rerank").stages[1] is not first.stages[1]


def test_a_pipeline_serves_many_indexes():
    one, two = index_of(TEXTS), index_of({"a": TEXTS["a"]})
    pipe = pipeline()
    for made in (one, two, one, two):
        trace = pipe.run(made, "alpha pump")
        assert trace.corpus == made.fingerprint
        assert trace.without_timings() == pipeline().run(made, "alpha pump").without_timings()


# Cancelling.


@pytest.mark.parametrize("after", range(12))
def test_cancelled_in_the_middle_the_pipeline_stays_usable(after):
    made, pipe = index_of(TEXTS), pipeline()
    asked = iter(range(100))
    try:
        pipe.run(made, "alpha pump", cancelled=lambda: next(asked) >= after)
        assert after >= len(STAGES)
    except Cancelled:
        assert after < len(STAGES) + 3
    trace = pipe.run(made, "alpha pump")
    assert trace.without_timings() == pipeline().run(made, "alpha pump").without_timings()


def test_a_model_that_is_stopped_between_batches_stops_the_run():
    """The reranker asks too, and what it raises is not taken for a failure."""
    stop = []

    class Slow(HashingEncoder):
        def encode_alone(self, texts, *, progress=None, cancelled=None):
            stop.append(True)
            if cancelled is not None and cancelled():
                raise Cancelled
            return super().encode_alone(texts)

    encoder = Slow()
    made = index_of(TEXTS)
    pipe = Pipeline(encoder, {"piecewise": EmbeddedPiecewise(encoder)})
    with pytest.raises(Cancelled):
        pipe.run(made, "alpha", mode="bge_rerank", cancelled=lambda: bool(stop))
    assert not pipe.run(made, "alpha", mode="bge_rerank").degraded


def test_an_error_leaves_the_pipeline_usable():
    pipe = pipeline()
    with pytest.raises(EmptyIndexError):
        pipe.run(index_of({}), "alpha")
    assert pipe.run(index_of(TEXTS), "alpha").selected


# Threads.


def test_many_threads_on_one_pipeline_get_what_they_would_get_alone():
    made, pipe = index_of(TEXTS), pipeline()
    jobs = [
        (question, mode, Settings(candidate_k=k))
        for question in ("alpha pump", "beta valve six", "number 2")
        for mode in ("bge_rerank", "jina_rerank", DEFAULT_MODE)
        for k in (2, 5)
    ]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda j: pipe.run(made, j[0], j[2], j[1]), jobs * 2))
    for (question, mode, knobs), trace in zip(jobs * 2, together, strict=True):
        alone = pipeline().run(made, question, knobs, mode)
        assert trace.without_timings() == alone.without_timings()


def test_two_listwise_reads_at_once_are_not_taken_for_each_other():
    """One thread's states arrive while the other's are being read."""

    class Meeting(HashingEncoder):
        def __init__(self):
            super().__init__()
            self.meet = threading.Barrier(2, timeout=20)

        def encode_spans(self, text, spans, **more):
            states = super().encode_spans(text, spans)
            self.meet.wait()
            return states

    encoder = Meeting()
    made = index_of(TEXTS)
    pipe = Pipeline(encoder, {"listwise": EmbeddedListwise(encoder)})
    questions = ("alpha pump", "valve six seven")
    with ThreadPoolExecutor(2) as pool:
        traces = list(pool.map(lambda q: pipe.run(made, q, mode="jina_rerank"), questions))
    for question, trace in zip(questions, traces, strict=True):
        alone = pipeline().run(made, question, mode="jina_rerank")
        assert not trace.degraded
        assert trace.without_timings() == alone.without_timings()


def test_letting_go_of_states_in_one_thread_does_not_rob_another():
    class Meeting(HashingEncoder):
        meet = threading.Barrier(2, timeout=20)

        def encode_alone(self, texts, **more):
            states = super().encode_alone(texts)
            self.meet.wait()
            return states

    made = [index_of({"a": TEXTS["a"]}), index_of({"b": TEXTS["b"]})]
    encoder = Meeting()
    pipe = Pipeline(encoder, {"piecewise": EmbeddedPiecewise(encoder, kept=1)})
    with ThreadPoolExecutor(2) as pool:
        traces = list(pool.map(lambda i: pipe.run(i, "alpha beta", mode="bge_rerank"), made))
    assert not any(t.degraded for t in traces)


# Small things.


def test_page_starts_are_known_for_every_document():
    from core.records import Page

    whole = "\n\n".join(TEXTS["a"])
    second = whole.index("alpha three")
    pages = (Page(1, 0, second), Page(2, second, len(whole)), Page(3, len(whole), len(whole)))
    trace = pipeline().run(index_of(TEXTS, pages={"a": pages}), "alpha")
    assert {d.name: d.page_chunks for d in trace.documents} == {"a": (0, 2, 4), "b": ()}


def test_a_rerankers_parts_stand_under_its_stages_name():
    def answer(request):
        n = len(request.chunks)
        return Reranking(
            np.linspace(0, 1, n), np.zeros(n), parts={"own": np.ones(n)}, tokens_read=7
        )

    pipe = Pipeline(HashingEncoder(), {"context": Told(answer)})
    made = index_of(TEXTS)
    trace = pipe.run(made, "alpha", Settings(candidate_k=3, max_radius=1))
    for name in ("rerank_1", "rerank_2"):
        record = trace.stage(name)
        assert record.tokens_read == 7 and record.model == "told"
        for entry in record.entries:
            assert set(entry.scores) == {name, f"{name}_raw", f"{name}_own"}
    assert names(made, trace.stage("rerank_1").kept)


def test_a_rerankers_fingerprint_parts_what_is_kept():
    made = index_of(TEXTS)
    pipe = pipeline()
    before = pipe.run(made, "alpha", mode="bge_rerank")
    pipe.rerankers["piecewise"] = scores_by_word({"alpha": 0.3, "beta": 0.6})
    after = pipe.run(made, "alpha", mode="bge_rerank")
    assert after.models["rerank_1"] == "told" != before.models["rerank_1"]
    assert after.stage("rerank_1") != replace(before.stage("rerank_1"))
