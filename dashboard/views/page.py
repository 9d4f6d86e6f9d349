"""A PDF page as a picture beside its text, its chunks coloured by their fate in the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.records import Chunk, Document
from dashboard import charts, figures, state, waiting, work
from dashboard.chunks import clicked_chunk
from dashboard.link import View
from dashboard.lookup import Lookup
from dashboard.originals import Original
from dashboard.page_lines import PageLine, page_lines
from dashboard.palette import fate_look

if TYPE_CHECKING:
    from core.trace import Trace

HEIGHT = 700


def draw(
    document: Document,
    chunks: Sequence[Chunk],
    number: int,
    view: View,
    original: Original,
    evidence: tuple[str, ...],
) -> None:
    """Page ``number`` (from 1) of the document."""
    password = _password(document) if original.locked else None
    if original.locked and not password:
        return
    picture = waiting.result(
        work.page_picture(original, number, password), state.board(), "page", height=HEIGHT
    )
    if picture is None:
        return
    lines = page_lines(document, chunks, number)
    job = work.answering(view)
    trace = job.so_far()[0] if job is not None else None
    lookup = Lookup(trace) if trace is not None else None
    figure = figures.page_figure(
        picture,
        lines,
        fates=fates(lookup, lines),
        said=said(lookup, chunks, lines),
        height=HEIGHT,
        selected=view.chunk,
        evidence=evidence,
        theme=work.theme(),
    )
    charts.draw(
        figure,
        key="page_picture",
        on_select=_clicked,
        selection_mode="points",
        alt=f"Page {number}, its chunks coloured by what became of them in the current trace",
    )
    with st.container(key="quiet_page_note"):
        if trace is None and job is not None and not job.failed:
            waiting.quietly(job, "The chunks are coloured once the question is answered.")
        else:
            st.text(_caption(trace, lines))


def fates(lookup: Lookup | None, lines: Sequence[PageLine]) -> dict[str, str]:
    """Chunk id → the stage at which it ended; nothing without a trace."""
    if lookup is None:
        return {}
    ids = dict.fromkeys(x.chunk_id for x in lines if x.chunk_id and lookup.known(x.chunk_id))
    return {i: lookup.fate(i).stage or "prompt" for i in ids}


def said(
    lookup: Lookup | None, chunks: Sequence[Chunk], lines: Sequence[PageLine]
) -> dict[str, str]:
    """Chunk id → its number, size and fate, for the hover box."""
    by_id: Mapping[str, Chunk] = {c.id: c for c in chunks}
    out = {}
    for chunk_id in dict.fromkeys(x.chunk_id for x in lines if x.chunk_id):
        chunk = by_id[chunk_id]
        told = f"Chunk {chunk.ordinal + 1}, {chunk.tokens} tokens"
        if lookup is not None and lookup.known(chunk_id):
            look = fate_look(lookup.fate(chunk_id).stage or "prompt")
            reason = lookup.reason(chunk_id)
            told += f": {look.label}" + (f" ({reason})" if reason else "")
        out[chunk_id] = told
    return out


def _caption(trace: Trace | None, lines: Sequence[PageLine]) -> str:
    if not lines:
        return "No text of this page could be placed on it."
    if trace is None:
        return "Ask a question, and each chunk is coloured by what became of it."
    return "Colours: each chunk's fate in the current trace. Click one to select it."


def _clicked() -> None:
    chosen = clicked_chunk(st.session_state["page_picture"].selection.points)
    if chosen:
        state.change(chunk=chosen)


def _password(document: Document) -> str:
    """Asked for each time, since it is kept nowhere."""
    return st.text_input(
        "Password of this file",
        type="password",
        key=f"page_password_{document.id}",
        placeholder="to draw its pages; it is not kept",
    )
