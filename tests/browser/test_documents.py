"""The page beside the text: a chunk on the picture is chosen, and files survive a reload."""

from __future__ import annotations

from tests.browser.conftest import ROOT, own_faults
from tests.browser.test_app import FIRST, LATER, parameters, rest, wait_for_parameter
from tests.ingest.pdfs import drawn, prose

PLOT = ".st-key-page_picture .js-plotly-plot"

LINE = """(other) => {
  const figure = document.querySelector('.st-key-page_picture .js-plotly-plot');
  if (!figure || !figure._fullData) return null;
  const box = figure.getBoundingClientRect();
  const {xaxis, yaxis} = figure._fullLayout;
  for (const trace of figure._fullData) {
    if (trace.type !== 'bar' || trace.name.startsWith('not ranked')) continue;
    for (let i = 0; i < trace.x.length; i++) {
      const id = [].concat(trace.customdata[i])[0];
      if (typeof id !== 'string' || !id.includes(':') || id === other) continue;
      return {id, x: box.left + xaxis._offset + xaxis.c2p(trace.base[i] + trace.x[i] / 2),
              y: box.top + yaxis._offset + yaxis.c2p(trace.y[i])};
    }
  }
  return null;
}"""


def line_of_another_chunk(page, chunk: str):
    for _ in range(LATER // 250):
        found = page.evaluate(LINE, chunk)
        if found:
            return found
        page.wait_for_timeout(250)
    raise AssertionError("no chunk was ever drawn on the page's picture")


def test_a_chunk_on_the_page_is_selected_by_a_click(visit) -> None:
    page = visit("documents")
    page.locator(PLOT).wait_for(timeout=FIRST)
    rest(page)
    page.locator(PLOT).scroll_into_view_if_needed()
    # The picture itself is there, and not only the chunks on it.
    source = page.locator(f"{PLOT} image").first.get_attribute("href", timeout=LATER)
    assert source.startswith("data:image/png;base64,")
    place = line_of_another_chunk(page, "")
    page.mouse.click(place["x"], place["y"])
    assert wait_for_parameter(page, "chunk") == [place["id"]]
    rest(page)
    page.locator(".st-key-document_text [class*='st-key-block-selected']").first.wait_for(
        timeout=LATER
    )


def test_files_that_were_added_are_there_after_a_reload(visit) -> None:
    page = visit("documents")
    page.locator(".st-key-documents").wait_for(timeout=FIRST)
    rest(page)
    page.locator(".st-key-upload input[type=file]").set_input_files(
        {"name": "survey.pdf", "mimeType": "application/pdf", "buffer": drawn(prose(1, 30))}
    )
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("11 documents").first.wait_for(timeout=FIRST)
    docs = wait_for_parameter(page, "docs")
    rest(page)
    page.reload()
    page.get_by_text("11 documents").first.wait_for(timeout=FIRST)
    assert parameters(page)["docs"] == docs
    page.get_by_role("button", name="Remove the samples").click()
    page.get_by_text("1 document", exact=True).first.wait_for(timeout=FIRST)


def test_only_our_own_faults_count():
    theirs = 'Traceback (most recent call last):\n  File "/x/site-packages/y.py", line 1\nE: z\n'
    ours = f'Traceback (most recent call last):\n  File "{ROOT}/dashboard/y.py", line 1\nE: z\n'
    venv = f'Traceback (most recent call last):\n  File "{ROOT}/.venv/lib/site-packages/y.py"\n'
    assert own_faults(f"said\n{theirs}{venv}") == []
    assert len(own_faults(f"said\n{theirs}{ours}")) == 1
