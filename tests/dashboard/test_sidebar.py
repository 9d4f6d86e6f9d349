"""Knobs: every one is drawn, says what it takes, and is idle where the mode has no use for it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.modes import MODES
from core.settings import Settings, knob_named, knobs
from dashboard import knobs as dashboard_knobs
from dashboard.sidebar import KEY


def sidebar_page() -> None:
    """The script that AppTest runs: the sidebar, and the settings that it makes."""
    import streamlit as st

    from dashboard import sidebar, state

    view = state.view()
    sidebar.draw(view.settings, view.mode, frozen=st.session_state.get("frozen", False))


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_function(sidebar_page, default_timeout=20)


def widget(page: AppTest, name: str):
    return page.get_by_key(KEY.format(name)) if hasattr(page, "get_by_key") else None


def test_every_knob_has_a_widget_with_its_range(page: AppTest) -> None:
    page.run()
    assert not page.exception
    for knob in knobs():
        drawn = widget(page, knob.name)
        assert knob.label in drawn.label
        assert (knob.unit in drawn.label) or not knob.unit
        assert knob.help in drawn.help
        if knob.low is not None:
            assert (drawn.min, drawn.max) == (knob.low, knob.high)
        assert drawn.value == knob.default


def test_turning_a_knob_changes_the_settings_and_marks_it(page: AppTest) -> None:
    page.run()
    widget(page, "candidate_k").set_value(20)
    page.run()
    view = page.session_state["view"]
    assert view.settings == Settings(candidate_k=20)
    assert "●" in widget(page, "candidate_k").label
    assert "●" not in widget(page, "b").label
    assert any("1 knob off default" in c.value for c in page.sidebar.caption)


def test_one_knob_and_all_knobs_can_be_reset(page: AppTest) -> None:
    page.run()
    widget(page, "candidate_k").set_value(20)
    widget(page, "b").set_value(0.5)
    page.run()
    page.button(key="reset_candidate_k").click().run()
    assert page.session_state["view"].settings == Settings(b=0.5)
    assert widget(page, "candidate_k").value == 50
    page.button(key="reset_all").click().run()
    assert page.session_state["view"].settings == Settings()
    assert widget(page, "b").value == 0.75


def test_settings_from_elsewhere_reach_the_widgets(page: AppTest) -> None:
    from dashboard.link import View

    page.run()
    page.session_state["view"] = View(settings=Settings(fusion="weighted", max_radius=7))
    page.run()
    assert widget(page, "fusion").value == "weighted"
    assert widget(page, "max_radius").value == 7


def test_a_slider_step_leaves_no_binary_dust(page: AppTest) -> None:
    page.run()
    widget(page, "weight_bm25").set_value(0.1 + 0.2)
    page.run()
    assert page.session_state["view"].settings.weight_bm25 == 0.3


def test_a_frozen_sidebar_turns_nothing(page: AppTest) -> None:
    page.session_state["frozen"] = True
    page.run()
    assert all(widget(page, k.name).disabled for k in knobs())


@pytest.mark.parametrize("mode", sorted(MODES))
def test_the_knobs_that_a_mode_uses_are_those_its_stages_read(mode: str) -> None:
    idle = {k.name for k in knobs() if dashboard_knobs.idle_reason(k, mode, Settings())}
    row = MODES[mode]
    assert ("max_radius" in idle) == (not row.windows_from)
    assert ("weight_dense" in idle) == ("context" not in (row.rerank_1, row.rerank_2))
    assert ("candidate_k" in idle) == (row.first_stage != "fusion")
    assert ("top_k" in idle) == (row.first_stage != "bm25")
    assert ("full_document_limit" in idle) == (row.first_stage != "whole")
    assert "evidence_budget" not in idle


@pytest.mark.parametrize(
    ("knob", "settings", "used"),
    [
        ("rrf_k", Settings(), True),
        ("rrf_k", Settings(fusion="dense"), False),
        ("fusion_bm25", Settings(fusion="weighted"), True),
        ("fusion_bm25", Settings(), False),
        ("mmr_lambda", Settings(diversity="mmr"), True),
        ("mmr_lambda", Settings(), False),
        ("per_source_cap", Settings(diversity="source_cap"), True),
        ("dedup_threshold", Settings(dedup_method="off"), False),
    ],
)
def test_a_knob_that_another_knob_turns_off_says_so(
    knob: str, settings: Settings, used: bool
) -> None:
    reason = dashboard_knobs.idle_reason(knob_named(knob), "no_rerank", settings)
    assert (reason == "") is used


def test_every_group_has_a_title() -> None:
    assert {k.group for k in knobs()} <= set(dashboard_knobs.GROUP_TITLES)


def test_help_is_one_line_with_the_default() -> None:
    for knob in knobs():
        text = dashboard_knobs.help_text(knob)
        assert "\n" not in text
        if knob.low is not None:
            assert "Default:" in text
