"""Every figure, table and report of an imported trace: nothing fails, nothing is made up."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest

from core.diagnosis.symptoms import faults
from core.fates import fate_of
from core.report import markdown_report
from core.settings import STAGES
from core.trace import Trace
from dashboard import figures, tables
from dashboard.figures.legend import legend_html
from dashboard.lookup import STAGE_TITLES, Lookup
from dashboard.views import chunk, outcome, trace
from tests.interchange.exports import imported, langchain, llama_index
from tests.interchange.test_ranked_lists import example

EMPTY = {"question": "q", "stages": [{"name": "search", "results": []}]}
LATE = {
    "question": "q",
    "stages": [
        {"name": "rerank", "results": [{"id": "a", "text": "A"}, {"id": "b"}]},
        {"name": "extend", "results": [{"id": "a"}, {"id": "n", "text": "N"}]},
        {"name": "budget", "results": [{"id": "n"}]},
    ],
}
FILES = {
    "example": example(),
    "llama_index": llama_index(),
    "langchain": langchain(),
    "empty": EMPTY,
    "late": LATE,
}


@cache
def read(name: str) -> Trace:
    return imported(FILES[name])


@pytest.mark.parametrize("name", FILES)
def test_figures_and_tables_draw(name):
    one = read(name)
    for theme in ("light", "dark"):
        for figure in (
            figures.document_map(one, theme=theme),
            figures.ledger_bar(one, theme=theme),
            figures.bump_chart({"A": one, "B": read("example")}, theme=theme),
            figures.budget_bars({"A": one, "B": read("example")}, theme=theme),
            *(figures.score_strip(one, stage, theme=theme) for stage in STAGES),
        ):
            assert figure.to_json()
            legend_html(figure)
    table = tables.stage_table(one, limit=None, include="all")
    assert len(table) == len(one.chunks)
    assert not {"BM25 score", "Dense score", "Fused score", "Relevance"} & set(table)
    assert ("List rank" in table) == one.stage("first_stage").ran
    assert not table["Fate"].str.contains("not a candidate").any()
    tables.selected_table(one)
    tables.ledger_table(one)
    tables.compare_table({"A": one, "B": one})
    for c in one.chunks:
        journey = tables.journey_table(one, c.id)
        assert set(journey["What happened"][journey["Stage"] == "Access"]) == {"Not recorded."}
        assert not journey["What happened"].str.contains("This mode does without").any()
        tables.component_table(one, c.id)
        assert chunk.fate_line(one, c.id)
        assert Lookup(one).fate(c.id) == fate_of(one, c.id)
    assert chunk.shown(one, trace.state.View(), None) in {c.id for c in one.chunks} | {""}
    assert outcome.summary(one) and outcome.cautions(one)
    assert isinstance(faults(one), tuple)


@pytest.mark.parametrize("name", FILES)
def test_stages_without_a_list_say_so_and_have_no_numbers(name):
    one = read(name)
    summary = tables.stage_summary(one).set_index("Stage")
    for record in one.stages:
        row = summary.loc[STAGE_TITLES[record.name]]
        assert row["Ran"] == ("yes" if record.ran else "not recorded")
        if not record.ran:
            assert all(pd.isna(row[c]) for c in ("In", "Out", "Dropped", "Added", "Seconds"))
    drawn = figures.document_map(one)
    said = [a.text for a in drawn.layout.annotations]
    assert not any("not in this mode" in (t or "") for t in said)


@pytest.mark.parametrize("name", FILES)
def test_the_report_says_where_it_comes_from(name):
    one = read(name)
    text = markdown_report(one, evidence=[c.id for c in one.chunks])
    assert "- Imported from:" in text and "| access |  |  |  |  |  | not recorded |" in text
    assert "Mode:" not in text and "budget 0" not in text and "corpus ``" not in text
    if name == "llama_index":
        assert "left out of the prompt: its text does not stand in the recorded prompt" in text


def test_a_chunk_that_a_rerank_lost_is_marked_in_its_row():
    drawn = figures.document_map(read("llama_index"))
    assert "lost at rerank 1" in {t.name for t in drawn.data}
