"""The jobs of the Tune page: a knob over its range, or two. Quick from what runs have kept."""

from __future__ import annotations

from typing import Any

from core.diagnosis.grid import MODE
from core.index.index import Index
from core.settings import knob_named
from core.sweep import Map, Sweep, knob_values, sweep, sweep2
from core.trace import Trace
from dashboard import cache, state, work
from dashboard.jobs import RUN, Job
from dashboard.link import View
from dashboard.models import ModelChoice

MOST = 160
"""Runs of one sweep: about as many columns as can be told apart."""

SIZE = 8
"""Values of each of two knobs."""


def swept(view: View, index: Index, knob: str) -> Job:
    """The sweep of ``knob``. It does not depend on where the knob stands now, so turning it
    asks for nothing new."""
    return state.board().ask(
        "sweep",
        (work.trace_key(_without(view, knob)), knob),
        lambda job: _sweep(index, view, knob, job),
        label="Turning the knob",
        patience=work.PATIENCE,
    )


def mapped(view: View, index: Index, knobs: tuple[str, str]) -> Job:
    """Two knobs over a coarse grid."""
    return state.board().ask(
        "map",
        (work.trace_key(_without(view, *knobs)), knobs),
        lambda job: _map(index, view, knobs, job),
        label="Turning both knobs",
        patience=work.PATIENCE,
    )


def _without(view: View, *knobs: str) -> View:
    """The view with those knobs at their defaults: what decides a sweep over them."""
    if MODE in knobs:
        view = view.changed(mode="")
    turned = {k: knob_named(k).default for k in knobs if k != MODE}
    return view.changed(settings=view.settings.changed(**turned))


class _InTurn:
    """The pipeline for a sweep: each run waits for its turn, so that questions come between."""

    def __init__(self, models: ModelChoice, job: Job, total: int = 0) -> None:
        self._models, self._job, self._total, self._runs = models, job, total, 0

    def run(self, index: Index, question: str, *args: Any, **more: Any) -> Trace:
        with RUN.turn(self._job):
            trace = cache.models(self._models).pipeline.run(index, question, *args, **more)
        self._runs += 1
        label = f"Turning: {self._runs:,} settings run"
        self._job.progress(self._runs, self._total, label)
        return trace


def _sweep(index: Index, view: View, knob: str, job: Job) -> Sweep:
    return sweep(
        _InTurn(view.models, job),
        index,
        view.question,
        view.settings,
        view.mode,
        knob,
        view.principal,
        cancelled=job.cancelled,
        most=MOST,
    )


def _map(index: Index, view: View, knobs: tuple[str, str], job: Job) -> Map:
    total = 1
    for knob in knobs:
        total *= len(knob_values(knob, None) or range(SIZE))
    return sweep2(
        _InTurn(view.models, job, total),
        index,
        view.question,
        view.settings,
        view.mode,
        knobs,
        view.principal,
        cancelled=job.cancelled,
        size=SIZE,
    )
