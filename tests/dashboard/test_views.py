"""What the pages make of traces before they draw it, without a browser."""

from __future__ import annotations

import pandas as pd
import pytest

from core.modes import MODES
from core.records import chunk_id
from core.trace import ADDED, DROPPED
from dashboard import columns, tables
from dashboard.chunks import clicked_chunk
from dashboard.link import View
from dashboard.views import chunk, compare, outcome, trace
from tests.dashboard import traces


def test_without_a_choice_the_best_passage_is_shown() -> None:
    made = traces.small()
    best = max(made.selected, key=lambda p: p.score or 0)
    assert chunk.shown(made, View(), None) == best.chunk_id


def test_evidence_with_most_to_tell_is_shown_first() -> None:
    made = traces.small()
    arrived = [p.chunk_id for p in made.selected]
    lost = next(e.chunk_id for e in made.stage("budget").entries if e.fate == DROPPED)
    joined = {e.chunk_id for e in made.stage("extend").entries if e.fate == ADDED}
    assert chunk.shown(made, View(), None, (arrived[0], lost)) == lost
    assert chunk.shown(made, View(chunk=arrived[0]), None, (lost,)) == arrived[0]
    brought = [c for c in arrived if c in joined]
    plain = [c for c in arrived if c not in joined]
    if brought and plain:
        assert chunk.shown(made, View(), None, (plain[0], brought[0])) == brought[0]


@pytest.mark.parametrize("ordinal", [0, 14, 15, 100, 985, 999])
def test_a_part_of_a_long_document_holds_its_chunk_and_moves_in_steps(ordinal: int) -> None:
    made = traces.large(1_000)
    document = made.documents[0].id
    found = trace.stretch(made, chunk_id(document, ordinal))
    assert found is not None
    _, first, last = found
    assert 0 <= first <= ordinal <= last < 1_000
    assert last - first + 1 == trace.STRETCH
    near = min(999, ordinal + 1)
    moved = trace.stretch(made, chunk_id(document, near))
    assert moved is not None and moved[1] - first in (0, trace.STRETCH // 2, 10)


def test_a_short_document_is_not_cut() -> None:
    made = traces.small()
    assert trace.stretch(made, made.selected[0].chunk_id) is None
    assert trace.stretch(made, "") is None


def test_other_modes_are_told_with_what_they_lost_and_where() -> None:
    modes = traces.every_mode()
    made = modes["no_rerank"]
    lost = next(e.chunk_id for e in made.stage("budget").entries if e.fate == DROPPED)
    line = outcome.peers_line({"no_rerank": made}, (made.selected[0].chunk_id, lost))
    assert "Basic (no_rerank) 1 of 2 (1 lost at budget)" in line


def test_the_table_of_modes_has_a_row_for_those_to_come() -> None:
    modes = traces.every_mode()
    some = {name: modes[name] for name in ("no_rerank", "context_rerank")}
    evidence = (modes["no_rerank"].selected[0].chunk_id,)
    rows = compare.mode_rows(tables.mode_table(some, evidence=evidence))
    assert list(rows.index) == list(MODES)
    assert rows.loc["no_rerank", "Expected found"] == "1 of 1"
    assert rows.loc["no_rerank", "Mode"] == "Basic · no_rerank"
    assert (rows["Outcome"] == "to come").sum() == len(MODES) - 2
    assert rows["Passages"].dtype == "Int64"
    assert "Expected" not in rows


def test_a_chunks_panels_are_html_without_markup_of_documents() -> None:
    made = traces.small()
    hostile = next(c.id for c in made.chunks if "<img" in c.text)
    for html in (
        chunk.journey_html(tables.journey_table(made, hostile)),
        chunk.scores_html(tables.component_table(made, hostile)),
        chunk.journey_html(
            pd.DataFrame([("Budget", "<img src=x>", 1, None, None)], columns=list("abcde"))
        ),
    ):
        assert "<img" not in html
        assert html.count("<span>") % 3 == 0


def test_a_stage_that_the_mode_has_not_leaves_the_rank_and_says_so() -> None:
    made = traces.every_mode()["no_rerank"]
    html = chunk.journey_html(tables.journey_table(made, made.selected[0].chunk_id))
    assert "<span>This mode does without it.</span><span>stays at rank " in html
    assert "Not in this mode" not in html


def test_a_documents_name_and_a_fate_are_not_cut_where_there_is_room() -> None:
    frame = tables.stage_table(traces.small())
    for name, fate in (("harbour-pilotage-regulation.pdf", "✕ cut by the budget"), ("a.md", "○")):
        laid, layout = columns.grouped(frame.assign(Document=name, Fate=fate))
        width = {head[1]: layout[at]["width"] for at, head in enumerate(laid.columns, 1)}
        for head, text in (("Document", name), ("Fate", fate)):
            assert 6 * len(text) + 16 <= width[head] <= max(104, 7 * len(text) + 20)


def test_a_click_beside_every_chunk_hits_none() -> None:
    assert clicked_chunk([]) == ""
    assert clicked_chunk([{"x": 1}, {"customdata": ["a:000001"]}]) == "a:000001"
    assert clicked_chunk([{"customdata": "b:000002"}]) == "b:000002"
