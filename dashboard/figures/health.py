"""A document's pages at a glance: how much text each holds, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from core.ingest.health import BAD, DOUBTFUL, GOOD, page_health
from core.records import PageReport
from core.words import counted
from dashboard.figures.base import axis, base_layout
from dashboard.figures.text import escaped
from dashboard.palette import SEVERITIES, palette

HEIGHT = 96
WIDTH = 0.86
"""Of a bar, in pages."""

WASH = 0.3
"""Opacity of the colour behind a bad page's bar, which is mostly too short to be seen by itself."""

LEAST = 0.06
"""The height of an empty page's bar, as a share of the tallest: it must be seen, and clicked."""


def page_bars(pages: Sequence[PageReport], *, current: int = 0, theme: str = "light") -> go.Figure:
    """A bar for each page: its characters (blanks aside), coloured by the page's health; a bad
    page has its colour behind it from top to bottom.

    Args:
        current: number of the page that is shown, from 1; it is outlined. 0 for none.

    Returns:
        A figure whose bars carry the page's number as ``customdata``.
    """
    colours = palette(theme)
    tallest = max((p.characters for p in pages), default=0) or 1
    data = []
    for severity in (GOOD, DOUBTFUL, BAD):
        own = [p for p in pages if page_health(p).severity == severity]
        if own:
            look = SEVERITIES[severity]
            if severity == BAD:
                data.append(_wash(own, look.label, look.colour(theme), tallest))
            data.append(_bars(own, look.label, look.colour(theme), tallest))
    data += _outline([p for p in pages if p.number == current], colours.selected, tallest)
    return go.Figure(
        data=data,
        layout=base_layout(
            colours,
            HEIGHT,
            margin={"l": 46, "r": 4, "t": 6, "b": 20},
            barmode="overlay",
            xaxis=axis(
                colours,
                range=[0.4, len(pages) + 0.6],
                fixedrange=True,
                tickformat=",d",
                dtick=1 if len(pages) <= 24 else None,
            ),
            yaxis=axis(
                colours,
                range=[0, tallest * 1.05],
                fixedrange=True,
                tickvals=[0, tallest],
                ticktext=["0", f"{tallest:,}"],
            ),
        ),
    )


def _bars(pages: Sequence[PageReport], name: str, colour: str, tallest: int) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": [p.number for p in pages],
        "y": [max(p.characters, LEAST * tallest) for p in pages],
        # Else each colour's bars are as wide as their own gaps allow.
        "width": WIDTH,
        "marker": {"color": colour},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "customdata": [p.number for p in pages],
        "hovertext": [_said(p) for p in pages],
        "hoverinfo": "text",
        "name": name,
        "showlegend": True,
    }


def _wash(pages: Sequence[PageReport], name: str, colour: str, tallest: int) -> dict[str, Any]:
    """A bar of full height for each, pale: a page without text shows among hundreds."""
    shade = {"opacity": WASH}
    return _bars(pages, name, colour, tallest) | {
        "y": [tallest] * len(pages),
        "marker": {"color": colour, "opacity": WASH},
        "selected": {"marker": shade},
        "unselected": {"marker": shade},
        "showlegend": False,
    }


def _outline(pages: Sequence[PageReport], colour: str, tallest: int) -> list[dict[str, Any]]:
    x: list[float] = []
    y: list[float] = []
    for p in pages:
        top = max(p.characters, LEAST * tallest)
        x += [p.number - 0.48, p.number - 0.48, p.number + 0.48, p.number + 0.48, p.number - 0.48]
        y += [0, top, top, 0, 0]
    if not x:
        return []
    line = {"color": colour, "width": 2}
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "line": line,
            "hoverinfo": "skip",
            "name": "the page shown",
            "showlegend": True,
        }
    ]


def _said(page: PageReport) -> str:
    facts = [f"<b>Page {page.number}</b>: {counted(page.characters, 'character')}"]
    facts += [escaped(f"It {reason}.") for reason in page_health(page).reasons]
    return "<br>".join(facts)
