"""Two knobs over a coarse grid: a number a cell, and the present values framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from core.sweep import Map
from dashboard.figures.base import SMALL, axis, base_layout, pointed
from dashboard.figures.text import clipped, escaped
from dashboard.palette import palette
from dashboard.sweeps import in_words

ROW, TOP, AXIS, LEFT = 34, 14, 54, 150


def knob_map(
    found: Map,
    values: Sequence[Sequence[float]],
    now: tuple[Any, Any],
    *,
    titles: tuple[str, str],
    unit: str,
    most: float | None = None,
    theme: str = "light",
) -> go.Figure:
    """The numbers of ``values`` (rows as ``found.down``, columns as ``found.across``) in cells.

    Cells carry ``[i, j]`` as ``customdata``. ``unit`` says what the numbers are; ``most`` is
    the number that gets the strongest colour, the largest one where not given. The cell of
    ``now`` is framed; where the grid has no such value, the last one below it.
    """
    colours = palette(theme)
    flat = [v for row in values for v in row]
    top = max([1.0, *flat]) if most is None else max(1.0, most)
    least = 0.0 if most is not None else min(flat, default=0.0)
    least = least if least < top else 0.0
    x, y, said, ids = [], [], [], []
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            x.append(j)
            y.append(i)
            ids.append([i, j])
            where = " · ".join(
                f"{escaped(t)} {escaped(in_words(k, v))}"
                for t, k, v in zip(
                    titles, found.knobs, (found.down[i], found.across[j]), strict=True
                )
            )
            said.append(f"{where}<br><b>{value:,}</b> {escaped(unit)}")
    small = {"size": SMALL, "color": colours.muted}
    at = place(found.down, now[0]), place(found.across, now[1])
    data = [
        {
            "type": "heatmap",
            "x": list(range(len(found.across))),
            "y": list(range(len(found.down))),
            "z": [list(row) for row in values],
            "zmin": least,
            "zmax": top,
            "colorscale": colours.colorscale,
            "colorbar": {
                "title": {"text": escaped(unit), "side": "right", "font": small},
                "thickness": 10,
                "outlinewidth": 0,
                "tickfont": small,
                "tickformat": ",d",
                "nticks": 4,
            },
            # Plotly writes them black or white, whichever can be read on the cell.
            "texttemplate": "%{z:,d}",
            "textfont": {"size": SMALL},
            "xgap": 2,
            "ygap": 2,
            "hoverinfo": "skip",
            "name": unit,
        },
        pointed(x, y, ids, said),
        {
            "type": "scatter",
            "mode": "lines",
            "x": [at[1] - 0.5, at[1] + 0.5, at[1] + 0.5, at[1] - 0.5, at[1] - 0.5],
            "y": [at[0] - 0.5, at[0] - 0.5, at[0] + 0.5, at[0] + 0.5, at[0] - 0.5],
            "line": {"color": colours.window, "width": 3},
            "hoverinfo": "skip",
            "name": "the values now, or the nearest below",
            "showlegend": True,
        },
    ]
    layout = base_layout(
        colours,
        TOP + ROW * len(found.down) + AXIS,
        margin={"l": LEFT, "r": 10, "t": TOP, "b": AXIS, "pad": 4},
        xaxis=_values(colours, found.knobs[1], found.across, titles[1]),
        yaxis=_values(colours, found.knobs[0], found.down, titles[0])
        | {"range": [len(found.down) - 0.5, -0.5]},
        dragmode=False,
        uirevision="-".join(found.knobs),
    )
    return go.Figure(data=data, layout=layout)


def place(values: Sequence[Any], value: Any) -> int:
    """Where a value stands among others, or the last one below it."""
    if value in values:
        return list(values).index(value)
    if isinstance(value, (str, bool)):
        return 0
    return max((i for i, v in enumerate(values) if v <= value), default=0)


def _values(colours: Any, knob: str, values: Sequence[Any], title: str) -> dict[str, Any]:
    small = {"size": SMALL, "color": colours.muted}
    return axis(
        colours,
        range=[-0.5, len(values) - 0.5],
        tickvals=list(range(len(values))),
        ticktext=[escaped(clipped(in_words(knob, v), 18)) for v in values],
        title={"text": escaped(title), "font": small, "standoff": 8},
        fixedrange=True,
    )
