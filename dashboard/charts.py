"""A figure on the page: as it is, with its legend below it as text."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.figures import legend_html

_CONFIG = {"displayModeBar": False, "scrollZoom": False}


def draw(figure: go.Figure, *, key: str, alt: str, **more: Any) -> None:
    """Draws it. ``alt`` says what it shows to those who cannot see it."""
    with st.container(key=f"chart_{key}", gap="xxsmall"):
        st.plotly_chart(figure, key=key, theme=None, config=_CONFIG, alt=alt, **more)
        legend = legend_html(figure)
        if legend:
            st.html(legend)
