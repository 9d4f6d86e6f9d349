"""Means with their intervals: a row a mode, a panel a budget, dots that can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dashboard.figures.base import SMALL, axis, base_layout, note
from dashboard.figures.stack import nth
from dashboard.palette import Palette

TOP, ROW, AXIS, LEFT, RIGHT, BETWEEN = 24, 44, 42, 84, 18, 0.12


@dataclass(frozen=True, slots=True)
class Dot:
    """A mean in its interval. ``id`` is what a click on it reports, ``said`` its hover box."""

    row: int
    panel: int
    mean: float
    low: float
    high: float
    id: str
    said: str


@dataclass(frozen=True)
class Kind:
    """Dots of one look. ``offset`` is how far below the middle of their row they stand."""

    name: str
    colour: str
    symbol: str
    dots: Sequence[Dot]
    offset: float = 0.0
    size: int = 11


@dataclass(frozen=True)
class Scale:
    """The axis of values: from ``low`` to ``high``, in plotly's number format."""

    low: float
    high: float
    format: str
    title: str
    zero: bool = False


def dot_chart(
    kinds: Sequence[Kind],
    rows: Sequence[str],
    panels: Sequence[str],
    scale: Scale,
    colours: Palette,
) -> go.Figure:
    """Panels side by side on one scale; ``rows`` and ``panels`` are escaped titles."""
    data: list[dict[str, Any]] = []
    for kind in kinds:
        for panel in range(len(panels)):
            own = [d for d in kind.dots if d.panel == panel]
            if own:
                data += [_intervals(kind, own, panel), _dots(kind, own, panel)]
    return go.Figure(data=data, layout=_layout(rows, panels, scale, colours))


def _intervals(kind: Kind, dots: Sequence[Dot], panel: int) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for d in dots:
        x += [d.low, d.high, None]
        y += [d.row + kind.offset, d.row + kind.offset, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "xaxis": f"x{nth(panel + 1)}",
        "yaxis": f"y{nth(panel + 1)}",
        "line": {"color": kind.colour, "width": 2},
        "hoverinfo": "skip",
        "name": f"{kind.name}: 95 % interval",
        "showlegend": False,
    }


def _dots(kind: Kind, dots: Sequence[Dot], panel: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [d.mean for d in dots],
        "y": [d.row + kind.offset for d in dots],
        "xaxis": f"x{nth(panel + 1)}",
        "yaxis": f"y{nth(panel + 1)}",
        "marker": {"color": kind.colour, "symbol": kind.symbol, "size": kind.size, "line": {"width": 2, "color": kind.colour}},
        "unselected": {"marker": {"opacity": 1}},
        "customdata": [d.id for d in dots],
        "hovertext": [d.said for d in dots],
        "hoverinfo": "text",
        "name": kind.name,
        "showlegend": True,
        "cliponaxis": False,
    }  # fmt: skip


def _layout(
    rows: Sequence[str], panels: Sequence[str], scale: Scale, colours: Palette
) -> dict[str, Any]:
    width = (1 - BETWEEN * (len(panels) - 1)) / len(panels)
    small = {"size": SMALL, "color": colours.muted}
    axes: dict[str, Any] = {}
    notes = []
    for at, title in enumerate(panels):
        left = at * (width + BETWEEN)
        axes[f"xaxis{nth(at + 1)}"] = axis(
            colours,
            anchor=f"y{nth(at + 1)}",
            domain=[left, min(1.0, left + width)],
            range=[scale.low, scale.high],
            fixedrange=True,
            tickformat=scale.format,
            nticks=3,
            showgrid=True,
            gridcolor=colours.track,
            title={"text": scale.title, "font": small, "standoff": 4},
            **({"zeroline": True, "zerolinecolor": colours.line} if scale.zero else {}),
        )
        axes[f"yaxis{nth(at + 1)}"] = axis(
            colours,
            anchor=f"x{nth(at + 1)}",
            range=[len(rows) - 0.5, -0.5],
            fixedrange=True,
            tickvals=list(range(len(rows))),
            ticktext=list(rows),
            tickfont={"size": SMALL, "color": colours.text},
            showticklabels=at == 0,
        )
        notes.append(note(title, colours.text, x=left, y=1, yref="paper", yshift=4))
    return base_layout(
        colours,
        TOP + ROW * len(rows) + AXIS,
        margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": AXIS, "pad": 4},
        annotations=notes,
        dragmode=False,
        **axes,
    )


def bounds(values: Sequence[float], step: float, low: float, high: float) -> tuple[float, float]:
    """The least range in whole steps that holds the values, within ``low`` and ``high``, and a
    little room at its ends."""
    first = max(low, step * (min(values, default=low) // step))
    last = min(high, step * -(-max(values, default=high) // step))
    room = 0.03 * max(step, last - first)
    return first - room, max(last, first + step) + room
