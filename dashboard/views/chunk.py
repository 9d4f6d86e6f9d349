"""One chunk: where it stands, what each stage did to it, its text and its scores."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from core.fates import fate_of
from core.trace import ADDED, Trace
from dashboard import say, state, tables
from dashboard.chunks import Shown, find, row_in_ranking, step_in_document, step_in_ranking
from dashboard.link import CHUNK, View
from dashboard.views import expected

if TYPE_CHECKING:
    from core.index.index import Index

PANEL_HEIGHT = 300
TABS = {"journey": "Journey", "text": "Text", "scores": "Scores"}


def shown(trace: Trace, view: View, index: Index | None, evidence: tuple[str, ...] = ()) -> str:
    """The chunk to show: the selected one. Where none is, the piece of evidence with most to
    tell (lost, then brought by a window), or the best passage."""
    if view.chunk and find(trace, index, view.chunk) is not None:
        return view.chunk
    arrived = {p.chunk_id for p in trace.selected}
    joined = {e.chunk_id for e in trace.stage("extend").entries if e.fate == ADDED}
    known = [c for c in evidence if find(trace, index, c) is not None]
    if known:
        return min(known, key=lambda c: (c in arrived, c not in joined))
    if trace.selected:
        return max(trace.selected, key=lambda p: p.score or 0.0).chunk_id
    return next((e.chunk_id for s in trace.stages for e in s.entries), "")


def draw(
    trace: Trace,
    chunk_id: str,
    ranking: list[str],
    evidence: tuple[str, ...],
    index: Index | None,
) -> None:
    """The panel. ``ranking`` is the order in which the up and down buttons go; without an
    ``index`` (a saved trace) only what the trace holds can be shown."""
    chunk = find(trace, index, chunk_id)
    if state.view().chunk not in ("", chunk_id):
        say.note("warning", "The chunk of this link is not in these documents.", key="chunk")
    if chunk is None:
        say.note("info", "Click a cell of the map or a row of the table.", key="chunk_none")
        return
    _steps(chunk, trace, index, ranking)
    with st.container(key="strong_chunk"):
        st.text(chunk.title)
    with st.container(key="quiet_chunk"):
        st.text(chunk.caption)
        st.text(fate_line(trace, chunk_id))
        problem = page_trouble(chunk_id, index)
        if problem:
            st.text(problem)
    with st.container(horizontal=True, vertical_alignment="center"):
        tab = st.segmented_control(
            "Chunk",
            list(TABS),
            format_func=TABS.get,
            default="journey",
            required=True,
            key="chunk_tab",
            label_visibility="collapsed",
            persist_state="session",
        )
        st.space("stretch")
        if index is not None:
            _why(trace, chunk_id)
            _to_document(chunk)
            _mark(chunk_id, evidence)
            found = index.chunk(chunk_id)
            document = index.document(found.document_id)
            expected.draw(document, found.start, found.end, key="chunk")
    match tab:
        case "text":
            with st.container(height=PANEL_HEIGHT, key="chunk_text"):
                st.text(chunk.text)
        case "scores":
            _scores(trace, chunk_id, index)
        case _:
            with st.container(height=PANEL_HEIGHT, key="journey"):
                st.html(journey_html(tables.journey_table(trace, chunk_id)))


def scores_html(components: pd.DataFrame) -> str:
    """A row a score: its stage and name, its value, what it means."""
    rows = []
    for score, stage, value, meaning in components.itertuples(index=False, name=None):
        told = "–" if pd.isna(value) else f"{value:.4f}"
        cells = (f"{stage} · {score}", told, meaning)
        rows.append("".join(f"<span>{html.escape(str(c))}</span>" for c in cells))
    return f'<div class="scores">{"".join(rows)}</div>'


def journey_html(journey: pd.DataFrame) -> str:
    """A row a stage: its name, what happened, the rank and the score that came of it."""
    rows = []
    for stage, what, before, after, score in journey.itertuples(index=False, name=None):
        ranks = [str(r) for r in (before, after) if not pd.isna(r)]
        told = ["rank " + " → ".join(ranks)] if ranks else []
        if len(ranks) == 2 and ranks[0] == ranks[1]:
            told = [f"stays at rank {ranks[0]}"]
        told += [] if pd.isna(score) else [f"score {score:.3f}"]
        cells = (stage, what, " · ".join(told))
        rows.append("".join(f"<span>{html.escape(str(c))}</span>" for c in cells))
    return f'<div class="journey">{"".join(rows)}</div>'


def page_trouble(chunk_id: str, index: Index | None) -> str:
    """What is wrong with the text layer of the page that the chunk comes from; "" for nothing."""
    if index is None:
        return ""
    from core.ingest.health import page_problem

    chunk = index.chunk(chunk_id)
    said = page_problem(index.document(chunk.document_id), chunk)
    return f"Mind the text: {said}." if said else ""


def fate_line(trace: Trace, chunk_id: str) -> str:
    """Where the chunk ended, and for which reason, in one line."""
    fate = fate_of(trace, chunk_id)
    if fate.arrived:
        passage = next((p for p in trace.selected if p.chunk_id == chunk_id), None)
        return f"In the prompt as [{passage.number}]" if passage else "In the prompt"
    stage = fate.stage.replace("_", " ")
    return f"Lost at {stage}: {fate.reason}" if fate.reason else f"Lost at {stage}"


def _steps(chunk: Shown, trace: Trace, index: Index | None, ranking: list[str]) -> None:
    """Buttons to the neighbours in the document and in the ranking, with keys."""
    steps = (
        ("◀", "Previous chunk in the document", "P", step_in_document(trace, index, chunk, -1)),
        ("▶", "Next chunk in the document", "N", step_in_document(trace, index, chunk, +1)),
        ("▲", "One rank up in the table", "K", step_in_ranking(ranking, chunk.id, -1)),
        ("▼", "One rank down in the table", "J", step_in_ranking(ranking, chunk.id, +1)),
    )
    with st.container(
        horizontal=True, gap="xsmall", vertical_alignment="center", key="chunk_steps"
    ):
        for sign, help, key, target in steps:
            st.button(
                sign,
                key=f"step_{key}",
                help=help,
                shortcut=key,
                disabled=not target,
                on_click=_go,
                args=(target,),
            )
        if ranking:
            # A row cannot be scrolled to from here: its place is said beside the way to it.
            with st.container(key="quiet_row", width="content"):
                st.text(row_in_ranking(ranking, chunk.id), width="content")


def _go(target: str) -> None:
    state.change(chunk=target)


def _to_document(chunk: Shown) -> None:
    """The way to where the chunk stands in its document."""
    if st.button(
        "On its page" if chunk.pages else "In its document",
        key="to_document",
        type="tertiary",
        help="The Documents page, with this chunk among its neighbours.",
    ):
        state.change(chunk=chunk.id)
        state.go_to("Documents")


def _why(trace: Trace, chunk_id: str) -> None:
    """The way to why this chunk is not in the prompt; nothing for one that is."""
    if any(p.chunk_id == chunk_id for p in trace.selected):
        return
    if st.button(
        "Why is it missing?",
        key="why_missing",
        type="tertiary",
        help="The Missing page: what lost this chunk, and which change brings it back.",
    ):
        state.change(chunk=chunk_id, why=CHUNK)
        state.go_to("Missing")


def _mark(chunk_id: str, evidence: tuple[str, ...]) -> None:
    marked = chunk_id in evidence
    st.button(
        "Unmark evidence" if marked else "Mark as evidence",
        key="mark_evidence",
        type="tertiary",
        help="Evidence is what should have been found: it is outlined in the map and counted, for "
        "this question and in its link. “This should be found” keeps it for the Evaluate page.",
        on_click=_toggle_mark,
        args=(chunk_id, evidence),
    )


def _toggle_mark(chunk_id: str, evidence: tuple[str, ...]) -> None:
    if chunk_id in evidence:
        state.change(evidence=tuple(c for c in evidence if c != chunk_id))
    else:
        state.change(evidence=(*evidence, chunk_id))


def _scores(trace: Trace, chunk_id: str, index: Index | None) -> None:
    with st.container(height=PANEL_HEIGHT, key="scores"):
        st.html(scores_html(tables.component_table(trace, chunk_id)))
        terms = bm25_terms(trace, chunk_id, index)
        if terms:
            st.dataframe(terms, height="content", hide_index=True)
        elif index is None:
            said = "BM25 by term needs the documents; a saved trace has none."
            say.note("info", said, key="terms")


def bm25_terms(trace: Trace, chunk_id: str, index: Index | None) -> list[dict[str, object]]:
    """What each term of the question gave this chunk; none without the documents."""
    if index is None:
        return []
    from core.index.analyse import analyse_query

    k1, b = trace.settings.get("k1", 1.5), trace.settings.get("b", 0.75)
    return [
        {
            "BM25 term": t.term,
            "In chunk": t.count,
            "Chunks with it": t.document_frequency,
            "IDF": round(t.idf, 2),
            "Score": round(t.score, 3),
        }
        for t in index.explain_bm25(analyse_query(trace.question), chunk_id, k1, b)
    ]
