"""The Compare page: every mode on one question, on one token budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.modes import MODES
from core.trace import Trace
from dashboard import charts, columns, figures, row_choice, say, state, tables, waiting, work
from dashboard import saved as saved_traces
from dashboard.chunks import clicked_chunk
from dashboard.lookup import STAGE_TITLES
from dashboard.palette import FATES
from dashboard.views import difference, saved

HEIGHT = 700
CHUNKS_HEIGHT = 360


def draw() -> None:
    """The page, for the view's question and knobs, or for a saved trace."""
    opened = state.saved_trace()
    if opened is not None:
        said = "A saved trace holds one mode. Go back to live to compare the modes."
        say.note("info", said, key="saved")
        _two({}, "", opened)
        return
    view = state.view()
    if not view.question:
        say.note("info", "Ask a question above to compare the modes on it.", key="empty")
        _two({}, "", None)
        return
    job = work.compare(view, height=HEIGHT)
    ran = waiting.part(job, state.board(), "compare", height=HEIGHT) if job else None
    if ran is None:
        return
    found, whole = ran
    traces = {name: found[name] for name in MODES if name in found}
    evidence = work.evidence(view)
    _modes(traces, view.mode, evidence)
    with st.container(key="quiet_compare"):
        if whole:
            st.text("A click on a row uses that mode on every page.")
        else:
            waiting.more(job, state.board(), "compare", found)
    if not whole:
        return
    _charts(traces, view.chunk, evidence)
    _chunks(traces, view.chunk)
    _two(traces, view.mode, None)


def _two(traces: Mapping[str, Trace], mode: str, opened: tuple[str, Trace] | None) -> None:
    """Any two of the modes and the saved traces, and the list of those."""
    kept = dict(saved_traces.kept())
    if opened is not None and opened[1] not in kept.values():
        kept = {opened[0]: opened[1]} | kept
    name = opened[0] if opened is not None else ""
    choices = difference.named_choices(traces, mode, kept, name)
    current = traces.get(mode) or (opened[1] if opened else None)
    first, second = difference.first_choices(choices, traces, mode)
    difference.draw(choices, first, second)
    saved.draw(current)


def _charts(traces: Mapping[str, Trace], selected: str, evidence: tuple[str, ...]) -> None:
    theme = work.theme()
    with st.container(key="split_compare"):
        left, right = st.columns([1.4, 1], gap="medium")
    with left:
        say.heading("Ranks across the modes")
        charts.draw(
            figures.bump_chart(traces, selected=selected, theme=theme),
            key="bump",
            on_select=_bump_clicked,
            selection_mode="points",
            alt="Bump chart: the rank of each chunk in each mode",
        )
    with right:
        say.heading("What fills the evidence budget")
        st.caption("Each block is a passage, as wide as its tokens; its number is its citation.")
        charts.draw(
            figures.budget_bars(traces, theme=theme, selected=selected, evidence=evidence),
            key="budget_bars",
            on_select=_budget_clicked,
            selection_mode="points",
            alt="Bars: the tokens of each passage in each mode, against the budget",
        )


def _bump_clicked() -> None:
    _point_clicked("bump")


def _budget_clicked() -> None:
    _point_clicked("budget_bars")


def _point_clicked(chart: str) -> None:
    chosen = clicked_chunk(st.session_state[chart].selection.points)
    if chosen:
        state.change(chunk=chosen)


def _modes(traces: Mapping[str, Trace], mode: str, evidence: tuple[str, ...]) -> None:
    modes = list(MODES)
    frame = mode_rows(tables.mode_table(traces, evidence=evidence))
    st.dataframe(
        frame,
        on_select=_mode_clicked,
        height="content",
        column_config=columns.layout(frame),
        **row_choice.choose("compare_table", modes, mode),
        alt="A row a mode: what it put in the prompt, and at what cost",
    )


def mode_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of modes for the page: a row for every mode."""
    if "Expected" in frame:
        found = [f"{n} of {of}" for n, of in zip(frame.pop("Expected found"), frame.pop("Expected"), strict=True)]  # fmt: skip
        frame.insert(1, "Expected found", found)
    if not any(frame["Degraded"]):
        del frame["Degraded"]
    counts = [c for c in frame if frame[c].dtype.kind == "i"]
    frame = frame.astype(dict.fromkeys(counts, "Int64")).reindex(list(MODES))
    frame["Outcome"] = frame["Outcome"].fillna("to come")
    frame.insert(0, "Mode", [full_title(name) for name in frame.index])
    return frame


def full_title(mode: str) -> str:
    """What a mode is called on the pages, and in links and on the command line."""
    return f"{MODES[mode].title} · {mode}"


def _mode_clicked() -> None:
    if chosen := row_choice.clicked("compare_table", state.view().mode):
        state.change(mode=chosen)


def _chunks(traces: Mapping[str, Trace], selected: str) -> None:
    """Every chunk that some mode chose, and where the others lost it."""
    say.heading("Every chunk that some mode chose")
    st.caption(
        "A number is the chunk's rank by score among that mode's passages (the bars above are "
        "numbered as the prompt cites them); a word, the stage that lost the chunk."
    )
    brief = {
        look.text: f"{look.glyph} {STAGE_TITLES[stage].lower()}"
        for stage, look in FATES.items()
        if stage in STAGE_TITLES
    }
    frame = tables.compare_table(traces).replace(brief)
    ids = [str(name) for name in frame.index]
    st.dataframe(
        frame,
        on_select=_chunk_clicked,
        height=CHUNKS_HEIGHT,
        column_config=columns.layout(frame) | _mode_columns(),
        **row_choice.choose("compare_chunks", ids, selected),
        alt="A row a chunk, a column a mode: its rank in that prompt, or its fate",
    )


def _mode_columns() -> dict[str, Any]:
    return {
        name: st.column_config.TextColumn(mode.title, width=92, help=mode.help)
        for name, mode in MODES.items()
    }


def _chunk_clicked() -> None:
    if chosen := row_choice.clicked("compare_chunks", state.view().chunk):
        state.change(chunk=chosen)
