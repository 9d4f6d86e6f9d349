"""Figures of a trace: pure functions from records to plotly, without streamlit."""

from __future__ import annotations

from dashboard.figures.document_map import document_map

__all__ = ["document_map"]
