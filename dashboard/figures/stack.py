"""Strips laid out in pixels: axes, row labels, notes, the colour scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.figures.base import SMALL, axis, base_layout, note
from dashboard.figures.rows import MapRow
from dashboard.figures.text import clipped, escaped
from dashboard.figures.ticks import Ticks
from dashboard.palette import Palette

TOP, LEFT, RIGHT, BOTTOM = 26, 116, 14, 2
HEADER, TICKS, BETWEEN = 22, 22, 8
GAP = 3
OVERHANG = 3
"""Pixels above and below the rows that outlines reach."""

LOW_ROW = 14
"""A row that the mode does not run: room for a note."""


@dataclass(frozen=True, slots=True)
class Band:
    """A row's pixels within its strip, downwards from the strip's top."""

    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def slim(self) -> Band:
        """Its middle part."""
        edge = (self.bottom - self.top) * 0.22
        return Band(self.top + edge, self.bottom - edge)


def bands(rows: Sequence[MapRow], shelves: int) -> list[Band]:
    """A band for each row: lower where there are many shelves, and where nothing ran."""
    tall = 20 if shelves <= 2 else 16 if shelves <= 4 else 13
    out, top = [], 0.0
    for row in rows:
        height = min(LOW_ROW, tall) if row.absent else tall
        out.append(Band(top, top + height))
        top += height + GAP
    return out


def nth(number: int) -> str:
    """How plotly names the axes of a subplot: the first has no number."""
    return "" if number == 1 else str(number)


@dataclass(frozen=True)
class Subplot:
    """What one document's part of a shelf needs besides its traces.

    ``span`` is its ordinals, the last exclusive; ``left`` and ``right`` are shares of the width.
    """

    number: int
    left: float
    right: float
    span: tuple[int, int]
    header: str
    ticks: Ticks


class Stack:
    """Shelves one below the other, turned into plotly's axes and annotations."""

    def __init__(
        self,
        colours: Palette,
        rows: Sequence[MapRow],
        stack: Sequence[Band],
        shelves: int,
    ) -> None:
        self._colours, self._rows, self._bands = colours, rows, stack
        self.strip = stack[-1].bottom
        self._shelf = HEADER + self.strip + TICKS + BETWEEN
        self._plot = max(1.0, shelves * self._shelf)
        self._axes: dict[str, Any] = {}
        self._notes: list[dict[str, Any]] = []

    def add(self, shelf: int, subplots: Sequence[Subplot], counts: Sequence[int]) -> None:
        """The axes and labels of a shelf. ``counts``: chunks in each row of it."""
        top = shelf * self._shelf + HEADER
        domain = [
            self._share(top + self.strip + OVERHANG),
            self._share(top - OVERHANG),
        ]
        for subplot in subplots:
            first = subplot is subplots[0]
            self._say(subplot.header, subplot.left, top - 6, self._colours.text, yanchor="bottom")
            low, high = subplot.span
            self._axes[f"xaxis{nth(subplot.number)}"] = axis(
                self._colours,
                anchor=f"y{nth(subplot.number)}",
                domain=[subplot.left, subplot.right],
                range=[low + 0.5, high + 0.5],
                minallowed=low + 0.5,
                maxallowed=high + 0.5,
                tickvals=subplot.ticks.values,
                ticktext=subplot.ticks.labels,
                ticks="outside",
                ticklen=3,
                tickcolor=self._colours.line,
                tickangle=0,
            )
            self._axes[f"yaxis{nth(subplot.number)}"] = axis(
                self._colours,
                anchor=f"x{nth(subplot.number)}",
                range=[self.strip + OVERHANG, -OVERHANG],
                domain=domain,
                fixedrange=True,
                tickvals=[band.middle for band in self._bands],
                ticktext=[self._label(r, n) for r, n in zip(self._rows, counts, strict=True)],
                showticklabels=first,
            )
        for row, band in zip(self._rows, self._bands, strict=True):
            if row.absent and not shelf:
                note = escaped(clipped(row.absent, 90))
                self._say(note, 0, top + band.middle, self._colours.muted, size=10, xshift=5)

    def _label(self, row: MapRow, n: int) -> str:
        if row.absent:
            return row.title
        sign = "+" if row.name == "extend" and n else ""
        return f'<span style="color:{self._colours.text}">{row.title}</span>  {sign}{n:,}'

    def _say(self, text: str, x: float, pixels: float, colour: str, **more: Any) -> None:
        more.setdefault("yanchor", "middle")
        self._notes.append(note(text, colour, x=x, y=self._share(pixels), yref="paper", **more))

    def _share(self, pixels: float) -> float:
        """Plotly's share of the plot's height, upwards, of pixels downwards."""
        return min(1.0, max(0.0, 1 - pixels / self._plot))

    def layout(self, **more: Any) -> dict[str, Any]:
        """The whole layout."""
        return base_layout(
            self._colours,
            round(self._plot + TOP + BOTTOM),
            margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM, "pad": 4},
            annotations=self._notes,
            dragmode="zoom",
            hoverdistance=10,
            coloraxis=self._scale(),
            **self._axes,
            **more,
        )

    def _scale(self) -> dict[str, Any]:
        small = {"size": SMALL, "color": self._colours.muted}
        return {
            "colorscale": self._colours.colorscale,
            "cmin": 0,
            "cmax": 1,
            "colorbar": {
                "orientation": "h",
                "x": 1,
                "xanchor": "right",
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "lenmode": "pixels",
                "len": 176,
                "thickness": 7,
                "xpad": 0,
                "ypad": 2,
                "outlinewidth": 0,
                # Its title would lie over the strips' names: it stands between the ends.
                "tickvals": [0.02, 0.5, 0.98],
                "ticktext": ["0", "score within its row", "1"],
                "ticklen": 0,
                "tickfont": small,
            },
        }
