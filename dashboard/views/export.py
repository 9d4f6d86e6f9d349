"""The export menu: take this trace away, save it in the session, or open one from a file."""

from __future__ import annotations

import streamlit as st

from core.diagnosis import faults
from core.index.index import Index
from core.report import markdown_report
from core.trace import Trace
from dashboard import diagnosing, state, tables
from dashboard.link import View
from dashboard.views import saved


def draw(trace: Trace, evidence: tuple[str, ...], index: Index | None = None) -> None:
    """The menu. Files are made when asked for, not on every run.

    With ``index``, as the principal sees it, the report says why evidence is missing.
    """
    view = state.view()
    with st.popover("Export", key="export"):
        st.download_button(
            "Trace as JSON",
            lambda: trace.to_json(indent=1),
            file_name="trace.json",
            mime="application/json",
            on_click="ignore",
            key="export_json",
            width="stretch",
        )
        st.download_button(
            "Table as CSV",
            lambda: table_csv(trace, evidence),
            file_name="chunks.csv",
            mime="text/csv",
            on_click="ignore",
            key="export_csv",
            width="stretch",
        )
        st.download_button(
            "Report as Markdown",
            lambda: report(trace, evidence, view, index),
            file_name="trace.md",
            mime="text/markdown",
            on_click="ignore",
            key="export_report",
            width="stretch",
        )
        st.divider()
        saved.save(trace)
        saved.upload("open_trace", show=True)


def report(trace: Trace, evidence: tuple[str, ...], view: View, index: Index | None = None) -> str:
    """The trace as Markdown; with its documents at hand also the verdicts on the evidence, and
    the faults that can be seen without another run."""
    if index is None:
        return markdown_report(trace, evidence=evidence)
    return markdown_report(
        trace,
        evidence=evidence,
        verdicts=diagnosing.verdicts_on(view, index, trace) if evidence else (),
        faults=faults(trace, index),
    )


def table_csv(trace: Trace, evidence: tuple[str, ...]) -> str:
    """Every row of the stage table. Cells that a spreadsheet would run as formulas get an
    apostrophe in front."""
    frame = tables.stage_table(trace, limit=None, evidence=evidence, include="all")
    for column in frame.columns:
        if not frame[column].dtype.kind in "iufb":
            frame[column] = frame[column].map(_harmless)
    return frame.to_csv(index_label="chunk")


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
