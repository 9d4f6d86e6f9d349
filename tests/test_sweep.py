"""A knob over its range: every change at its very value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from core.errors import Cancelled, SettingsError
from core.fates import fate_of
from core.pipeline import Pipeline
from core.settings import Settings, knob_named
from core.sweep import first_steps, sweep, sweep2
from tests.fakes import HashingEncoder
from tests.stages.made import index_of, named, scores_by_word
from tests.worlds import documents, index, modes, pipeline, questions, settings

SCORES = {"one": 0.92, "two": 0.615, "three": 0.31}
MADE = index_of({"a": ["alpha one", "alpha two", "alpha three"]})


def swept(knob: str, pipe: Pipeline | None = None, mode: str = "bge_rerank", **more):
    pipe = pipe or Pipeline(HashingEncoder(), {"piecewise": scores_by_word(SCORES)})
    settings_ = Settings(dedup_method="off", **more.pop("knobs", {}))
    return sweep(pipe, MADE, "alpha", settings_, mode, knob, **more)


def test_changes_are_found_at_their_very_values():
    """A threshold drops what is below it: at 0.32, 0.62 and 0.93, one step above each relevance."""
    found = swept("relevance_threshold")
    ends = [(c.before, c.value, [n[-1] for n in map(str, c.chunks)]) for c in found.changes]
    assert [(a, b) for a, b, _ in ends] == [(0.31, 0.32), (0.61, 0.62), (0.92, 0.93)]
    assert [c.chunks for c in found.changes] == [
        (named(MADE, "a3"),),
        (named(MADE, "a2"),),
        (named(MADE, "a1"),),
    ]
    assert found.exact and found.current == 0.1
    assert found.runs < 101
    assert [s.value for s in found.settings] == sorted(s.value for s in found.settings)
    assert found.at(0.5).fate(named(MADE, "a3")) == "relevance"
    assert found.at(0.5).tokens < found.at(0.1).tokens
    assert found.chunk_ids == tuple(named(MADE, n) for n in ("a1", "a2", "a3"))


def test_what_could_not_be_pinned_down_says_so():
    found = swept("relevance_threshold", most=26)
    assert not found.exact and found.changes
    assert all(c.exact == (round(c.value - c.before, 9) <= 0.01) for c in found.changes)


def test_a_choice_and_the_mode_show_each_value():
    assert [s.value for s in swept("diversity").settings] == [
        "off",
        "mmr",
        "sections",
        "source_cap",
    ]
    assert [s.value for s in swept("protect_exceptions").settings] == [False, True]
    found = swept("mode", pipeline())
    assert {s.value for s in found.settings} >= {"no_rerank", "bge_rerank"}
    assert found.at("no_rerank").fate(named(MADE, "a1")) == "prompt"


def test_a_map_of_two_knobs():
    pipe = Pipeline(HashingEncoder(), {"piecewise": scores_by_word(SCORES)})
    knobs = ("relevance_threshold", "evidence_budget")
    found = sweep2(pipe, MADE, "alpha", Settings(dedup_method="off"), "bge_rerank", knobs, size=5)
    assert len(found.cells) == len(found.down) and len(found.cells[0]) == len(found.across)
    for i, threshold in enumerate(found.down):
        for j, budget in enumerate(found.across):
            own = Settings(
                dedup_method="off", relevance_threshold=threshold, evidence_budget=budget
            )
            trace = pipe.run(MADE, "alpha", own, "bge_rerank")
            assert found.cells[i][j].tokens == trace.ledger.evidence


@pytest.mark.parametrize("knob", ["chunk_tokens", "instructions", "nonsense"])
def test_what_cannot_be_swept_says_why(knob):
    with pytest.raises(SettingsError, match=knob):
        swept(knob)


def test_a_sweep_can_be_stopped():
    asked = iter([False] * 5 + [True] * 1000)
    with pytest.raises(Cancelled):
        swept("relevance_threshold", cancelled=lambda: next(asked))


@pytest.mark.parametrize("name", ["candidate_k", "evidence_budget", "max_radius", "k1", "rrf_k"])
def test_the_first_values_span_the_range(name):
    knob = knob_named(name)
    chosen = first_steps(knob, knob.default, 24)
    assert chosen[0] == 0 and chosen == sorted(set(chosen)) and len(chosen) <= 26
    assert knob.low + chosen[-1] * knob.step == pytest.approx(knob.high)
    assert knob.default in [pytest.approx(knob.low + s * knob.step) for s in chosen]


NUMBERS = ["candidate_k", "relevance_threshold", "evidence_budget", "max_radius", "dedup_threshold"]


@examples(max_examples=20)
@given(documents(most=3), settings(), questions, modes, st.sampled_from(NUMBERS))
def test_a_sweep_says_what_runs_say(docs, knobs_, question, mode, knob):
    made, pipe = index(docs, knobs_), pipeline()
    found = sweep(pipe, made, question, knobs_, mode, knob, most=60)
    assert getattr(knobs_, knob) in [s.value for s in found.settings]
    fresh = pipeline()
    for setting in found.settings[::7]:
        trace = fresh.run(made, question, knobs_.changed(**{knob: setting.value}), mode)
        assert setting.tokens == trace.ledger.evidence
        for chunk in made.chunk_ids:
            assert setting.fate(chunk) == fate_of(trace, chunk).stage
    for a, b in zip(found.settings, found.settings[1:], strict=False):
        differ = {c for c in made.chunk_ids if a.fate(c) != b.fate(c)}
        change = next((c for c in found.changes if c.before == a.value), None)
        assert differ == set(change.chunks if change else ())
