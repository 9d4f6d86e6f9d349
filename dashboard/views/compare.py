"""The Compare page: every mode on one question, on one token budget."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.modes import MODES
from core.trace import Trace
from dashboard import columns, figures, say, state, tables, work
from dashboard.chunks import place

HEIGHT = 700
CHUNKS_HEIGHT = 360


def draw() -> None:
    """The page, for the view's question and knobs."""
    if state.saved_trace() is not None:
        say.note("info", "A saved trace holds one mode. Go back to live to compare.", key="saved")
        return
    view = state.view()
    if not view.question:
        say.note("info", "Ask a question above to compare the modes on it.", key="empty")
        return
    traces = work.compare(view, height=HEIGHT)
    if traces is None:
        return
    evidence = work.evidence(view)
    _modes(traces, view.mode, evidence)
    theme = work.theme()
    with st.container(key="split_compare"):
        left, right = st.columns([1.4, 1], gap="medium")
    with left:
        say.heading("Ranks across the modes")
        st.plotly_chart(
            figures.bump_chart(traces, selected=view.chunk, theme=theme),
            key="bump",
            theme=None,
            config={"displayModeBar": False},
            alt="Bump chart: the rank of each chunk in each mode",
        )
    with right:
        say.heading("What fills the evidence budget")
        st.plotly_chart(
            figures.budget_bars(traces, theme=theme),
            key="budget_bars",
            theme=None,
            config={"displayModeBar": False},
            alt="Bars: the tokens of each passage in each mode, against the budget",
        )
    _chunks(traces, view.chunk)
    _difference(traces, view.mode, evidence)


def _modes(traces: Mapping[str, Trace], mode: str, evidence: tuple[str, ...]) -> None:
    frame = tables.mode_table(traces, evidence=evidence)
    frame.insert(0, "Mode", [MODES[name].title for name in frame.index])
    modes = list(traces)
    st.session_state["compare_table"] = {
        "selection": {"rows": [modes.index(mode)], "columns": [], "cells": []}
    }
    st.dataframe(
        frame,
        key="compare_table",
        on_select=_mode_clicked,
        selection_mode=["single-row", "single-cell"],
        height="content",
        column_config=columns.layout(frame),
        placeholder="",
        alt="A row a mode: what it put in the prompt, and at what cost",
    )
    st.caption("A click on a row uses that mode on every page.")


def _mode_clicked() -> None:
    picked = st.session_state["compare_table"].selection
    modes = list(MODES)
    for row in [*(row for row, _ in picked.cells), *picked.rows]:
        if modes[row] != state.view().mode:
            state.change(mode=modes[row])
            return


def _chunks(traces: Mapping[str, Trace], selected: str) -> None:
    """Every chunk that some mode chose, and where the others lost it."""
    say.heading("Every chunk that some mode chose")
    frame = tables.compare_table(traces)
    ids = [str(name) for name in frame.index]
    rows = [ids.index(selected)] if selected in ids else []
    st.session_state["compare_chunks"] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    st.session_state["compare_chunks_ids"] = ids
    st.dataframe(
        frame,
        key="compare_chunks",
        on_select=_chunk_clicked,
        selection_mode=["single-row", "single-cell"],
        height=CHUNKS_HEIGHT,
        hide_index=True,
        column_config=columns.layout(frame),
        placeholder="",
        alt="A row a chunk, a column a mode: its rank in that prompt, or its fate",
    )


def _chunk_clicked() -> None:
    picked = st.session_state["compare_chunks"].selection
    ids = st.session_state["compare_chunks_ids"]
    for row in [*(row for row, _ in picked.cells), *picked.rows]:
        if row < len(ids) and ids[row] != state.view().chunk:
            state.change(chunk=ids[row])
            return


def _difference(traces: Mapping[str, Trace], mode: str, evidence: tuple[str, ...]) -> None:
    say.heading("What one has that another lacks")
    names = list(traces)
    other = "no_rerank" if mode != "no_rerank" else "rerank_extend_rerank"
    one, two = st.columns(2)
    with one:
        first = _choose("This mode", names, mode, "difference_one")
    with two:
        second = _choose("against", names, other, "difference_two")
    rows = difference(traces[first], traces[second], evidence)
    for column, chosen, kind in ((one, first, "first"), (two, second, "second")):
        with column:
            mine = [{k: v for k, v in r.items() if k != "in"} for r in rows if r["in"] == kind]
            st.caption(f"Only in {MODES[chosen].title}: {len(mine)}")
            if mine:
                st.dataframe(mine, hide_index=True, height="content", placeholder="")
    st.caption(f"In both: {sum(r['in'] == 'both' for r in rows)}")


def _choose(label: str, names: list[str], default: str, key: str) -> str:
    return st.selectbox(
        label,
        names,
        index=names.index(default),
        format_func=lambda name: f"{MODES[name].title} · {name}",
        key=key,
        persist_state="session",
    )


def difference(first: Trace, second: Trace, evidence: tuple[str, ...] = ()) -> list[dict]:
    """A row for each passage of either prompt; ``in`` is first, second or both."""
    ones = {p.chunk_id: p for p in first.selected}
    twos = {p.chunk_id: p for p in second.selected}
    rows = []
    for chunk_id in sorted(ones | twos):
        passage = ones.get(chunk_id) or twos[chunk_id]
        both = chunk_id in ones and chunk_id in twos
        rows.append(
            {
                "in": "both" if both else "first" if chunk_id in ones else "second",
                "document": passage.document,
                "place": place(passage.pages, int(chunk_id.rsplit(":", 1)[-1])),
                "tokens": passage.tokens,
                "evidence": "expected" if chunk_id in evidence else "",
                "text": " ".join(passage.text.split())[:160],
            }
        )
    return rows
