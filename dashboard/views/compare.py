"""The Compare page: every mode on one question, on one token budget."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.modes import MODES
from core.trace import Trace
from dashboard import figures, say, state, tables, work
from dashboard.chunks import place

HEIGHT = 700


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
    _table(traces, view.mode, evidence)
    theme = work.theme()
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
    _difference(traces, view.mode, evidence)


def _table(traces: Mapping[str, Trace], mode: str, evidence: tuple[str, ...]) -> None:
    frame = tables.compare_table(traces)
    if evidence:
        frame.insert(1, "evidence found", [recall(t, evidence) for t in traces.values()])
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
        placeholder="",
        alt="A row a mode: what it put in the prompt, and at what cost",
    )
    st.caption("Click a row to use that mode on every page.")


def recall(trace: Trace, evidence: tuple[str, ...]) -> str:
    """How many of the expected chunks are in this trace's prompt."""
    arrived = {p.chunk_id for p in trace.selected}
    return f"{sum(c in arrived for c in evidence)} of {len(evidence)}"


def _mode_clicked() -> None:
    picked = st.session_state["compare_table"].selection
    modes = list(MODES)
    for row in [*(row for row, _ in picked.cells), *picked.rows]:
        if modes[row] != state.view().mode:
            state.change(mode=modes[row])
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
