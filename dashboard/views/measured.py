"""What an evaluation found: recall, time, losses, what could not be measured, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.evaluate import summarise
from core.words import counted
from dashboard import charts, columns, figures, say, tables, work
from dashboard.figures.several import mode_title
from dashboard.views import baseline, losses

if TYPE_CHECKING:
    from core.evaluate.records import Evaluation
    from core.evaluate.summary import Summary

BUDGET = "evaluate_budget"


def draw(made: Evaluation, include: bool) -> None:
    """All of it, for the questions that have a figure in every mode. ``include`` is whether the
    knobs that the yardstick sets aside took part."""
    if not made.measured:
        say.note("warning", "None of these questions can be measured.", key="none_measured")
        _unmeasured(made)
        return
    if not made.common:
        return
    summary = summarise(made)
    degraded = {f"{mode_title(m)}: {why} ({n} questions)" for m, f in summary.modes.items() for why, n in f.degraded.items()}  # fmt: skip
    say.note("warning", sorted(degraded), key="degraded")
    budget = _budget(made)
    with st.container(key="strong_evaluate"):
        st.text(headline(summary, budget))
    with st.container(key="split_recall"):
        left, right = st.columns([1, 1.7], gap="medium")
    with left:
        charts.draw(
            figures.recall_chart(summary, made.budgets, theme=work.theme()),
            key="recall",
            alt="Recall of each mode at each budget, with its 95 % interval",
        )
    with right:
        frame = tables.recall_table(summary, budget)
        st.dataframe(
            frame,
            hide_index=True,
            height="content",
            column_config=columns.measures(frame),
            alt="A row a mode: recall, interval, time and tokens at the chosen budget",
        )
        with st.container(key="quiet_recall"):
            st.text(
                "Bars in the chart are 95 % intervals. Whether a mode is marked as below the best "
                "goes by the difference question by question, not by whether bars overlap."
            )
        _files(made, summary)
    losses.draw(made, summary, budget, include)
    _unmeasured(made)
    with st.expander("Time by stage", key="latency_box"):
        st.caption("Milliseconds a question, median / 95th percentile. A stage that an earlier mode did already counts as it took then.")  # fmt: skip
        st.dataframe(tables.latency_table(summary), hide_index=True, height="content")
    baseline.draw(made, include)


def _budget(made: Evaluation) -> int:
    options = list(made.budgets)
    if st.session_state.get(BUDGET) not in options:
        st.session_state[BUDGET] = options[0]
    chosen = st.segmented_control(
        "Budget",
        options,
        format_func=lambda b: f"{b:,} tokens",
        default=st.session_state[BUDGET],
        required=True,
        key=BUDGET,
        persist_state="session",
        label_visibility="collapsed",
    )
    return chosen or options[0]


def headline(summary: Summary, budget: int) -> str:
    """Which mode finds most at a budget, and which others cannot be told from it."""
    best = summary.best(budget)
    found = summary.modes[best].recall[str(budget)]
    equal = [mode_title(m) for m in summary.as_good(budget) if m != best]
    said = f"{mode_title(best)} finds {found.mean:.1%} of the evidence within {budget:,} tokens"
    said = said.replace("%", " %")
    if len(summary.modes) == 1:
        return f"{said}."
    if len(equal) + 1 == len(summary.modes):
        return f"{said}; on these {summary.questions:,} questions no mode differs from it by more than chance."  # fmt: skip
    if not equal:
        return f"{said}, more than every other mode."
    return f"{said}; {', '.join(equal)} cannot be told from it."


def _unmeasured(made: Evaluation) -> None:
    """Questions that were skipped, quotes that were not found, pages without text."""
    frame = tables.unmeasured_table(made)
    if frame.empty:
        return
    parts = (
        (sum(bool(a.skipped) for a in made.asked), "question", "questions", "skipped"),
        (sum(len(a.unfound) for a in made.measured), "piece", "pieces", "of evidence not found"),
        (sum(len(a.textless) for a in made.measured), "page", "pages", "without text"),
    )
    said = ", ".join(f"{counted(n, one, many)} {how}" for n, one, many, how in parts if n)
    with st.expander(f"Not measured: {said}", key="unmeasured_box"):
        st.caption(
            "Quotes that stand in no document and questions without evidence count nowhere as "
            "missed. A page without text was lost at extraction."
        )
        st.dataframe(frame, hide_index=True, height="content", column_config=columns.layout(frame))


def _files(made: Evaluation, summary: Summary) -> None:
    from core.evaluate.table import markdown

    with st.container(horizontal=True, key="run_files"):
        st.download_button(
            "Save this run",
            made.to_json,
            file_name="run.json",
            mime="application/json",
            on_click="ignore",
            key="save_run",
            help="It can be compared with later runs here, and by chunkscope eval --baseline.",
        )
        st.download_button(
            "Table as Markdown",
            lambda: markdown(made, summary, None),
            file_name="evaluation.md",
            mime="text/markdown",
            on_click="ignore",
            key="save_table",
        )
