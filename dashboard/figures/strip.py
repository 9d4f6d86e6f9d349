"""One document's strip of the map: its cells, windows, marks, outlines and pointer targets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.figures.bins import Bins
from dashboard.figures.hover import Hovers
from dashboard.figures.rows import MapRow, Mark
from dashboard.figures.stack import OVERHANG, Band
from dashboard.lookup import Lookup, Place
from dashboard.palette import FATES, Palette

Drawn = dict[str, Any]


@dataclass(frozen=True)
class Strip:
    """A stretch of one document. ``span`` is its ordinals, the last exclusive."""

    place: Place
    span: tuple[int, int]
    rows: tuple[MapRow, ...]
    bands: tuple[Band, ...]
    bins: Bins

    @classmethod
    def of(
        cls,
        place: Place,
        first: int,
        stop: int,
        rows: Sequence[MapRow],
        stack: Sequence[Band],
        most: int,
    ) -> Strip:
        bins = Bins.over(place.first + first, place.first + stop, most)
        return cls(place, (first, stop), tuple(rows), tuple(stack), bins)

    @property
    def height(self) -> float:
        return self.bands[-1].bottom if self.bands else 0.0

    @property
    def corpus_rows(self) -> tuple[int, int]:
        return self.place.first + self.span[0], self.place.first + self.span[1]

    @property
    def edges(self) -> np.ndarray:
        """float[columns + 1]: the columns' borders on the axis, where chunk n stands at n."""
        return self.bins.edges - self.place.first + 0.5

    def counts(self) -> list[int]:
        """Chunks in each row; of the BM25 row, those that hold a term of the question."""
        cells = [row.cells.between(*self.corpus_rows) for row in self.rows]
        return [
            int((c.scores > 0).sum()) if row.name == "bm25" else len(c)
            for row, c in zip(self.rows, cells, strict=True)
        ]

    def centres(self, columns: np.ndarray) -> np.ndarray:
        edges = self.edges
        return (edges[columns] + edges[columns + 1]) / 2


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
    shown = [_Shown.of(row, band, strip) for row, band in zip(strip.rows, strip.bands, strict=True)]
    drawn = [_ground(strip, colours), _scores(strip, shown), *_flat(strip, shown, colours)]
    drawn += _reach(strip, shown, colours)
    drawn += _outline(strip, lookup, evidence, "expected evidence", colours.evidence, "dot", 2)
    drawn += _marks(lookup, strip, hovers, shown, colours, theme)
    drawn += _outline(strip, lookup, [selected], "selected chunk", colours.selected, "solid", 2)
    return [*drawn, _targets(lookup, strip, hovers, shown)]


@dataclass(frozen=True)
class _Shown:
    """A row's cells in this strip, the best of each column."""

    row: MapRow
    band: Band
    columns: np.ndarray
    rows: np.ndarray
    scores: np.ndarray
    levels: np.ndarray
    ranks: np.ndarray

    @classmethod
    def of(cls, row: MapRow, band: Band, strip: Strip) -> _Shown:
        cells = row.cells.between(*strip.corpus_rows)
        best = strip.bins.best(cells.rows, cells.levels)
        rows = cells.rows[best]
        columns = strip.bins.columns(rows)
        return cls(
            row, band, columns, rows, cells.scores[best], cells.levels[best], cells.ranks[best]
        )


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
        "xgap": 1 if len(strip.bins) <= 160 else 0,
        **more,
    }


def _scores(strip: Strip, shown: Sequence[_Shown]) -> Drawn:
    lines = []
    for one in shown:
        line = np.full(len(strip.bins), np.nan, dtype=np.float32)
        line[one.columns] = one.levels
        lines.append((one.band, line))
    return _heat(strip, lines, coloraxis="coloraxis", name="scores")


def _ground(strip: Strip, colours: Palette) -> Drawn:
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


def _flat(strip: Strip, shown: Sequence[_Shown], colours: Palette) -> Iterator[Drawn]:
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
    if any((line == 0).any() for _, line in lines):
        swatch = {"symbol": "square", "size": 9, "color": colours.unscored}
        yield {
            "type": "scatter",
            "mode": "markers",
            "x": [None],
            "y": [None],
            "marker": swatch,
            "name": "there, without a score",
            "hoverinfo": "skip",
            "showlegend": True,
            "legendrank": 5,
        }


def _reach(strip: Strip, shown: Sequence[_Shown], colours: Palette) -> Iterator[Drawn]:
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
    shown: Sequence[_Shown],
    colours: Palette,
    theme: str,
) -> Iterator[Drawn]:
    """Anchors and lost chunks, one trace a kind; in a column of several the first of its kind."""
    first, stop = strip.corpus_rows
    kinds: dict[str, list[tuple[_Shown, Mark, int]]] = {}
    for one in shown:
        held: dict[tuple[str, int], list[Mark]] = {}
        for mark in one.row.marks:
            if first <= mark.row < stop:
                column = int(strip.bins.columns(np.array([mark.row]))[0])
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
    found: Sequence[tuple[_Shown, Mark, int]],
    colours: Palette,
    theme: str,
) -> Drawn:
    ids = [lookup.id_of(mark.row) for _, mark, _ in found]
    columns = strip.bins.columns(np.array([mark.row for _, mark, _ in found]))
    anchor = stage == "anchor"
    look = FATES.get(stage, FATES["budget"])
    border = {"color": colours.background, "width": 1} if anchor else {"width": 0}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": strip.centres(columns),
        "y": [one.band.middle for one, _, _ in found],
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


def _targets(lookup: Lookup, strip: Strip, hovers: Hovers, shown: Sequence[_Shown]) -> Drawn:
    """What the pointer finds: an empty text at each cell, with the chunk's id and story."""
    x, y, ids, said = [], [], [], []
    widths = np.diff(strip.bins.edges)
    for one in shown:
        x.append(strip.centres(one.columns))
        y.append(np.full(len(one.columns), one.band.middle))
        for row, column, score, rank in zip(
            one.rows.tolist(), one.columns.tolist(), one.scores.tolist(), one.ranks.tolist(),
            strict=True,
        ):  # fmt: skip
            chunk = lookup.id_of(row)
            ids.append(chunk)
            said.append(hovers.cell(one.row, chunk, score, rank, int(widths[column])))
    return {
        "type": "scatter",
        "mode": "text",
        "x": np.concatenate(x) if x else [],
        "y": np.concatenate(y) if y else [],
        "text": [""] * len(ids),
        "customdata": ids,
        "hovertext": said,
        "hoverinfo": "text",
        "name": "cells",
        "showlegend": False,
    }


