"""The bump chart: the rank of each chunk in the prompt of each mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from core.trace import Trace
from core.words import counted
from dashboard.figures.base import SMALL, axis, base_layout, note
from dashboard.figures.cells import swatch
from dashboard.figures.several import Several, mode_title
from dashboard.figures.text import clipped, escaped, first_words, lines
from dashboard.lookup import Lookup
from dashboard.palette import Palette, fate_look, palette

MOST_LINES = 40
"""Chunks that the chart draws: those of the best ranks."""

TOP, ROW, BAND = 36, 22, 52


def bump_chart(
    traces: Mapping[str, Trace],
    *,
    selected: str = "",
    theme: str = "light",
    joined: Mapping[str, Mapping[str, str]] | None = None,
) -> go.Figure:
    """Ranks in each mode's prompt, best first, joined by a line for each chunk.

    ``joined`` says which chunk is which where the traces name them differently: for each key
    a name by chunk id. ``selected`` and ``customdata`` are then such names.

    Only chunks that reach some prompt are drawn, the best :data:`MOST_LINES` of them and the
    selected one. Where a chunk is lost, its line ends in a band below, at a glyph that says
    how. Points carry the chunk id as ``customdata``. The height follows from the longest prompt.
    """
    colours, several = palette(theme), Several(traces, joined)
    every = several.chunks
    shown = [c for i, c in enumerate(every) if i < MOST_LINES or c == selected]
    ranks = [lk.passage_ranks.get(c, 0) for lk in several.lookups for c in shown]
    deepest = max(ranks, default=0) or 1
    band = deepest + 1.4
    ways = _spread({c: _way(several.lookups, c, band) for c in shown}, len(traces))
    groups = several.groups(colours)
    data: list[dict[str, Any]] = []
    for group in groups:
        own = [c for c in shown if group.holds(c) and c != selected]
        data += _lines([ways[c] for c in own], group.colour)
        data.append(_dots(several, own, ways, group.colour, group.name, 8))
    data.append(_ends(several, [c for c in shown if c != selected], ways, theme, 8))
    if selected in ways:
        data += _lines([ways[selected]], colours.selected, 3, 1)
        data.append(_dots(several, [selected], ways, colours.selected, "selected chunk", 11))
        data.append(_ends(several, [selected], ways, theme, 12))
    data += _fates(several, ways, theme)
    more = len(every) - len(shown)
    layout = _layout(colours, several.keys, deepest, band, more)
    return go.Figure(data=data, layout=layout)


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk in one mode: its rank, or 0 in the band of those not in the prompt."""

    x: float
    y: float
    rank: int


Way = list[Point | None]
"""A chunk's point in each mode; none where it has nothing to be joined to."""


def _way(lookups: Sequence[Lookup], chunk: str, band: float) -> Way:
    ranks = [lookup.passage_ranks.get(chunk, 0) for lookup in lookups]
    out: Way = []
    for i, rank in enumerate(ranks):
        beside = any(ranks[j] for j in (i - 1, i + 1) if 0 <= j < len(ranks))
        out.append(Point(i, rank or band, rank) if rank or beside else None)
    return out


def _spread(ways: dict[str, Way], modes: int) -> dict[str, Way]:
    """Points in the band moved apart, in the order of the ranks beside them."""
    for i in range(modes):
        lost = {}
        for chunk, way in ways.items():
            point = way[i]
            if point is not None and not point.rank:
                beside = [p.rank for p in way[max(0, i - 1) : i + 2] if p is not None and p.rank]
                lost[chunk] = min(beside)
        step = min(0.09, 0.7 / max(1, len(lost)))
        for k, chunk in enumerate(sorted(lost, key=lost.__getitem__)):
            point = ways[chunk][i]
            ways[chunk][i] = replace(point, x=i + (k - (len(lost) - 1) / 2) * step)
    return ways


def _lines(
    ways: Sequence[Way], colour: str, width: float = 1.5, opacity: float = 0.7
) -> list[dict[str, Any]]:
    """Lines between ranks, and fainter ones to where a chunk was lost."""
    drawn = []
    for kept in (False, True):
        x: list[float | None] = []
        y: list[float | None] = []
        for way in ways:
            for one, two in pairwise(way):
                if one and two and (one.rank or two.rank) and kept == bool(one.rank and two.rank):
                    x += [one.x, two.x, None]
                    y += [one.y, two.y, None]
        if x:
            drawn.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": x,
                    "y": y,
                    "line": {"color": colour, "width": width if kept else width * 0.7},
                    "opacity": opacity if kept else opacity * 0.6,
                    "hoverinfo": "skip",
                    "showlegend": False,
                }
            )
    return drawn


def _dots(
    several: Several,
    chunks: Sequence[str],
    ways: Mapping[str, Way],
    colour: str,
    name: str,
    size: int,
) -> dict[str, Any]:
    """The chunks where they are in a prompt."""
    found = [
        (c, p, lk)
        for c in chunks
        for p, lk in zip(ways[c], several.lookups, strict=True)
        if p is not None and p.rank
    ]
    marker = {"symbol": "circle", "color": colour, "size": size}
    return _markers(several, found, marker, name=name, showlegend=bool(found))


def _ends(
    several: Several, chunks: Sequence[str], ways: Mapping[str, Way], theme: str, size: int
) -> dict[str, Any]:
    """The chunks where they are lost, at the glyph of their fate."""
    found = [
        (c, p, lk)
        for c in chunks
        for p, lk in zip(ways[c], several.lookups, strict=True)
        if p is not None and not p.rank
    ]
    looks = [fate_look(lk.fate(c).stage if lk.known(c) else lk.unknown_stage) for c, _, lk in found]
    marker = {
        "symbol": [look.symbol for look in looks],
        "color": [look.colour(theme) for look in looks],
        "size": size,
    }
    return _markers(several, found, marker, name="not in the prompt", showlegend=False)


def _fates(several: Several, ways: Mapping[str, Way], theme: str) -> list[dict[str, Any]]:
    """What the glyphs in the band mean."""
    stages = {
        lk.fate(c).stage if lk.known(c) else lk.unknown_stage
        for c, way in ways.items()
        for p, lk in zip(way, several.lookups, strict=True)
        if p is not None and not p.rank
    }
    looks = [fate_look(stage) for stage in sorted(stages)]
    return [swatch(look.symbol, look.colour(theme), look.label) for look in looks]


def _markers(
    several: Several,
    found: Sequence[tuple[str, Point, Lookup]],
    marker: dict[str, Any],
    **more: Any,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [p.x for _, p, _ in found],
        "y": [p.y for _, p, _ in found],
        "marker": marker | {"opacity": 1},
        "unselected": {"marker": {"opacity": 1}},
        "customdata": [c for c, _, _ in found],
        "hovertext": [_said(several, lk, c, p.rank) for c, p, lk in found],
        "hoverinfo": "text",
        **more,
    }


def _said(several: Several, lookup: Lookup, chunk: str, rank: int) -> str:
    home = several.home(chunk)
    title = f"<b>{several.title(lookup)}</b> · {escaped(clipped(home.named(chunk), 60))}"
    if rank:
        fate = f"rank {rank} in the prompt, cited as [{lookup.numbers[chunk]}]"
    elif lookup.known(chunk):
        fate = escaped(fate_look(lookup.fate(chunk).stage).text)
        reason = lookup.reason(chunk)
        fate += f": {lines(reason, 2, 50)}" if reason else ""
    else:
        fate = lookup.unknown
    return f"{title}<br>{fate}<br>“{lines(first_words(home.chunks.get(chunk)), 3)}”"


def _layout(
    colours: Palette, keys: Sequence[str], deepest: int, band: float, more: int
) -> dict[str, Any]:
    ranks = list(range(1, deepest + 1)) if deepest <= 20 else [1, *range(5, deepest + 1, 5)]
    text = {"size": SMALL - 1, "color": colours.text}  # eight names on a narrow page
    below = 18 if more else 2
    notes = []
    if more:
        said = f"{counted(more, 'chunk')} of lower rank not drawn"
        notes.append(note(said, colours.muted, x=1, y=0, yref="paper", xanchor="right", yshift=-14))
    return base_layout(
        colours,
        TOP + ROW * deepest + BAND + below,
        margin={"l": 72, "r": 14, "t": TOP, "b": below, "pad": 4},
        xaxis=axis(
            colours,
            range=[-0.5, len(keys) - 0.5],
            tickvals=list(range(len(keys))),
            ticktext=[mode_title(k).replace(" ", "<br>", 1) for k in keys],
            side="top",
            fixedrange=True,
            tickangle=0,
            tickfont=text,
        ),
        yaxis=axis(
            colours,
            range=[band + 0.8, 0.4],
            tickvals=[*ranks, band],
            ticktext=["rank 1", *map(str, ranks[1:]), "not in<br>the prompt"],
            fixedrange=True,
        ),
        shapes=[_ground(colours, band), *[_column(colours, i, deepest) for i in range(len(keys))]],
        annotations=notes,
        dragmode=False,
        hoverdistance=12,
        uirevision="bump",
    )


def _ground(colours: Palette, band: float) -> dict[str, Any]:
    place = {"xref": "paper", "x0": 0, "x1": 1, "y0": band - 0.7, "y1": band + 0.7}
    fill = {"fillcolor": colours.track, "line": {"width": 0}, "layer": "below"}
    return {"type": "rect", **place, **fill}


def _column(colours: Palette, x: int, deepest: int) -> dict[str, Any]:
    place = {"x0": x, "x1": x, "y0": 0.6, "y1": deepest + 0.4}
    return {"type": "line", **place, "line": {"color": colours.track, "width": 8}, "layer": "below"}
