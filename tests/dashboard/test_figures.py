"""Figures: what they show is what the trace says, whatever the text in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from itertools import combinations, pairwise

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.fates import fates
from core.records import chunk_id
from core.settings import Settings
from core.trace import DROPPED, KEPT, DocumentInfo, Trace
from dashboard import figures
from dashboard.figures.bins import Bins
from dashboard.figures.legend import legend_keys
from dashboard.figures.rows import map_rows
from dashboard.figures.shelves import packed
from dashboard.figures.text import escaped, shortened
from dashboard.lookup import Lookup, Place
from dashboard.palette import DARK, FATES, LIGHT, contrast, palette
from tests import worlds
from tests.dashboard import traces

ROWS = ("bm25", "dense", "first_stage", "rerank_1", "extend", "rerank_2", "filters", "prompt")


def _subplots(figure: go.Figure, name: str) -> list[go.Scatter]:
    return [t for t in figure.data if t.name == name]


def _cells(figure: go.Figure, trace: Trace) -> dict[str, list[tuple[str, float]]]:
    """Row name → (chunk id, x) of every cell that the pointer can find."""
    titles = {row.title: row.name for row in map_rows(Lookup(trace))}
    found: dict[str, list[tuple[str, float]]] = {name: [] for name in titles.values()}
    for targets in _subplots(figure, "cells"):
        for chunk, x, said in zip(targets.customdata, targets.x, targets.hovertext, strict=True):
            found[titles[re.match(r"<b>(.*?)</b>", said)[1]]].append((chunk, float(x)))
    return found


def _everything(trace: Trace) -> go.Figure:
    return figures.document_map(trace, document_ids=[d.id for d in trace.documents])


# the document map


@pytest.mark.parametrize("mode", ["rerank_extend_rerank", "no_rerank", "bm25_top_k"])
def test_each_cell_stands_at_its_chunk(mode):
    trace = traces.small(mode)
    for cells in _cells(_everything(trace), trace).values():
        for chunk, x in cells:
            assert x == int(chunk.rpartition(":")[2]) + 1


def test_rows_hold_the_chunks_of_their_stages():
    trace = traces.small()
    rows = {k: sorted(c for c, _ in v) for k, v in _cells(_everything(trace), trace).items()}
    every = sorted(chunk_id(d.id, o) for d in trace.documents for o in range(d.chunks))
    assert rows["bm25"] == every
    assert rows["dense"] == every
    for name in ("first_stage", "rerank_1", "rerank_2"):
        assert rows[name] == sorted(trace.stage(name).kept)
    assert rows["extend"] == sorted(trace.stage("extend").added)
    assert rows["filters"] == sorted(trace.stage("diversity").kept)
    assert rows["prompt"] == sorted(p.chunk_id for p in trace.selected)


def test_marks_agree_with_fates():
    trace = traces.small()
    figure, ends = _everything(trace), fates(trace)
    assert {e.stage for e in ends.values()} == {
        "prompt",
        "budget",
        "dedup",
        "diversity",
        "relevance",
    }
    for stage, look in FATES.items():
        marked = [c for t in _subplots(figure, look.label) for c in t.customdata]
        if stage in ("prompt", "first_stage", "access"):
            assert not marked
        else:
            assert sorted(marked) == sorted(c for c, e in ends.items() if e.stage == stage)


def test_every_kind_of_loss_has_a_glyph_of_its_own():
    assert len({look.symbol for look in FATES.values()}) == len(FATES)
    assert len({look.glyph for look in FATES.values()}) == len(FATES)


def test_colours_are_the_scores_min_max_within_the_row():
    trace = traces.small()
    rows = {row.name: row for row in map_rows(Lookup(trace))}
    for name in ("bm25", "dense"):
        scores = trace.corpus_scores.array(name).astype(float)
        expected = (scores - scores.min()) / (scores.max() - scores.min())
        assert rows[name].cells.levels == pytest.approx(expected)
    figure = _everything(trace)
    drawn = np.concatenate([t.z[0] for t in _subplots(figure, "scores")])
    order = [t.customdata[0].rpartition(":")[0] for t in _subplots(figure, "cells")]
    assert order == [d.id for d in trace.documents]
    assert drawn == pytest.approx(rows["bm25"].cells.levels, abs=1e-6)


def test_later_rows_show_the_last_score_that_a_chunk_was_given():
    trace = traces.small()
    rows = {row.name: row for row in map_rows(Lookup(trace))}
    last = dict(zip(rows["rerank_2"].cells.rows, rows["rerank_2"].cells.scores, strict=True))
    for name in ("filters", "prompt"):
        for row, score in zip(rows[name].cells.rows, rows[name].cells.scores, strict=True):
            assert score == last[row]


def test_a_row_that_the_mode_does_not_run_is_empty_lower_and_says_so():
    trace = traces.small("no_rerank")
    figure = _everything(trace)
    cells = _cells(figure, trace)
    assert not cells["rerank_1"] and not cells["extend"] and not cells["rerank_2"]
    notes = [a.text for a in figure.layout.annotations]
    assert notes.count("not in this mode") == 3
    whole = _everything(traces.small())
    assert figure.layout.height < whole.layout.height
    assert not any(a.text == "not in this mode" for a in whole.layout.annotations)


def test_a_degraded_rerank_shows_no_scores_but_the_reason():
    trace = traces.degraded()
    figure = _everything(trace)
    assert not _cells(figure, trace)["rerank_1"]
    assert any("no context reranker is loaded" in a.text for a in figure.layout.annotations)


def test_chunks_without_a_score_are_there_and_not_coloured_as_if_they_had_one():
    trace = traces.small("full_document")
    figure = _everything(trace)
    assert len(_cells(figure, trace)["first_stage"]) == len(trace.stage("first_stage").kept)
    assert all(np.isnan(t.z).all() for t in _subplots(figure, "scores"))
    assert _subplots(figure, "there, without a score")


def test_the_selected_chunk_and_the_evidence_are_outlined_through_all_rows():
    trace = traces.small()
    selected = trace.selected[0].chunk_id
    document, ordinal = selected.rpartition(":")[0], int(selected.rpartition(":")[2])
    evidence = [chunk_id(document, 2), chunk_id(document, 3), chunk_id(document, 7)]
    figure = figures.document_map(trace, selected=selected, evidence=evidence)
    box = _subplots(figure, "selected chunk")[0]
    assert sorted({x for x in box.x if x is not None}) == [ordinal + 0.5, ordinal + 1.5]
    low, high = figure.layout[f"yaxis{box.yaxis[1:]}"].range
    assert min(low, high) < min(y for y in box.y if y is not None) <= 0
    runs = _subplots(figure, "expected evidence")[0]
    # chunks 3 and 4 (from 1) are one run, chunk 8 another
    assert sorted({x for x in runs.x if x is not None}) == [2.5, 4.5, 7.5, 8.5]


def test_an_id_that_the_trace_does_not_know_is_left_alone():
    trace = traces.small()
    figure = figures.document_map(
        trace, selected="feedfeedfeedfeed:000001", evidence=["x", "feedfeedfeedfeed:000001"],
        document_ids=["nowhere", trace.documents[0].id],
    )  # fmt: skip
    assert len(_subplots(figure, "cells")) == 1
    assert not _subplots(figure, "selected chunk")


def test_windows_reach_as_far_as_their_radius_and_name_their_anchor():
    trace = traces.small()
    lookup = Lookup(trace)
    row = next(r for r in map_rows(lookup) if r.name == "extend")
    radii = {
        e.chunk_id: int(e.scores["radius"])
        for e in trace.stage("extend").entries
        if e.fate == KEPT and e.scores["radius"]
    }
    assert {lookup.id_of(m.row) for m in row.marks} == set(radii)
    for mark, (low, high) in zip(row.marks, row.reach, strict=True):
        place, radius = lookup.place_of(mark.row), radii[lookup.id_of(mark.row)]
        assert low == max(place.first, mark.row - radius)
        assert high == min(place.stop - 1, mark.row + radius)
    figure = _everything(trace)
    said = [
        h for t in _subplots(figure, "cells") for h in t.hovertext if h.startswith("<b>Windows")
    ]
    assert said and all("its anchor, chunk" in h for h in said)


def test_documents_without_a_candidate_are_named_below():
    trace = traces.small(candidate_k=3, max_radius=0)
    first = trace.stage("first_stage").kept
    figure = figures.document_map(trace)
    shown = {t.customdata[0].rpartition(":")[0] for t in _subplots(figure, "cells")}
    assert shown == {c.rpartition(":")[0] for c in first}
    below = " ".join(figures.map_notes(trace))
    assert f"{len(trace.documents) - len(shown)} documents without a candidate" in below
    assert not figures.map_notes(trace, document_ids=[d.id for d in trace.documents])


def test_choosing_a_chunk_never_moves_the_other_documents():
    trace = traces.large(2_000, 20)

    def order(figure):
        return [t.customdata[0].rpartition(":")[0] for t in _subplots(figure, "cells")]

    before = order(figures.document_map(trace))
    assert len(before) < 20
    hidden = next(d.id for d in trace.documents if d.id not in before)
    after = order(figures.document_map(trace, selected=chunk_id(hidden, 5)))
    assert after[: len(before)] == before
    assert hidden in after
    inside = order(figures.document_map(trace, selected=chunk_id(before[-1], 1)))
    assert inside == before


def _slots(*chunks: int, name: str = "document-with-a-long-name.pdf"):
    places, first = [], 0
    for i, n in enumerate(chunks):
        info = DocumentInfo(f"{i:016x}", name, name, chunks=n, characters=n, pages=0)
        places.append(Place(info, first))
        first += n
    return packed(places)


def test_a_short_document_leaves_the_width_to_a_long_one():
    ((long, short),) = _slots(44, 1, name="faq.txt")
    assert short.right - short.left < 0.1
    assert long.right - long.left > 0.85
    ((long, short),) = _slots(44, 1)
    assert short.right - short.left < 0.16, "whatever its name"


def test_names_that_differ_at_their_end_stay_apart():
    one, two = (shortened(f"security-runbook{end}.md", 16) for end in ("", "-emea"))
    assert one != two and one.endswith(".md") and len(one) == len(two) == 16
    assert shortened("faq.txt", 16) == "faq.txt"


@given(st.lists(st.integers(0, 200), min_size=1, max_size=12), st.integers(1, 60))
def test_widths_follow_the_chunks_fit_and_leave_room_for_a_name(chunks, letters):
    shelves = _slots(*chunks, name="n" * letters)
    assert sum(map(len, shelves)) == len(chunks)
    for shelf in shelves:
        sizes = [s.place.document.chunks for s in shelf]
        widths = [s.right - s.left for s in shelf]
        assert shelf[0].left == 0 and shelf[-1].right <= 1 + 1e-9
        assert all(a.right < b.left for a, b in pairwise(shelf))
        assert min(widths) > 0.07
        for (n, w), (m, v) in combinations(zip(sizes, widths, strict=True), 2):
            assert n == m and abs(w - v) < 1e-6 or (n < m and w <= v + 1e-6) or (n > m and w >= v - 1e-6)  # fmt: skip


def test_focus_shows_one_stretch_in_detail():
    trace = traces.large(10_000)
    document = trace.documents[0].id
    figure = figures.document_map(trace, focus=(document, 100, 299))
    rows = _cells(figure, trace)
    assert [c for c, _ in rows["bm25"]] == [chunk_id(document, o) for o in range(100, 300)]
    assert tuple(figure.layout.xaxis.range) == (100.5, 300.5)


# bins


@given(st.integers(1, 900), st.integers(1, 60), st.integers(0, 400), st.data())
@settings(max_examples=40)
def test_bins_cover_every_place_once_and_keep_the_best(n, most, first, data):
    bins = Bins.over(first, first + n, most)
    assert len(bins) == min(n, most)
    assert bins.edges[0] == first and bins.edges[-1] == first + n
    assert (np.diff(bins.edges) >= 1).all()
    rows = np.array(sorted(data.draw(st.sets(st.integers(first, first + n - 1), max_size=40))), int)
    values = np.array(data.draw(st.lists(
        st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=len(rows), max_size=len(rows))))  # fmt: skip
    best = bins.best(rows, values)
    columns = bins.columns(rows)
    assert columns[best].tolist() == sorted(set(columns.tolist()))
    for position in best:
        rivals = values[columns == columns[position]]
        if np.isfinite(rivals).any():
            assert values[position] == np.nanmax(rivals)


def test_a_column_of_several_chunks_shows_selects_and_announces_its_best():
    trace = traces.large(10_000)
    figure = figures.document_map(trace, width_bins=400)
    scores = trace.corpus_scores.array("bm25")
    heat = _subplots(figure, "scores")[0]
    edges = (np.asarray(heat.x) - 0.5).round().astype(int)
    assert len(edges) == 401
    by_column = {
        int(np.searchsorted(edges, x - 0.5, side="right")) - 1: chunk
        for chunk, x in _cells(figure, trace)["bm25"]
    }
    for column in range(400):
        part = scores[edges[column] : edges[column + 1]]
        assert int(by_column[column].rpartition(":")[2]) == edges[column] + part.argmax()
        assert heat.z[0][column] == pytest.approx(part.max() / scores.max(), abs=1e-6)
    assert any("is the best of up to 25 chunks" in s for s in figures.map_notes(trace))
    assert all("the best of 25 chunks" in h for h in _subplots(figure, "cells")[0].hovertext[:400])


@pytest.mark.parametrize("documents", [1, 12, 100])
def test_ten_thousand_chunks_are_drawn_quickly_and_sent_small(documents):
    trace = traces.large(10_000, documents)
    figures.document_map(trace)
    took = []
    for _ in range(5):
        began = time.process_time()
        figure = figures.document_map(trace)
        took.append(time.process_time() - began)
    assert min(took) < 0.3  # 0.05 to 0.1 s on a quiet machine
    assert len(figure.to_json()) < 1_000_000
    assert len(figure.layout.shapes) == 0  # a browser draws pictures, not thousands of marks


# words


def _strings(figure: go.Figure) -> list[str]:
    found: list[str] = []

    def walk(value):
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            for v in value.values():
                walk(v)
        elif isinstance(value, list):
            for v in value:
                walk(v)

    walk(json.loads(figure.to_json()))
    return found


def _all_figures() -> list[go.Figure]:
    modes = traces.every_mode()
    trace = modes["rerank_extend_rerank"]
    hostile = next(c.id for c in trace.chunks if "<img" in c.text)
    return [
        *(figures.document_map(t, selected=hostile, evidence=[hostile]) for t in modes.values()),
        figures.document_map(trace, document_ids=[trace.documents[0].id]),
        figures.bump_chart(modes, selected=hostile),
        figures.budget_bars(modes, selected=hostile, evidence=[hostile]),
        figures.budget_bars({"<img src=x>": trace}),
        figures.ledger_bar(trace),
        *(figures.score_strip(trace, s) for s in ("first_stage", "rerank_1", "relevance")),
    ]


def test_text_and_names_of_documents_cannot_bring_html_into_a_figure():
    allowed = re.compile(r'</?b>|<br>|<span style="color:#[0-9a-f]{6}">|</span>')
    told = 0
    for figure in _all_figures():
        for text in _strings(figure):
            rest = allowed.sub("", text)
            assert "<" not in rest and ">" not in rest, text
            told += "&lt;img src=x onerror" in text
    assert told


def test_a_legend_is_html_without_markup_of_documents():
    hostile = 0
    for figure in _all_figures():
        assert figure.layout.showlegend is False
        html = figures.legend_html(figure)
        hostile += "&lt;img" in html
        rest = re.sub(
            r'</?div( class="legend")?>|</?span>|</i>|<i class="line" style="border-top: 2px '
            r'(solid|dotted) #[0-9a-f]{6}">|<i style="color: #[0-9a-f]{6}">',
            "",
            html,
        )
        assert "<" not in rest and ">" not in rest, rest
    assert hostile


def test_a_legend_names_each_kind_once_and_those_of_the_map_in_order():
    trace = traces.small()
    chosen = trace.selected[0].chunk_id
    names = [k.name for k in legend_keys(figures.document_map(trace, selected=chosen))]
    assert names[0] == "selected chunk"
    assert len(names) == len(set(names))
    assert {"window around an anchor", "anchor", "cut by the budget"} <= set(names)
    bump = {k.name: k.mark for k in legend_keys(figures.bump_chart(traces.every_mode()))}
    assert bump["cut by the budget"] == FATES["budget"].glyph


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("<a href='javascript:x'>y</a>", "&lt;a href='javascript:x'&gt;y&lt;/a&gt;"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("one\ntwo\x00three\u202etxt", "one two threetxt"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_escaping(text, shown):
    assert escaped(text) == shown


def test_hovers_tell_true_scores_ranks_and_fates():
    trace = traces.small()
    figure, lookup = _everything(trace), Lookup(trace)
    ranked = lookup.corpus_ranks("dense")
    for targets in _subplots(figure, "cells"):
        for chunk, said in zip(targets.customdata, targets.hovertext, strict=True):
            if said.startswith("<b>Dense"):
                row = lookup.row(chunk)
                assert f"rank {ranked[row]:,} of {lookup.total:,}" in said
                assert f"cosine {lookup.scores('dense')[row]:.4g}" in said
            assert FATES[lookup.fate(chunk).stage].glyph in said


def test_pages_are_the_ticks_where_a_document_has_them():
    trace = traces.large(400)
    figure = figures.document_map(trace)
    labels, at = figure.layout.xaxis.ticktext, figure.layout.xaxis.tickvals
    assert labels[0] == "page 1" and at[0] == 0.5
    for label, x in zip(labels[1:], at[1:], strict=True):
        assert x == (int(label) - 1) * 4 + 0.5
    plain = traces.small()
    for document in plain.documents:
        first = figures.document_map(plain, document_ids=[document.id]).layout.xaxis.ticktext[0]
        if document.page_chunks:
            assert first == "page 1"
        else:  # interpolated between the chunks whose pages the trace knows, and it says so
            assert first == ("page ≈ 1" if document.pages else "chunk 1")


# other figures


def test_bump_chart_stands_each_chunk_at_its_rank():
    modes = traces.every_mode()
    keys = list(modes)
    figure = figures.bump_chart(modes)
    lookups = [Lookup(t) for t in modes.values()]
    seen = set()
    for dots in figure.data:
        if dots.mode != "markers":
            continue
        for chunk, x, y in zip(dots.customdata, dots.x, dots.y, strict=True):
            ranks = lookups[round(x)].passage_ranks
            if dots.name == "not in the prompt":
                assert chunk not in ranks
            else:
                assert ranks[chunk] == y
                seen.add((chunk, keys[round(x)]))
    expected = {(c, k) for k, lk in zip(keys, lookups, strict=True) for c in lk.passage_ranks}
    assert len({c for c, _ in expected}) <= 40, "the fixture should draw every chunk"
    assert seen == expected


def test_budget_bars_add_up():
    modes = traces.every_mode()
    figure = figures.budget_bars(modes)
    for i, trace in enumerate(modes.values()):
        bars = sorted(
            (base, x, chunk)
            for t in figure.data
            for x, y, base, chunk in zip(t.x, t.y, t.base, t.customdata, strict=True)
            if y == i
        )
        assert [c for _, _, c in bars] == [p.chunk_id for p in trace.selected]
        assert [x for _, x, _ in bars] == [p.tokens for p in trace.selected]
        assert all(a[0] + a[1] == b[0] for a, b in pairwise(bars))


def test_ledger_bar_fills_the_window():
    trace = traces.small()
    figure = figures.ledger_bar(trace)
    assert sum(t.x[0] for t in figure.data) == trace.ledger.window
    assert [t.base[0] for t in figure.data] == list(
        np.cumsum([0, *(t.x[0] for t in figure.data)])[:-1]
    )


def test_ledger_bar_says_that_it_counts_tokens_and_of_how_many():
    trace = traces.small()
    title = figures.ledger_bar(trace).layout.xaxis.title.text
    assert title == f"tokens, of a model window of {trace.ledger.window:,}"


def test_score_strip_is_sorted_and_marks_the_cut():
    trace = traces.small()
    figure = figures.score_strip(trace, "first_stage", selected=trace.selected[0].chunk_id)
    points = sorted(
        (x, y) for t in figure.data if t.name != "selected chunk" for x, y in zip(t.x, t.y)
    )
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    assert figure.layout.shapes[0].y0 == pytest.approx(trace.stage("first_stage").cut_score)
    absent = figures.score_strip(traces.small("no_rerank"), "rerank_1")
    assert [a.text for a in absent.layout.annotations] == ["not in this mode"]


def test_score_strip_draws_the_selected_chunk_however_deep_it_ranks():
    trace = traces.small(candidate_k=1)
    lookup = Lookup(trace)
    ranks = lookup.corpus_ranks("fused")
    deepest = lookup.id_of(int(ranks.argmax()))
    figure = figures.score_strip(trace, "first_stage", selected=deepest)
    (dot,) = [t for t in figure.data if t.name == "selected chunk"]
    assert list(dot.x) == [ranks.max()] and dot.customdata[0] == deepest
    assert figure.layout.xaxis.range[1] > ranks.max() > 5
    assert f"5 to {ranks.max() - 1}: not drawn" in [a.text for a in figure.layout.annotations][-1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_figure_draws_in_both_themes_and_where_nothing_was_found(theme):
    nothing = traces.small(relevance_threshold=1.0)
    assert nothing.outcome == "insufficient_evidence"
    small = traces.small(evidence_budget=0)
    for trace in (nothing, small):
        figures.document_map(trace, theme=theme)
        figures.bump_chart({"no_rerank": trace}, theme=theme)
        figures.budget_bars({"no_rerank": trace}, theme=theme)
        figures.ledger_bar(trace, theme=theme)
        figures.score_strip(trace, "relevance", theme=theme)


@given(st.data())
@settings(max_examples=12)
def test_any_trace_can_be_drawn_and_every_lost_chunk_is_marked(data):
    knobs = data.draw(worlds.settings())
    index = worlds.index(data.draw(worlds.documents()), knobs)
    trace = worlds.pipeline().run(
        index, data.draw(worlds.questions), knobs, data.draw(worlds.modes)
    )
    figure = figures.document_map(trace, document_ids=[d.id for d in trace.documents])
    marked = {
        c for t in figure.data if t.name in {v.label for v in FATES.values()} for c in t.customdata
    }
    lost = {e.chunk_id for s in trace.stages for e in s.entries if e.fate == DROPPED}
    assert marked == lost
    figures.document_map(trace)
    figures.bump_chart({trace.mode: trace})


# colours


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_wcag_aa(colours):
    theme = "dark" if colours is DARK else "light"
    for ground in (colours.background, colours.surface, colours.track):
        for text in (colours.text, colours.muted):
            assert contrast(text, ground) >= 4.5
        for mark in (colours.selected, colours.evidence, colours.window):
            assert contrast(mark, ground) >= 3
        for look in FATES.values():
            assert contrast(look.colour(theme), ground) >= 4.5
    for shade in (*colours.documents, colours.other):  # bars carry numbers in the page's colour
        assert contrast(shade, colours.background) >= 4
    assert contrast(colours.line, colours.background) >= 3


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_the_score_ramp_is_even_in_lightness_and_leaves_the_page_behind(colours):
    lightness = [_oklab_lightness(c) for c in colours.ramp]
    steps = np.diff(lightness)
    assert (steps > 0).all() or (steps < 0).all()
    assert np.abs(steps).max() / np.abs(steps).min() < 1.25
    assert contrast(colours.ramp[-1], colours.background) > 7
    assert contrast(colours.ramp[0], colours.background) < contrast(
        colours.ramp[-1], colours.background
    )


def _oklab_lightness(colour: str) -> float:
    """Lightness of Ottosson's OKLab, 0 to 1."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    cone = (
        0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
        0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
        0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
    )
    long, middle, short = (c ** (1 / 3) for c in cone)
    return 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short


def test_an_unknown_theme_is_an_error():
    with pytest.raises(ValueError, match="neither 'light' nor 'dark'"):
        palette("sepia")


def test_figures_and_tables_need_no_streamlit():
    code = (
        "import sys, dashboard.figures, dashboard.tables; "
        "sys.exit(int(any(m in sys.modules for m in ('streamlit', 'torch', 'transformers'))))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_settings_of_the_fixture_are_valid():
    Settings(**traces.KNOBS)


def reports():
    from core.records import Count, PageReport

    return [
        PageReport(1, 1_200),
        PageReport(2, 900, uncertain=True),
        PageReport(3, 0, images=1, covered=0.9),
        PageReport(4, 500, removed=(Count("invisible text", 80),)),
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_page_has_a_bar_of_its_health(theme):
    figure = figures.page_bars(reports(), current=2, theme=theme)
    bars = {t.name: t for t in figure.data if t.type == "bar"}
    assert {n: list(t.customdata) for n, t in bars.items()} == {
        "good page": [1],
        "doubtful page": [2, 4],
        "bad page": [3],
    }
    assert list(bars["good page"].y) == [1_200]
    assert min(bars["bad page"].y) > 0  # an empty page can be seen and clicked
    assert "is a picture without text" in bars["bad page"].hovertext[0]
    assert len({t.marker.color for t in bars.values()}) == 3
    assert "bad page" in figures.legend_html(figure)


def test_a_bad_page_shows_among_hundreds():
    from core.records import PageReport

    pages = [PageReport(n, 0 if n == 150 else 1_000, images=int(n == 150)) for n in range(1, 301)]
    figure = figures.page_bars(pages)
    wash, bar = (t for t in figure.data if t.name == "bad page")
    assert list(wash.y) == [1_000] and list(bar.y) == [60]
    assert list(wash.customdata) == list(bar.customdata) == [150]  # a click finds it anywhere
    assert wash.marker.opacity < 0.5 and not wash.showlegend and bar.showlegend


def test_lines_that_follow_closely_are_framed_as_one():
    from core.ingest.picture import Picture
    from dashboard.page_lines import PageLine

    tops = (10, 24, 38, 120)  # three lines of a paragraph, and one further down
    lines = [PageLine("a:000000", 0, (10, y, 100 + y, y + 12), y == 10) for y in tops]
    aside = PageLine("a:000000", 0, (300, 134, 380, 146))  # the next column's
    figure = figures.page_figure(
        Picture(b"\x89PNG", 400.0, 300.0),
        [*lines, aside],
        fates={},
        said={"a:000000": "Chunk 1"},
        height=400,
        selected="a:000000",
    )
    (frame,) = (t for t in figure.data if t.name == "selected chunk")
    corners = [(x, y) for x, y in zip(frame.x, frame.y, strict=True) if x is not None]
    assert corners[0] == (10, 10) and corners[2] == (138, 50)
    assert corners[5] == (10, 120) and corners[10] == (300, 134) and len(corners) == 15


def test_the_edge_of_the_paper_is_drawn_above_the_picture():
    from core.ingest.picture import Picture

    figure = figures.page_figure(
        Picture(b"\x89PNG", 400.0, 300.0), [], fates={}, said={}, height=90
    )
    (edge,) = figure.layout.shapes
    assert (edge.layer, edge.x1, edge.y1) == ("above", 400.0, 300.0)


def test_a_document_without_pages_has_no_bars():
    assert not figures.page_bars([]).data


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_of_a_page_have_the_colour_of_their_chunks_fate(theme):
    from core.ingest.picture import Picture
    from dashboard.page_lines import PageLine
    from dashboard.palette import FATES

    lines = [
        PageLine("a:000000", 0, (10, 20, 110, 32), True),
        PageLine("a:000001", 1, (10, 40, 60, 52), True),
        PageLine("", -1, (10, 60, 60, 70)),
    ]
    figure = figures.page_figure(
        Picture(b"\x89PNG", 200.0, 300.0),
        lines,
        fates={"a:000000": "prompt", "a:000001": "budget"},
        said={"a:000000": "Chunk 1 <b>", "a:000001": "Chunk 2"},
        height=600,
        selected="a:000001",
        theme=theme,
    )
    bars = {t.name: t for t in figure.data if t.type == "bar"}
    assert set(bars) == {"in the prompt", "cut by the budget", "not ranked (in no chunk)"}
    prompt = bars["in the prompt"]
    assert prompt.marker.color == FATES["prompt"].colour(theme)
    assert (prompt.base[0], prompt.x[0], prompt.y[0], prompt.width[0]) == (10, 100, 26, 12)
    assert list(prompt.customdata) == ["a:000000"]
    assert "&lt;b&gt;" in prompt.hovertext[0]
    assert any(t.name == "selected chunk" for t in figure.data)
    assert figure.layout.images[0].sizex == 200 and figure.layout.yaxis.range[0] == 300
