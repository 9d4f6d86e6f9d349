"""The cells of a strip as heat maps, which a browser draws as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dashboard.figures.stack import Band
from dashboard.figures.strip import Shown, Strip
from dashboard.palette import Palette

Drawn = dict[str, Any]


def _heat(strip: Strip, lines: Sequence[tuple[Band, np.ndarray]], **more: Any) -> Drawn:
    """A heat map of rows of unequal height: between two of them a line of nothing."""
    edges, values = [lines[0][0].top], []
    nothing = np.full(len(strip.bins), np.nan, dtype=np.float32)
    for i, (band, line) in enumerate(lines):
        if i:
            edges.append(band.top)
            values.append(nothing)
        edges.append(band.bottom)
        values.append(line)
    return {
        "type": "heatmap",
        "x": strip.edges,
        "y": np.array(edges),
        "z": np.array(values, dtype=np.float32),
        "hoverinfo": "skip",
        "xgap": 1 if len(strip.bins) <= 90 else 0,
        **more,
    }


def scores(strip: Strip, shown: Sequence[Shown]) -> Drawn:
    lines = []
    for one in shown:
        line = np.full(len(strip.bins), np.nan, dtype=np.float32)
        line[one.columns] = one.levels
        lines.append((one.band, line))
    return _heat(strip, lines, coloraxis="coloraxis", name="scores")


def ground(strip: Strip, colours: Palette) -> Drawn:
    """A faint ground under each row, so that empty cells read as empty."""
    edges, values = [strip.bands[0].top], []
    for i, band in enumerate(strip.bands):
        if i:
            edges.append(band.top)
            values.append([None])
        edges.append(band.bottom)
        values.append([0])
    return {
        "type": "heatmap",
        "x": strip.edges[[0, -1]],
        "y": edges,
        "z": values,
        "colorscale": [(0, colours.track), (1, colours.track)],
        "showscale": False,
        "hoverinfo": "skip",
        "name": "ground",
    }


def flat(strip: Strip, shown: Sequence[Shown], colours: Palette) -> Iterator[Drawn]:
    """Cells without a score: chunks that a window brought, and those that nothing scored."""
    lines = []
    for one in shown:
        bare = np.isnan(one.levels)
        if not bare.any():
            continue
        line = np.full(len(strip.bins), np.nan, dtype=np.float32)
        joined = one.row.name == "extend"
        line[one.columns[bare]] = 1.0 if joined else 0.0
        lines.append((one.band.slim() if joined else one.band, line))
    if lines:
        low, high = colours.unscored, colours.window
        scale = [(0, low), (0.5, low), (0.5, high), (1, high)]
        yield _heat(
            strip, lines, colorscale=scale, zmin=0, zmax=1, showscale=False, name="without a score"
        )
    for value, colour, name in (
        (1, colours.window, "joined through a window"),
        (0, colours.unscored, "there, without a score"),
    ):
        if any((line == value).any() for _, line in lines):
            yield swatch("square", colour, name, legendrank=5)


def swatch(symbol: str, colour: str, name: str, **more: Any) -> Drawn:
    """A trace that draws nothing but has an entry in the legend."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [],
        "y": [],
        "customdata": [],
        "marker": {"symbol": symbol, "color": colour},
        "name": name,
        "hoverinfo": "skip",
        "showlegend": True,
        **more,
    }
