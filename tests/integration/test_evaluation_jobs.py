"""Evaluations of the dashboard in several processes, on the embedded models."""

from __future__ import annotations

import pytest

from core.index.build import build_index
from core.index.cache import ArrayCache, default_root
from core.settings import Settings
from dashboard import cache, evaluation
from dashboard.evaluation import Inputs, Runs, measured
from dashboard.jobs import Job
from tests.evaluate.sets import NOTES, QUESTIONS, RULES


@pytest.mark.slow
def test_several_processes_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = measured(Settings(chunk_tokens=32), False)
    index = build_index(
        [RULES, NOTES], settings, cache.models().encoder, cache=ArrayCache(default_root())
    )
    inputs = Inputs(
        QUESTIONS, ("no_rerank", "rerank_extend_rerank"), (40, 80), "corpus", settings, None, ""
    )
    made = []
    for workers in (1, 2):
        monkeypatch.setattr(evaluation, "worth_workers", lambda questions, n=workers: n)
        job, held = Job(workers, lambda job: None), Runs()
        found = evaluation._run(inputs, index, held, job)
        assert held.get(inputs) is found and job.done == job.total == len(QUESTIONS)
        made.append(found.without_timings())
    assert made[0] == made[1]
