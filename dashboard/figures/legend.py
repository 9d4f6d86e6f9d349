"""A figure's legend as HTML beside it: unlike plotly's own it wraps, and covers no axis.

Names in figures are escaped where they are made (see ``text``), so they are HTML already.
"""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard.palette import FATES

_GLYPHS = {look.symbol: look.glyph for look in FATES.values()} | {"square": "■", "cross": "✚"}
_BORDERS = {"dot": "dotted", "dash": "dashed"}


@dataclass(frozen=True, slots=True)
class Key:
    """One entry: ``mark`` is a glyph, or how a line is drawn (solid, dotted, dashed)."""

    name: str
    colour: str
    mark: str
    line: bool = False

    @property
    def html(self) -> str:
        if self.line:
            sign = f'<i class="line" style="border-top: 2px {self.mark} {self.colour}"></i>'
        else:
            sign = f'<i style="color: {self.colour}">{self.mark}</i>'
        return f"<span>{sign}{self.name}</span>"


def legend_keys(figure: go.Figure) -> list[Key]:
    """What the figure's traces that want a legend look like, each name once."""
    wanted = [t for t in figure.data if t.showlegend]
    found: dict[str, Key] = {}
    for trace in sorted(wanted, key=lambda t: t.legendrank or 1000):
        found.setdefault(trace.name, _key(trace))
    return list(found.values())


def _key(trace: go.Bar | go.Scatter) -> Key:
    if trace.type == "bar":
        return Key(trace.name, trace.marker.color, "■")
    if trace.mode == "lines":
        border = _BORDERS.get(trace.line.dash, "solid")
        return Key(trace.name, trace.line.color, border, line=True)
    return Key(trace.name, trace.marker.color, _GLYPHS.get(trace.marker.symbol, "●"))


def legend_html(figure: go.Figure) -> str:
    """The legend, one line that wraps; empty where nothing needs a name."""
    keys = legend_keys(figure)
    return f'<div class="legend">{"".join(k.html for k in keys)}</div>' if keys else ""
