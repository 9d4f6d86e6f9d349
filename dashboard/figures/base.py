"""What all figures share: fonts, colours, hover boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard.palette import Palette

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, DejaVu Sans, sans-serif"
SIZE = 12
SMALL = 11


def base_layout(colours: Palette, height: int, **more: Any) -> dict[str, Any]:
    """Layout on a transparent page: the colours are those of the page behind it."""
    return {
        "height": height,
        "autosize": True,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": SIZE, "color": colours.text},
        "hoverlabel": {
            "bgcolor": colours.surface,
            "bordercolor": colours.line,
            "font": {"family": FONT, "size": SIZE, "color": colours.text},
            "align": "left",
        },
        "hovermode": "closest",
        "clickmode": "event+select",
        # Pages draw it as text (``legend``): plotly's does not know how wide the page is.
        "showlegend": False,
        "template": None,
        **more,
    }


def axis(colours: Palette, **more: Any) -> dict[str, Any]:
    """An axis without lines and grid."""
    return {
        "showgrid": False,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "tickfont": {"size": SMALL, "color": colours.muted},
        "automargin": False,
        **more,
    }


def note(text: str, colour: str, **more: Any) -> dict[str, Any]:
    """A small text at ``x``, ``y``: shares of the plot, or ``xref``/``yref`` of an axis."""
    return {
        "text": text,
        "xref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "borderpad": 0,
        "font": {"size": more.pop("size", SMALL), "color": colour},
        **more,
    }


def pointed(
    x: Sequence[Any], y: Sequence[Any], ids: Sequence[Any], said: Sequence[str]
) -> dict[str, Any]:
    """A trace of empty texts: it draws nothing, answers the pointer, and carries ids. Heat maps
    are pictures, and those cannot be clicked in Streamlit."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": x,
        "y": y,
        "text": [""] * len(ids),
        "customdata": ids,
        "hovertext": said,
        "hoverinfo": "text",
        "name": "cells",
        "showlegend": False,
    }
