"""The Trace page: one question's way through the stages, as a map, a table and a journey."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.trace import Trace
from dashboard import charts, columns, figures, row_choice, say, state, tables, work
from dashboard.chunks import clicked_chunk
from dashboard.link import View
from dashboard.views import chunk, empty, export, outcome, tour

if TYPE_CHECKING:
    from core.index.index import Index

TABLE_ROWS = 200
"""Rows sent to the browser: the best. The export has the rest."""

TABLE_HEIGHT = 470
MAP_HEIGHT = 420

PROMPT_ONLY, EVERY = "", "*"
STRIPS = 3
"""Documents that the map draws in full where nothing else is chosen."""

LONG, STRETCH = 120, 60
"""Chunks of a document that can be seen in part as well, and of the part."""

Focus = tuple[str, int, int]


def draw() -> None:
    """The page, for the view or for a saved trace."""
    saved = state.saved_trace()
    if saved is not None:
        _saved(*saved)
        return
    view = state.view()
    if empty.draw(view):
        return
    tour.draw(view)
    if not view.question:
        say.note("info", "Ask a question above to see what becomes of each chunk.", key="empty")
        return
    trace = work.trace(view, height=MAP_HEIGHT + TABLE_HEIGHT)
    if trace is not None:
        _body(trace, view, work.evidence(view), work.built_index(view))


def _saved(name: str, trace: Trace) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="saved_banner"):
        say.note(
            "info",
            f"Saved trace {name}: a record to read. Questions, modes and knobs do not change it.",
            key="saved",
        )
        st.button("Back to live", key="close_saved", on_click=state.close_trace, type="primary")
    _body(trace, state.view(), (), None)


def _body(trace: Trace, view: View, evidence: tuple[str, ...], index: Index | None) -> None:
    outcome.draw(trace, evidence)
    if index is not None:
        outcome.peers(view, evidence)
    shown = chunk.shown(trace, view, index, evidence)
    _map(trace, shown, evidence, index)
    with st.container(key="split_trace"):
        left, right = st.columns([1.9, 1], gap="medium")
    with left:
        ids = _table(trace, shown, evidence)
    with right:
        chunk.draw(trace, shown, ids, evidence, index)


def _map(trace: Trace, shown: str, evidence: tuple[str, ...], index: Index | None) -> None:
    names = {d.id: d.name for d in trace.documents}
    choices = {PROMPT_ONLY: "Map: documents in the prompt", EVERY: "Map: all candidates"} | names
    with st.container(horizontal=True, vertical_alignment="center", key="map_bar"):
        which = st.selectbox(
            "Documents in the map",
            list(choices),
            format_func=lambda name: choices[name],
            key="map_documents",
            label_visibility="collapsed",
            persist_state="session",
            width=300,
        )
        focus = _focus(trace, shown)
        st.space("stretch")
        export.draw(trace, evidence, index)
    documents = map_documents(trace, which, shown, evidence)
    figure = figures.document_map(
        trace,
        document_ids=documents,
        selected=shown,
        evidence=evidence,
        theme=work.theme(),
        focus=focus,
    )
    charts.draw(
        figure,
        key="map",
        on_select=_map_clicked,
        selection_mode="points",
        alt="Document map: a row a stage, a cell a chunk, coloured by its score there",
    )
    others = [] if focus else figures.map_notes(
        trace, document_ids=documents, selected=shown, evidence=evidence
    )  # fmt: skip
    if others:
        with st.container(key="quiet_map"):
            st.text(" ".join(others))


def _focus(trace: Trace, shown: str) -> Focus | None:
    """Where the chunk's document is long, the choice between all of it and the part around
    the chunk; returns the part, if that is chosen."""
    around = stretch(trace, shown)
    if around is None:
        return None
    choices = {"whole": "Whole documents", "around": "Around the selected chunk"}
    chosen = st.segmented_control(
        "Part",
        list(choices),
        format_func=choices.get,
        default="whole",
        required=True,
        key="map_part",
        label_visibility="collapsed",
        persist_state="session",
    )
    return around if chosen == "around" else None


def stretch(trace: Trace, shown: str) -> Focus | None:
    """The part of a long document around a chunk: its id, first and last ordinal; None where
    the document is short.

    Parts begin at every half of their length, so that a click on a chunk near the middle
    moves nothing.
    """
    document_id, _, ordinal = shown.rpartition(":")
    document = next((d for d in trace.documents if d.id == document_id), None)
    if document is None or document.chunks <= LONG or not ordinal.isdecimal():
        return None
    half = STRETCH // 2
    first = max(0, (int(ordinal) - half // 2) // half * half)
    first = min(first, document.chunks - STRETCH)
    return document_id, first, first + STRETCH - 1


def map_documents(
    trace: Trace, which: str, shown: str, evidence: tuple[str, ...]
) -> list[str] | None:
    """The ids of the documents to draw in full; None leaves the choice to the figure.

    Those in the prompt come by their best passage, then those that hold evidence or the
    chunk that is shown; at most ``STRIPS`` of them.
    """
    known = {d.id for d in trace.documents}
    if which == EVERY:
        return None
    if which in known:
        return [which]
    chunks = [*(p.chunk_id for p in trace.selected), *evidence, shown]
    found = dict.fromkeys(c.rpartition(":")[0] for c in chunks)
    marked = [shown.rpartition(":")[0]] if shown else []
    chosen = list(dict.fromkeys([*[d for d in found if d in known][:STRIPS], *marked]))
    return [d for d in chosen if d in known] or None


def _map_clicked() -> None:
    chosen = clicked_chunk(st.session_state["map"].selection.points)
    if chosen:
        state.change(chunk=chosen)


def _table(trace: Trace, shown: str, evidence: tuple[str, ...]) -> list[str]:
    """Draws the table and returns its chunk ids, in the order of its rows."""
    choices = {"table": "Every chunk", "stages": "Stage by stage"}
    kind = st.segmented_control(
        "Table",
        list(choices),
        format_func=choices.get,
        default="table",
        required=True,
        key="trace_table_kind",
        label_visibility="collapsed",
        persist_state="session",
    )
    frame = tables.stage_table(trace, limit=TABLE_ROWS, evidence=evidence)
    ids = [str(name) for name in frame.index]
    if kind == "stages":
        summary = tables.stage_summary(trace)
        st.dataframe(
            summary, height="content", hide_index=True, column_config=columns.layout(summary)
        )
        return ids
    shown_frame, layout = columns.grouped(frame)
    st.dataframe(
        shown_frame,
        column_config=layout,
        height=TABLE_HEIGHT,
        on_select=_row_clicked,
        alt="A row a chunk, a group of columns a stage",
        **row_choice.choose("stage_table", ids, shown),
    )
    return ids


def _row_clicked() -> None:
    if chosen := row_choice.clicked("stage_table", state.view().chunk):
        state.change(chunk=chosen)
