"""A person's way through the app, in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from core.settings import Settings

FIRST = 150_000
"""Milliseconds for the first trace: models load and the sample documents are indexed."""

LATER = 40_000
"""Milliseconds for anything later: generous, since a machine may be busy with other work."""
QUESTION = "Just which release patched CVE-2026-90417, and kept tokens?"
OPENING = (
    "In which cases may the Harbour Master suspend a pilotage exemption certificate "
    "without prior notice?"
)
OFTEN_SEEN = ("missing", "tune", "documents", "prompt")
"""Pages that other tests here open by their address too."""

ALSO_NARROW = ("compare", "evaluate", "missing", "tune", "prompt")
"""Pages whose narrow look is left to the slow suite."""

OUTCOME = ".st-key-note-good-outcome, .st-key-note-warning-outcome"


def settled(page, timeout: int = LATER):
    """The page with its outcome shown and no script running."""
    page.locator(OUTCOME).first.wait_for(timeout=timeout)
    rest(page)
    return page


def rest(page) -> None:
    """Waits until no script has run for a moment."""
    quiet = 0
    for _ in range(LATER // 100):
        state = page.locator("[data-testid=stApp]").get_attribute("data-test-script-state")
        quiet = quiet + 1 if state == "notRunning" else 0
        if quiet >= 4:
            return
        page.wait_for_timeout(100)
    pytest.fail("the page never came to rest")


def parameters(page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def wait_for_parameter(page, name: str, other_than: object = None) -> list[str]:
    for _ in range(LATER // 100):
        found = parameters(page).get(name)
        if found is not None and found != other_than:
            return found
        page.wait_for_timeout(100)
    pytest.fail(f"the link never carried a new {name}: {page.url}")


def ask(page, question: str) -> None:
    field = page.locator(".st-key-question input")
    field.fill(question)
    field.press("Enter")
    wait_for_parameter(page, "q", other_than=parameters(page).get("q"))
    settled(page)


def has_value(field, value: str) -> None:
    """Waits until a field shows this value."""
    from playwright.sync_api import expect

    expect(field).to_have_value(value, timeout=LATER)


def slider(page, knob: str):
    return page.locator(f".st-key-knob_{knob} input[type=range]")


def click_table(page, row: int) -> None:
    """Clicks a row of the chunk table; its cells are drawn on a canvas."""
    grid = page.locator(".st-key-stage_table canvas").first
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    heads = page.locator(".st-key-stage_table [role=row][aria-rowindex]").first
    head = 2 * 35 if heads.get_attribute("aria-rowindex") == "2" else 35
    page.mouse.click(box["x"] + 180, box["y"] + head + 35 * row + 17)


CELL = """() => {
  const figure = document.querySelector('.st-key-map .js-plotly-plot, .js-plotly-plot');
  const box = figure.getBoundingClientRect();
  const chosen = new URLSearchParams(location.search).get('chunk');
  for (const trace of figure._fullData) {
    if (trace.type === 'heatmap' || !trace.customdata || trace.visible !== true) continue;
    const x = figure._fullLayout['xaxis' + trace.xaxis.slice(1)];
    const y = figure._fullLayout['yaxis' + trace.yaxis.slice(1)];
    for (let i = 0; i < trace.x.length; i++) {
      const id = [].concat(trace.customdata[i])[0];
      if (typeof id !== 'string' || !id.includes(':') || id === chosen) continue;
      return {id, x: box.left + x._offset + x.c2p(trace.x[i]),
              y: box.top + y._offset + y.c2p(trace.y[i])};
    }
  }
  return null;
}"""


def test_a_question_a_slider_a_chunk_and_the_link_to_all_of_it(visit) -> None:
    page = settled(visit(), FIRST)
    ask(page, QUESTION)
    # The letters J, K, N and P step through chunks, but not while one types them.
    assert "chunk" not in parameters(page)

    knob = slider(page, "extend_threshold")
    knob.focus()
    knob.press("ArrowRight")
    moved = f"{Settings().extend_threshold + 0.01:.2f}"
    assert wait_for_parameter(page, "extend_threshold") == [moved]
    settled(page)

    click_table(page, 2)
    first = wait_for_parameter(page, "chunk")
    settled(page)

    page.locator(".js-plotly-plot").first.scroll_into_view_if_needed()
    cell = page.evaluate(CELL)
    assert cell is not None
    page.mouse.click(cell["x"], cell["y"])
    second = wait_for_parameter(page, "chunk", other_than=first)
    settled(page)
    title = page.locator(".st-key-strong_chunk").inner_text()

    again = settled(visit("?" + urlsplit(page.url).query))
    has_value(again.locator(".st-key-question input"), QUESTION)
    has_value(slider(again, "extend_threshold"), moved)
    assert again.locator(".st-key-strong_chunk").inner_text() == title
    assert parameters(again)["chunk"] == second


def test_keys_held_down_end_in_one_consistent_page(visit) -> None:
    page = settled(visit("?q=deposit"), FIRST)
    knob = slider(page, "extend_threshold")
    knob.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(30)
    end = f"{Settings().extend_threshold + 0.12:.2f}"
    for _ in range(LATER // 100):
        if parameters(page).get("extend_threshold") == [end]:
            break
        page.wait_for_timeout(100)
    rest(page)
    has_value(knob, end)
    assert parameters(page)["extend_threshold"] == [end]


def test_the_tour_loads_a_question_with_its_knobs(visit) -> None:
    page = settled(visit(), FIRST)
    page.locator(".st-key-tour button").nth(1).click()
    wait_for_parameter(page, "candidate_k")
    settled(page)
    assert "Expected evidence" in page.locator(OUTCOME).first.inner_text()


def test_the_first_view_shows_its_question_and_what_other_modes_miss(visit) -> None:
    page = settled(visit(), FIRST)
    has_value(page.locator(".st-key-question input"), OPENING)
    assert "3 of 3" in page.locator(OUTCOME).first.inner_text()
    others = page.locator(".st-key-quiet_peers")
    others.get_by_text("Basic (no_rerank) 2 of 3").wait_for(timeout=LATER)
    others.get_by_role("link").click()
    page.locator(".st-key-compare_chunks").wait_for(timeout=FIRST)
    has_value(page.locator(".st-key-question input"), OPENING)


@pytest.mark.parametrize(
    "page_name",
    ["compare", "evaluate", *(pytest.param(n, marks=pytest.mark.slow) for n in OFTEN_SEEN)],
)
def test_every_page_opens_by_its_address(visit, page_name: str) -> None:
    page = visit(page_name)
    anchor = {
        "compare": ".st-key-compare_table",
        "evaluate": ".st-key-evaluate_run",
        "missing": ".st-key-passage",
        "tune": ".st-key-chart_sweep",
        "documents": ".st-key-documents",
    }
    page.locator(anchor.get(page_name, ".st-key-passages")).wait_for(timeout=FIRST)
    rest(page)


@pytest.mark.parametrize(
    ("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(14, 17, 23)")]
)
def test_the_page_follows_the_systems_colours(visit, scheme: str, background: str) -> None:
    page = settled(visit(color_scheme=scheme), FIRST)
    app = page.locator("[data-testid=stApp]")
    assert app.evaluate("e => getComputedStyle(e).backgroundColor") == background


def test_two_visitors_with_one_file_name_and_hostile_text(visit, tmp_path: Path) -> None:
    hostile = (
        '# <img src=x onerror="window.harm=1"> ![](http://192.0.2.1/heading.png)\n\n'
        "The {who} visitor's parrot eats walnuts. <script>window.harm=1</script> "
        "![](http://192.0.2.1/text.png) $E=mc^2$\n"
    )
    pages = {}
    for who in ("first", "second"):
        folder = tmp_path / who
        folder.mkdir()
        good, bad = folder / "![](http:192.0.2.1)<b>same.md", folder / "bad.pdf"
        good.write_text(hostile.replace("{who}", who), encoding="utf-8")
        bad.write_bytes(b"%PDF-1.7 but not really")
        page = pages[who] = visit("documents")
        page.locator(".st-key-documents").wait_for(timeout=FIRST)
        page.locator(".st-key-upload input[type=file]").set_input_files([good, bad])
        page.locator(".st-key-upload").get_by_text(re.compile("bad.pdf")).first.wait_for()
        page.get_by_role("button", name="Add", exact=True).click()
        page.locator(".st-key-note-error-files").wait_for(timeout=LATER)
        assert "bad.pdf" in page.locator(".st-key-note-error-files").inner_text()
        rest(page)
    for who, page in pages.items():
        page.get_by_role("link", name="Trace").click()
        settled(page, FIRST)
        ask(page, "What does the parrot eat?")
        page.get_by_text("Text", exact=True).click()
        rest(page)
        text = page.locator(".st-key-chunk_text").inner_text()
        assert f"The {who} visitor's parrot" in text
        assert "<script>" in text
        assert page.evaluate("window.harm") is None
        assert page.locator("[data-testid=stMain] img").count() == 0


@pytest.mark.parametrize(
    "page_name",
    ["", "documents", *(pytest.param(n, marks=pytest.mark.slow) for n in ALSO_NARROW)],
)
def test_a_narrow_window_does_not_scroll_sideways(visit, page_name: str) -> None:
    page = visit(page_name, viewport={"width": 900, "height": 900})
    last = {
        "": OUTCOME,
        "compare": ".st-key-compare_chunks",
        "evaluate": ".st-key-evaluate_run",
        "missing": ".st-key-missing_report",
        "tune": ".st-key-sweep_changes",
        "documents": ".st-key-documents",
    }
    page.locator(last.get(page_name, ".st-key-passages")).first.wait_for(timeout=FIRST)
    rest(page)
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


def test_a_trace_is_saved_and_opened_again(visit, tmp_path: Path) -> None:
    page = settled(visit(), FIRST)
    page.get_by_role("button", name="Export").click()
    saved = tmp_path / "monday.json"
    with page.expect_download() as download:
        page.get_by_role("button", name="Trace as JSON").click()
    download.value.save_as(saved)
    with page.expect_download() as download:
        page.get_by_role("button", name="Table as CSV").click()
    assert "First words" in Path(download.value.path()).read_text(encoding="utf-8")

    again = settled(visit("?q=deposit"))
    again.get_by_role("button", name="Export").click()
    again.locator(".st-key-open_trace input[type=file]").set_input_files(saved)
    again.locator(".st-key-note-info-saved").wait_for(timeout=LATER)
    rest(again)
    assert "monday.json" in again.locator(".st-key-note-info-saved").inner_text()
    question = page.locator(".st-key-question input").input_value()
    has_value(again.locator(".st-key-question input"), question)
    again.get_by_role("button", name="Back to live").click()
    has_value(again.locator(".st-key-question input"), "deposit")


def test_a_trace_of_another_pipeline_is_compared_with_now(visit, tmp_path: Path) -> None:
    page = visit("compare?q=deposit")
    page.locator(".st-key-difference_prompts").wait_for(timeout=FIRST)
    rest(page)
    result = {"id": "1", "text": "A deposit is refunded.", "metadata": {"source": "theirs.md"}}
    run = {"question": "deposit", "stages": [{"name": "retrieve", "results": [result]}]}
    run["prompt"] = "A deposit is refunded."
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps(run), encoding="utf-8")
    page.locator(".st-key-saved_traces summary").click()
    page.locator(".st-key-saved_upload input[type=file]").set_input_files(file)
    page.locator(".st-key-note-info-difference_notes").wait_for(timeout=LATER)
    rest(page)
    notes = page.locator(".st-key-note-info-difference_notes").inner_text()
    assert "Two pipelines" in notes and "theirs.json (saved) does not record: access" in notes
    with page.expect_download() as download:
        page.get_by_role("button", name="Report as Markdown").click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert report.startswith("# theirs.json") and "theirs.md, chunk 1" in report


def test_a_narrow_window_keeps_the_knobs_and_leaves_the_page_most_of_the_width(visit):
    page = settled(visit(viewport={"width": 900, "height": 1000}), FIRST)
    # The sidebar slides for a moment, so that every width is waited for.
    wide = "document.querySelector('[data-testid=stMain]').getBoundingClientRect().width"
    narrow = "document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().width"
    page.wait_for_function(f"{narrow} < 260 && {wide} > 640", timeout=LATER)
    knob = page.locator(".st-key-knob_candidate_k")
    knob.wait_for(timeout=LATER)
    page.locator("[data-testid=stSidebarHeader]").hover()
    page.locator("[data-testid=stSidebarCollapseButton] button").click()
    page.wait_for_function(f"{wide} === 900", timeout=LATER)
    page.locator("[data-testid=stExpandSidebarButton]").click()
    page.wait_for_function(f"{narrow} > 100 && {wide} > 640 && {wide} < 900", timeout=LATER)
    knob.wait_for(timeout=LATER)
