"""What lies over a strip's cells: windows, marks, outlines and what the pointer finds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from dashboard.figures import cells
from dashboard.figures.base import pointed
from dashboard.figures.hover import Hovers
from dashboard.figures.rows import Mark
from dashboard.figures.stack import OVERHANG
from dashboard.figures.strip import Shown, Strip
from dashboard.lookup import Lookup
from dashboard.palette import Palette, fate_look

Drawn = dict[str, Any]


def strip_traces(
    lookup: Lookup,
    strip: Strip,
    hovers: Hovers,
    colours: Palette,
    theme: str,
    selected: str,
    evidence: Collection[str],
) -> list[Drawn]:
    """The plotly traces of a strip, lowest first, less their axes."""
    shown = [Shown.of(row, band, strip) for row, band in zip(strip.rows, strip.bands, strict=True)]
    drawn = [
        cells.ground(strip, colours),
        cells.scores(strip, shown),
        *cells.flat(strip, shown, colours),
    ]
    drawn += _reach(strip, shown, colours)
    drawn += _outline(strip, lookup, evidence, "expected evidence", colours.evidence, "dot", 2)
    drawn += _marks(lookup, strip, hovers, shown, colours, theme)
    drawn += _outline(strip, lookup, [selected], "selected chunk", colours.selected, "solid", 2)
    return [*drawn, _targets(lookup, strip, hovers, shown)]


def _reach(strip: Strip, shown: Sequence[Shown], colours: Palette) -> Iterator[Drawn]:
    """A line through each window, from its first chunk to its last."""
    first, stop = strip.corpus_rows
    for one in shown:
        x: list[float | None] = []
        for low, high in _merged(one.row.reach):
            if high >= first and low < stop:
                start = strip.place.first - 0.5
                x += [low - start, high - start + 1, None]
        if x:
            yield {
                "type": "scatter",
                "mode": "lines",
                "x": x,
                "y": [one.band.middle] * len(x),
                "line": {"color": colours.window, "width": 2},
                "hoverinfo": "skip",
                "name": "window around an anchor",
                "showlegend": True,
                "legendrank": 2,
            }


def _merged(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of places (the last inclusive), those that touch joined to one."""
    held: tuple[int, int] | None = None
    for low, high in sorted(spans):
        if held is None or low > held[1] + 1:
            if held is not None:
                yield held
            held = (low, high)
        else:
            held = (held[0], max(held[1], high))
    if held is not None:
        yield held


def _marks(
    lookup: Lookup,
    strip: Strip,
    hovers: Hovers,
    shown: Sequence[Shown],
    colours: Palette,
    theme: str,
) -> Iterator[Drawn]:
    """Anchors and lost chunks, one trace a kind; in a column of several the first of its kind."""
    first, stop = strip.corpus_rows
    kinds: dict[str, list[tuple[Shown, Mark, int]]] = {}
    for one in shown:
        held: dict[tuple[str, int], list[Mark]] = {}
        within = [mark for mark in one.row.marks if first <= mark.row < stop]
        columns = strip.bins.columns(np.array([m.row for m in within], dtype=np.int64))
        for mark, column in zip(within, columns.tolist(), strict=True):
            held.setdefault((mark.stage, column), []).append(mark)
        for (stage, _), marks in held.items():
            kinds.setdefault(stage, []).append((one, marks[0], len(marks) - 1))
    for stage in sorted(kinds, key=lambda s: (s != "anchor", s)):
        yield _glyphs(lookup, strip, hovers, stage, kinds[stage], colours, theme)


def _glyphs(
    lookup: Lookup,
    strip: Strip,
    hovers: Hovers,
    stage: str,
    found: Sequence[tuple[Shown, Mark, int]],
    colours: Palette,
    theme: str,
) -> Drawn:
    ids = [lookup.id_of(mark.row) for _, mark, _ in found]
    columns = strip.bins.columns(np.array([mark.row for _, mark, _ in found]))
    anchor = stage == "anchor"
    look = fate_look(stage)
    border = {"color": colours.background, "width": 1} if anchor else {"width": 0}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": strip.centres(columns),
        "y": [_height(one, c, not anchor) for (one, _, _), c in zip(found, columns, strict=True)],
        "marker": {
            "symbol": "circle" if anchor else look.symbol,
            "size": 8 if len(strip.bins) <= 120 else 6,
            "color": colours.window if anchor else look.colour(theme),
            "line": border,
        },
        # A click must not fade the others.
        "unselected": {"marker": {"opacity": 1}},
        "customdata": ids,
        "hovertext": [
            hovers.mark(one.row, mark, chunk, others)
            for (one, mark, others), chunk in zip(found, ids, strict=True)
        ],
        "hoverinfo": "text",
        "name": "anchor" if anchor else look.label,
        "showlegend": True,
        "legendrank": 3 if anchor else 4,
    }


def _height(one: Shown, column: int, lower: bool) -> float:
    """The middle of the row; where a column has both a cell and a mark, a mark stands lower."""
    if lower and column in one.shared:
        return one.band.top + 0.72 * (one.band.bottom - one.band.top)
    return one.band.middle


def _outline(
    strip: Strip,
    lookup: Lookup,
    chunks: Collection[str],
    name: str,
    colour: str,
    dash: str,
    width: float,
) -> Iterator[Drawn]:
    """A box through all rows around each run of those chunks."""
    first, stop = strip.corpus_rows
    places = {lookup.row(c) for c in chunks if c and lookup.known(c)}
    x: list[float | None] = []
    y: list[float | None] = []
    top, bottom = 1 - OVERHANG, strip.height + OVERHANG - 1
    for low, high in _merged([(p, p) for p in places if first <= p < stop]):
        start = strip.place.first - 0.5
        left, right = low - start, high - start + 1
        x += [left, right, right, left, left, None]
        y += [top, top, bottom, bottom, top, None]
    if x:
        yield {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "line": {"color": colour, "width": width, "dash": dash},
            "hoverinfo": "skip",
            "name": name,
            "showlegend": True,
            "legendrank": 1,
        }


def _targets(lookup: Lookup, strip: Strip, hovers: Hovers, shown: Sequence[Shown]) -> Drawn:
    """What the pointer finds: an empty text at each cell, with the chunk's id and story."""
    x, y, ids, said = [], [], [], []
    widths = np.diff(strip.bins.edges)
    for one in shown:
        x.append(strip.centres(one.columns))
        # Where a mark shares the column, the upper part of the cell is the cell's.
        shared = np.isin(one.columns, list(one.shared))
        y.append(np.where(shared, one.band.top + 2, one.band.middle))
        for row, column, score, rank in zip(
            one.rows.tolist(), one.columns.tolist(), one.scores.tolist(), one.ranks.tolist(),
            strict=True,
        ):  # fmt: skip
            chunk = lookup.id_of(row)
            ids.append(chunk)
            said.append(hovers.cell(one.row, chunk, score, rank, int(widths[column])))
    return pointed(np.concatenate(x) if x else [], np.concatenate(y) if y else [], ids, said)
