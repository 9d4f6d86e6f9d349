"""Figures of a trace: pure functions from records to plotly, without streamlit.

Colours are the theme's own and pages are transparent, so Streamlit must draw them with
``theme=None``. Every point that stands for a chunk carries its id as ``customdata``.
"""

from __future__ import annotations

from dashboard.figures.budget import budget_bars
from dashboard.figures.bump import bump_chart
from dashboard.figures.document_map import document_map, map_notes
from dashboard.figures.health import page_bars
from dashboard.figures.knob_map import knob_map
from dashboard.figures.ledger import ledger_bar
from dashboard.figures.legend import legend_html
from dashboard.figures.losses import loss_bars
from dashboard.figures.page import page_figure
from dashboard.figures.recall import change_chart, recall_chart
from dashboard.figures.scores import score_strip
from dashboard.figures.sweep import sweep_map

__all__ = [
    "budget_bars",
    "bump_chart",
    "change_chart",
    "document_map",
    "knob_map",
    "ledger_bar",
    "legend_html",
    "loss_bars",
    "map_notes",
    "page_bars",
    "page_figure",
    "recall_chart",
    "score_strip",
    "sweep_map",
]
