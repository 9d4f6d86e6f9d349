"""From a question set to the trace of a question that lost its evidence, in a real browser."""

from __future__ import annotations

from tests.browser.test_app import FIRST, has_value, parameters, rest, wait_for_parameter

SEGMENT = """() => {
  const figure = document.querySelector('.st-key-chart_losses .js-plotly-plot');
  const bars = [...figure.querySelectorAll('.barlayer .point path')];
  const texts = figure._fullData.flatMap(t => [...t.customdata]);
  const at = texts.findIndex(t => t.startsWith('no_rerank|'));
  const box = bars[at].getBoundingClientRect();
  return {named: texts[at], x: box.left + box.width / 2, y: box.top + box.height / 2};
}"""


def test_from_the_samples_to_the_trace_of_what_was_lost(visit) -> None:
    page = visit("evaluate", viewport={"width": 1440, "height": 1400})
    run = page.locator(".st-key-evaluate_run button")
    run.wait_for(timeout=FIRST)
    rest(page)
    # Two of the six modes, and no slow one.
    page.locator(".st-key-evaluate_modes input").first.click()
    for _ in range(5):
        page.keyboard.press("Backspace")
        rest(page)
    page.keyboard.type("Expanded")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    rest(page)
    run.click()
    page.locator(".st-key-run_bar").get_by_text("measured in").wait_for(timeout=FIRST)
    rest(page)
    assert "18 questions × 2 modes" in page.locator(".st-key-run_bar").inner_text()
    assert "of the evidence within 1,000" in page.locator(".st-key-strong_evaluate").inner_text()

    page.locator(".st-key-chart_losses").scroll_into_view_if_needed()
    page.locator(".st-key-chart_losses .barlayer .point path").first.wait_for(timeout=FIRST)
    rest(page)
    segment = page.evaluate(SEGMENT)
    page.mouse.click(segment["x"], segment["y"])
    rest(page)
    listed = page.locator(".st-key-list_lost")
    has_value(page.locator(".st-key-loss_mode input"), "Basic")
    question = listed.locator("[data-testid=stText]").first.inner_text()
    listed.get_by_role("button", name="Open its trace").first.click()

    page.locator(".st-key-strong_chunk").wait_for(timeout=FIRST)
    rest(page)
    has_value(page.locator(".st-key-question input"), question)
    assert wait_for_parameter(page, "mode") == ["no_rerank"]
    assert parameters(page)["evidence_budget"] == ["1000"]
    assert set(parameters(page)["chunk"]) <= set(parameters(page)["evidence"])

    # Back on the page the figures are there as they were.
    page.get_by_role("link", name="Evaluate").click()
    page.locator(".st-key-chart_recall").wait_for(timeout=FIRST)
