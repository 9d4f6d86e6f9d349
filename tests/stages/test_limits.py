"""What a rerank may cost: its time limit, and scores that outlast the program."""

from __future__ import annotations

import time

import numpy as np
import pytest

from core.errors import Cancelled, ModelError
from core.index.scores import FILE, ScoreCache
from core.models.protocols import Reranking
from core.pipeline import Pipeline
from core.settings import Settings
from core.stages.limits import Clock, OutOfTime
from tests.fakes import HashingEncoder
from tests.stages.made import index_of

WORLD = index_of({"a": ["alpha one", "beta two", "gamma three"], "b": ["delta four", "eps five"]})
KNOBS = Settings(relevance_threshold=0.0)


class Slow:
    """Scores a text by its length, one at a time and not before ``pause`` seconds, if asked to
    between the texts; it counts what it reads."""

    name = "slow"
    fingerprint = "slow-1"

    def __init__(self, pause: float = 0.0) -> None:
        self.pause, self.read = pause, 0

    def lasting(self, request):
        return {c.id: c.text for c in request.chunks}

    def rerank(self, request):
        for chunk in request.chunks:
            if chunk.id in request.memo:
                continue
            if request.cancelled():
                raise Cancelled
            time.sleep(self.pause)
            self.read += 1
            request.memo[chunk.id] = len(chunk.text) / 100
        raw = np.array([request.memo[c.id] for c in request.chunks])
        return Reranking(raw, raw, raw, tokens_read=len(raw))


def run(pipeline: Pipeline, seconds: float = 0.0, **more):
    knobs = KNOBS.changed(rerank_seconds=seconds)
    return pipeline.run(WORLD, "alpha beta", knobs, "bge_rerank", **more)


def piped(reranker, **more) -> Pipeline:
    return Pipeline(HashingEncoder(), {"piecewise": reranker}, **more)


def test_a_rerank_past_its_limit_leaves_the_order_and_says_why():
    slow = Slow(0.05)
    trace = run(piped(slow), 0.06)
    record = trace.stage("rerank_1")
    assert record.degraded == (
        "slow passed its time limit of 0.06 s (rerank_seconds): the order before it stays"
    )
    assert 0 < slow.read < 5
    assert record.kept == trace.stage("first_stage").kept
    assert not any("rerank_1" in e.scores for e in record.entries)


def test_an_answer_that_comes_too_late_is_none():
    class Deaf(Slow):
        def rerank(self, request):
            time.sleep(0.03)
            return Reranking(np.ones(len(request.chunks)), np.ones(len(request.chunks)))

    assert "passed its time limit" in run(piped(Deaf()), 0.01).stage("rerank_1").degraded


def test_what_was_read_in_time_is_kept_and_the_next_run_goes_on():
    slow = Slow(0.04)
    pipeline = piped(slow)
    runs = 0
    while run(pipeline, 0.06).degraded:
        runs += 1
        assert runs < 20
    assert slow.read == 5 and runs > 0


def test_strict_makes_it_an_error():
    with pytest.raises(ModelError, match="passed its time limit"):
        run(piped(Slow(0.05)), 0.01, strict=True)


def test_no_limit_and_a_wide_one_are_the_same_result_and_computed_once():
    slow = Slow()
    pipeline = piped(slow)
    first, second = run(pipeline), run(pipeline, 3_600.0)
    assert slow.read == 5
    assert first.stage("rerank_1") is second.stage("rerank_1")


def test_a_person_who_stops_is_no_time_limit():
    with pytest.raises(Cancelled):
        run(piped(Slow()), 9.0, cancelled=iter([*[False] * 4, *[True] * 90]).__next__)
    clock = Clock(0.001, lambda: True)
    time.sleep(0.01)
    assert clock.stop()
    with pytest.raises(OutOfTime):
        Clock(0.0001, lambda: False).check() or time.sleep(0.01) or clock.check()


def test_scores_outlast_the_program_and_leave_no_mark(tmp_path):
    first = Slow()
    fresh = run(piped(first, scores=ScoreCache(tmp_path)))
    second = Slow()
    again = run(piped(second, scores=ScoreCache(tmp_path)))
    assert (first.read, second.read) == (5, 0)
    assert again.without_timings() == fresh.without_timings()
    without = Slow()
    assert run(piped(without)).without_timings() == fresh.without_timings()


def test_another_model_or_no_folder_reads_anew(tmp_path):
    run(piped(Slow(), scores=ScoreCache(tmp_path)))
    other = Slow()
    other.fingerprint = "slow-2"
    run(piped(other, scores=ScoreCache(tmp_path)))
    alone = Slow()
    run(piped(alone))
    assert (other.read, alone.read) == (5, 5)


def test_scores_of_work_cut_short_are_kept_too(tmp_path):
    slow = Slow(0.05)
    assert run(piped(slow, scores=ScoreCache(tmp_path)), 0.06).degraded
    rest = Slow()
    run(piped(rest, scores=ScoreCache(tmp_path)))
    assert slow.read + rest.read == 5 and slow.read


def test_a_damaged_file_costs_time_alone(tmp_path):
    fresh = run(piped(Slow(), scores=ScoreCache(tmp_path)))
    (tmp_path / FILE).write_bytes(b"noise" * 1000)
    slow = Slow()
    again = run(piped(slow, scores=ScoreCache(tmp_path)))
    assert slow.read == 5 and again.without_timings() == fresh.without_timings()


def test_the_embedded_rerankers_need_no_disk(tmp_path):
    from tests.worlds import pipeline

    made = pipeline()
    made.scores = ScoreCache(tmp_path)
    made.run(WORLD, "alpha beta", KNOBS, "rerank_extend_rerank")
    assert not (tmp_path / FILE).exists()
