"""A page's picture with its chunks drawn on it, each line coloured by its chunk's fate."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.ingest.picture import Picture
from dashboard.figures.base import SMALL, base_layout
from dashboard.figures.text import escaped
from dashboard.page_lines import PageLine
from dashboard.palette import Palette, fate_look, palette

PRINT = "#111827"
"""What is drawn on the paper, which is white on a light and on a dark page."""

UNRANKED = "unranked"
"""The fate of a line that is in no chunk."""

WASH = 0.26
"""Opacity of the colour over a line: print stays legible through it."""

CLOSE = 0.9
"""Of a line's height, how far below another it may stand and be framed together with it."""


def page_figure(
    picture: Picture,
    lines: Sequence[PageLine],
    *,
    fates: Mapping[str, str],
    said: Mapping[str, str],
    height: int,
    selected: str = "",
    evidence: Collection[str] = (),
    theme: str = "light",
) -> go.Figure:
    """The page.

    Args:
        fates: chunk id → the stage at which the chunk ended ("prompt" for one that arrived), as
            ``FATES`` names them; empty where there is no trace, and every chunk looks the same.
        said: chunk id → what the hover box says of it, in plain text.
        height: of the figure, in pixels; the page is as wide as its shape then asks for.

    Returns:
        A figure whose bars and numbers carry chunk ids as ``customdata``.
    """
    colours = palette(theme)
    groups: dict[str, list[PageLine]] = {}
    for line in lines:
        kind = fates.get(line.chunk_id, "chunk") if line.chunk_id else UNRANKED
        groups.setdefault(kind, []).append(line)
    data = [_bars(own, *_look(kind, theme, colours), said) for kind, own in groups.items()]
    for ids, name, colour in (
        (set(evidence), "expected evidence", colours.evidence),
        ({selected}, "selected chunk", PRINT),
    ):
        data += _borders([x for x in lines if x.chunk_id and x.chunk_id in ids], name, colour)
    data.append(_numbers([x for x in lines if x.first], colours, said))
    return go.Figure(data=data, layout=_layout(picture, colours, height, theme))


def _look(kind: str, theme: str, colours: Palette) -> tuple[str, str]:
    if kind == UNRANKED:
        return "not ranked (in no chunk)", colours.other
    if kind == "chunk":
        return "a chunk", colours.documents[0]
    look = fate_look(kind)
    return look.label, look.colour(theme)


def _places(lines: Sequence[PageLine]) -> dict[str, Any]:
    """Bars lie down: from ``base``, ``x`` wide, around ``y``, ``width`` high."""
    return {
        "type": "bar",
        "orientation": "h",
        "base": [x.box[0] for x in lines],
        "x": [x.box[2] - x.box[0] for x in lines],
        "y": [(x.box[1] + x.box[3]) / 2 for x in lines],
        "width": [x.box[3] - x.box[1] for x in lines],
        "customdata": [x.chunk_id for x in lines],
        "showlegend": True,
    }


def _bars(
    lines: Sequence[PageLine], name: str, colour: str, said: Mapping[str, str]
) -> dict[str, Any]:
    return _places(lines) | {
        "marker": {"color": colour, "opacity": WASH, "line": {"width": 0}},
        # A click must not make the others paler than they are.
        "selected": {"marker": {"opacity": WASH}},
        "unselected": {"marker": {"opacity": WASH}},
        "hovertext": [escaped(said.get(x.chunk_id, name)) for x in lines],
        "hoverinfo": "text",
        "name": name,
    }


def _borders(lines: Sequence[PageLine], name: str, colour: str) -> list[dict[str, Any]]:
    if not lines:
        return []
    x: list[float | None] = []
    y: list[float | None] = []
    for left, top, right, bottom in _together(lines):
        x += [left, right, right, left, left, None]
        y += [top, top, bottom, bottom, top, None]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "line": {"color": colour, "width": 1.6},
            "hoverinfo": "skip",
            "name": name,
            "showlegend": True,
        }
    ]


def _together(lines: Sequence[PageLine]) -> list[tuple[float, float, float, float]]:
    """One box for lines that follow closely below each other: a frame around every single line
    would be more of a mark than the text is."""
    boxes: list[tuple[float, float, float, float]] = []
    last = ""
    for line in lines:
        left, top, right, bottom = line.box
        if boxes and line.chunk_id == last:
            x0, y0, x1, y1 = boxes[-1]
            near = -0.5 * (bottom - top) <= top - y1 <= CLOSE * (bottom - top)
            if near and left < x1 and right > x0:
                boxes[-1] = min(left, x0), y0, max(right, x1), max(bottom, y1)
                continue
        boxes.append((left, top, right, bottom))
        last = line.chunk_id
    return boxes


def _numbers(
    lines: Sequence[PageLine], colours: Palette, said: Mapping[str, str]
) -> dict[str, Any]:
    """Each chunk's number beside the line with which it begins on this page."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": [x.box[0] - 3 for x in lines],
        "y": [(x.box[1] + x.box[3]) / 2 for x in lines],
        "text": [f"<b>{x.ordinal + 1}</b>" for x in lines],
        "textposition": "middle left",
        # On the paper, which is white in either theme.
        "textfont": {"size": SMALL, "color": PRINT},
        "customdata": [x.chunk_id for x in lines],
        "hovertext": [escaped(said.get(x.chunk_id, "")) for x in lines],
        "hoverinfo": "text",
        "selected": {"textfont": {"color": PRINT}},
        "unselected": {"textfont": {"color": PRINT}},
        "showlegend": False,
        "name": "chunk numbers",
    }


def _layout(picture: Picture, colours: Palette, height: int, theme: str) -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True}
    encoded = base64.b64encode(picture.png).decode("ascii")
    image = {
        "source": f"data:image/png;base64,{encoded}",
        "xref": "x",
        "yref": "y",
        "x": 0,
        "y": 0,
        "sizex": picture.width,
        "sizey": picture.height,
        "sizing": "stretch",
        "layer": "below",
        # White paper on a dark page is dimmed, so that it does not glare.
        "opacity": 1.0 if theme == "light" else 0.86,
    }
    frame = {
        "type": "rect",
        "x0": 0,
        "y0": 0,
        "x1": picture.width,
        "y1": picture.height,
        "line": {"color": colours.line, "width": 1},
        # Above the picture, which would cover it: white paper on a white page has no edge.
        "layer": "above",
    }
    return base_layout(
        colours,
        height,
        margin={"l": 0, "r": 0, "t": 2, "b": 2},
        barmode="overlay",
        bargap=0,
        images=[image],
        shapes=[frame],
        xaxis=hidden | {"range": [0, picture.width], "constrain": "domain"},
        yaxis=hidden
        | {"range": [picture.height, 0], "scaleanchor": "x"}
        # A wide page stands at the top, where the eye looks for it.
        | {"constrain": "domain", "constraintoward": "top"},
    )
