"""The Missing page: why something is not in the prompt, and what brings it back."""

from __future__ import annotations

import streamlit as st

from core.diagnosis import PLACES, ChunkVerdict, Verdict, places
from core.index.index import Index
from core.report import markdown_report
from core.trace import Trace
from dashboard import (
    charts,
    columns,
    diagnosing,
    figures,
    row_choice,
    say,
    state,
    tables,
    undo,
    waiting,
    work,
)
from dashboard.chunks import clicked_chunk
from dashboard.diagnosing import Found
from dashboard.facts_html import difference_html, facts_html
from dashboard.lookup import STAGE_TITLES
from dashboard.palette import fate_look
from dashboard.tables.verdict import differing
from dashboard.views import faults, proposals, recorded, wanted

HEIGHT = 420
CARDS = 8
"""Chunks of a target that get a card each; of more there is a table."""


def draw() -> None:
    """The page, for the view's question and what the person misses."""
    saved = state.saved_trace()
    if saved is not None:
        recorded.draw(saved[1])
        return
    view = state.view()
    diagnosing.let_go(view)
    if not view.question:
        say.note("info", "Ask a question above first.", key="empty")
        return
    trace = work.trace(view, height=HEIGHT)
    index = work.built_index(view)
    if trace is None or index is None:
        return
    items = diagnosing.items(view, index)
    what = diagnosing.chosen(view, items, trace)
    wanted.draw(view, trace, index, items, what)
    _undo()
    if what:
        _answer(trace, index, what)
    else:
        say.note("info", wanted.HOW, key="how")
    faults.draw(diagnosing.faults(view, index, trace), index)


def _undo() -> None:
    """What was applied last, and the way back."""
    applied = undo.last()
    if applied is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="applied"):
        say.note("good", f"Applied: {applied.said}", key="applied")
        st.button("Undo", key="undo", on_click=undo.undo, help="The knobs get back what they had.")


def _answer(trace: Trace, index: Index, what: str) -> None:
    view = state.view()
    seconds = state.session().get(proposals.PATIENCE, {}).get(
        (work.trace_key(view), what), diagnosing.SECONDS
    )  # fmt: skip
    job = diagnosing.answer(view, index, trace, what, seconds)
    answered = waiting.part(job, state.board(), "why", height=HEIGHT)
    if answered is None:
        return
    found, whole = answered
    _verdict(found, trace, index)
    say.heading("What brings it back")
    if whole:
        proposals.draw(found, index, trace, what)
    else:
        with st.container(key="quiet_why"):
            waiting.more(job, state.board(), "why", found)
    _report(found, trace, index)


def _verdict(found: Found, trace: Trace, index: Index) -> None:
    said = found.verdict
    lines = [said.sentence]
    if said.target.missing and said.target.pieces:
        parts = "; ".join(" ".join(m.split()) for m in said.target.missing)
        lines.append(f"Not found in the documents: {parts[:400]}")
    if not said.target.pieces and trace.principal is not None:
        lines.append("Only what this principal may read was searched.")
    say.note("good" if said.arrived else "warning", lines, key="verdict")
    if found.elsewhere:
        with st.container(key="quiet_elsewhere"):
            st.text(places(found.elsewhere))
            for other in found.elsewhere[:PLACES]:
                st.text(f"• {other.sentence}")
    if said.chunks:
        _chunks(said, trace, index)


def _chunks(said: Verdict, trace: Trace, index: Index) -> None:
    lost = said.lost
    shown = state.view().chunk
    focus = next((c for c in lost if c.chunk_id == shown), lost[0] if lost else said.chunks[0])
    with st.container(key="split_verdict"):
        left, right = st.columns([1.5, 1], gap="medium")
    with left:
        if len(said.chunks) > CARDS:
            _table(said, focus.chunk_id)
            _card(focus, index, False)
        else:
            for one in lost or said.chunks:
                _card(one, index, len(said.chunks) == 1)
            _arrived([c for c in said.chunks if c.arrived and lost])
    with right:
        _strip(focus, trace)


def _table(said: Verdict, chosen: str) -> None:
    frame = tables.verdict_table(said)
    st.dataframe(
        frame,
        on_select=_row_clicked,
        height=260,
        column_config=columns.layout(frame),
        **row_choice.choose("verdict_table", [c.chunk_id for c in said.chunks], chosen),
        alt="A row a chunk of what is missing: its fate, its ranks in the whole corpus",
    )


def _row_clicked() -> None:
    if chosen := row_choice.clicked("verdict_table", state.view().chunk):
        state.change(chunk=chosen, why=_kept_why())


def _kept_why() -> str:
    """What the page looks for, said outright: a newly selected chunk must not take its place."""
    return state.session().get(wanted.SHOWN, state.view().why)


def _card(one: ChunkVerdict, index: Index, alone: bool) -> None:
    with st.container(border=True, key=f"card_{one.chunk_id.replace(':', '-')}"):
        with st.container(horizontal=True, vertical_alignment="center", key=f"strong_{one.chunk_id[-6:]}_{one.chunk_id[:4]}"):  # fmt: skip
            st.text(f"{fate_look(one.stage).glyph} {one.name}", width="stretch")
            if st.button("On the Trace page", key=f"show_{one.chunk_id}", type="tertiary"):
                state.change(chunk=one.chunk_id, why=_kept_why())
                state.go_to("Trace")
        if not alone:  # its sentence is the verdict's own, just above
            st.text(one.sentence)
        facts = tables.fact_rows(one, index)
        if facts:
            st.html(facts_html(facts))
        apart = differing(one)
        if apart is not None and (apart.only_here or apart.only_there):
            st.html(difference_html(apart))


def _arrived(chunks: list[ChunkVerdict]) -> None:
    if chunks:
        with st.container(key="quiet_arrived"):
            for one in chunks:
                st.text(f"{fate_look('prompt').glyph} {one.sentence}")


def _strip(focus: ChunkVerdict, trace: Trace) -> None:
    """The scores of the stage that decided, with the chunk among them."""
    stage = focus.stage if focus.stage in ("first_stage", "relevance") else "rerank_2"
    ran = [s.name for s in trace.stages if s.ran]
    stage = stage if stage in ran else "rerank_1" if "rerank_1" in ran else "first_stage"
    cut = ", and where it cut" if stage == focus.stage else ""
    st.caption(f"Scores of the stage {STAGE_TITLES[stage]}, best first{cut}.")
    charts.draw(
        figures.score_strip(trace, stage, selected=focus.chunk_id, theme=work.theme()),
        key="verdict_scores",
        on_select=_dot_clicked,
        selection_mode="points",
        alt=f"Dots: the score of each chunk at the stage {STAGE_TITLES[stage]}, by rank",
    )


def _dot_clicked() -> None:
    chosen = clicked_chunk(st.session_state["verdict_scores"].selection.points)
    if chosen:
        state.change(chunk=chosen, why=_kept_why())


def _report(found: Found, trace: Trace, index: Index) -> None:
    st.download_button(
        "Report as Markdown",
        lambda: report(found, trace),
        file_name="missing.md",
        mime="text/markdown",
        on_click="ignore",
        key="missing_report",
        help="The verdict, the changes, the faults and the whole trace, for an issue tracker.",
    )


def report(found: Found, trace: Trace) -> str:
    """The trace with this verdict at its head."""
    job = state.board().current("faults")
    seen = (job.so_far()[0] if job is not None else None) or ()
    return markdown_report(trace, verdict=found.verdict, proposals=found.proposals, faults=seen)
