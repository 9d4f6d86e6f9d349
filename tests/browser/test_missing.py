"""The whole way: a passage is missed, explained, brought back, seen in the prompt, and undone."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.browser.test_app import (
    FIRST,
    LATER,
    parameters,
    rest,
    settled,
    slider,
    wait_for_parameter,
)

QUESTION = (
    "May I fly business class for seven hours if my department head has approved the booking?"
)
PASSAGE = "Staff may not book business class on a flight of more than six hours"
VERDICT = ".st-key-note-warning-verdict, .st-key-note-good-verdict"
FOUND = ".st-key-note-good-verdict"

CELL = """([row, column]) => {
  const figure = document.querySelector('.st-key-chart_sweep .js-plotly-plot');
  const box = figure.getBoundingClientRect();
  const layout = figure._fullLayout;
  return {x: box.left + layout.xaxis._offset + layout.xaxis.c2p(column),
          y: box.top + layout.yaxis._offset + layout.yaxis.c2p(row)};
}"""


def opened(visit, path: str, **query: str):
    return visit(f"{path}?{urlencode({'q': QUESTION, 'protect_exceptions': 'off', **query})}")


def proposal(page, words: str):
    """The row of a proposal that turns this knob."""
    return page.locator("[class*='st-key-proposal_']").filter(has_text=words).first


def gone(page, name: str) -> None:
    for _ in range(LATER // 100):
        if name not in parameters(page):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"the link still has {name}: {page.url}")


def test_a_passage_is_brought_back_and_let_go_again(visit) -> None:
    page = opened(visit, "missing")
    field = page.locator(".st-key-passage textarea")
    field.wait_for(timeout=FIRST)
    rest(page)
    field.fill(PASSAGE)
    field.press("Control+Enter")
    assert wait_for_parameter(page, "passage") == [PASSAGE]
    verdict = page.locator(VERDICT).filter(has_text="was dropped as a duplicate")
    verdict.wait_for(timeout=LATER)
    assert "“not” (negation)" in verdict.inner_text()
    row = proposal(page, "Protect exceptions")
    row.wait_for(timeout=LATER)
    rest(page)
    assert "✓ Proved" in row.inner_text()
    row.get_by_role("button", name="Apply").click()
    page.locator(FOUND).wait_for(timeout=LATER)
    gone(page, "protect_exceptions")  # back at its default, on
    rest(page)
    assert "Applied" in page.locator(".st-key-note-good-applied").inner_text()

    page.locator(".st-key-to_prompt button").click()
    passages = page.locator(".st-key-passages")
    passages.wait_for(timeout=LATER)
    rest(page)
    source = page.locator(".st-key-passage-source").inner_text()
    assert PASSAGE in " ".join(source.split())

    page.get_by_role("link", name="Missing").click()
    page.locator(FOUND).wait_for(timeout=LATER)
    rest(page)
    page.locator(".st-key-undo button").first.click()
    assert wait_for_parameter(page, "protect_exceptions") == ["off"]
    verdict.wait_for(timeout=LATER)
    rest(page)
    assert page.locator(".st-key-undo").count() == 0


def test_a_chunk_of_the_trace_page_leads_to_why_it_is_missing(visit) -> None:
    page = settled(opened(visit, ""), FIRST)
    page.locator(".st-key-why_missing button").first.click()
    assert wait_for_parameter(page, "why") == ["chunk"]
    page.locator(VERDICT).wait_for(timeout=LATER)
    rest(page)
    assert "duplicate" in page.locator(VERDICT).inner_text()
    assert page.locator("[class*='st-key-card_']").count() == 1


def test_a_fault_opens_the_group_of_its_knob(visit) -> None:
    page = opened(visit, "missing", passage=PASSAGE)
    button = page.locator(".st-key-aim_eager_dedup button").first
    button.wait_for(timeout=FIRST)
    rest(page)
    row = page.locator(".st-key-knobrow_protect_exceptions")
    assert not row.is_visible()
    button.click()
    row.wait_for(state="visible", timeout=LATER)
    rest(page)


def test_a_cell_of_the_sweep_sets_the_knob_and_selects_the_chunk(visit) -> None:
    page = opened(visit, "tune", knob="dedup_threshold")
    page.locator(".st-key-chart_sweep .js-plotly-plot").wait_for(timeout=FIRST)
    rest(page)
    last = page.evaluate(
        "document.querySelector('.st-key-chart_sweep .js-plotly-plot').data[0].x.length - 1"
    )
    at = page.evaluate(CELL, [0, last])
    page.mouse.click(at["x"], at["y"])
    chunk = wait_for_parameter(page, "chunk")
    moved = wait_for_parameter(page, "dedup_threshold")
    rest(page)
    assert chunk and float(moved[0]) > 0.75
    page.locator(".st-key-undo button").first.click()
    gone(page, "dedup_threshold")
    rest(page)


def test_a_dragged_slider_is_followed_by_the_sweep(visit) -> None:
    page = opened(visit, "tune", knob="extend_threshold")
    page.locator(".st-key-chart_sweep .js-plotly-plot").wait_for(timeout=FIRST)
    rest(page)
    knob = slider(page, "extend_threshold")
    knob.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(30)
    for _ in range(LATER // 100):
        rest(page)
        now, shown = parameters(page).get("extend_threshold", [""])[0], knob.input_value()
        said = page.locator(".st-key-quiet_tune").inner_text()
        if now and now == shown and f"Window threshold: {now} " in said:
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail(f"the slider shows {shown}, the link {now}, the sweep: {said}")
    assert float(now) > 0.36
