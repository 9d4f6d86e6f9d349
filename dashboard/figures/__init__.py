"""Figures of a trace: pure functions from records to plotly, without streamlit.

Colours are the theme's own and pages are transparent, so Streamlit must draw them with
``theme=None``. Every point that stands for a chunk carries its id as ``customdata``.
"""

from __future__ import annotations

from dashboard.figures.budget import budget_bars
from dashboard.figures.bump import bump_chart
from dashboard.figures.document_map import document_map, map_notes
from dashboard.figures.health import page_bars
from dashboard.figures.ledger import ledger_bar
from dashboard.figures.legend import legend_html
from dashboard.figures.page import page_figure
from dashboard.figures.scores import score_strip

__all__ = [
    "budget_bars",
    "bump_chart",
    "document_map",
    "ledger_bar",
    "legend_html",
    "map_notes",
    "page_bars",
    "page_figure",
    "score_strip",
]
