"""Where the missed evidence was lost: a bar a mode, a segment a stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from core.words import counted
from dashboard.figures.base import SMALL, axis, base_layout, note
from dashboard.figures.several import mode_title
from dashboard.palette import LOSSES, Palette, palette

if TYPE_CHECKING:
    from core.evaluate.summary import Summary

TOP, BAR, AXIS, LEFT, RIGHT = 6, 34, 42, 104, 74


def loss_bars(
    summary: Summary,
    budget: int,
    pieces: int,
    *,
    theme: str = "light",
    chosen: tuple[str, str] = ("", ""),
) -> go.Figure:
    """A bar for each mode: pieces of evidence lost at ``budget``, by the stage that lost them.

    ``pieces`` is how many were looked for. Segments carry "mode|stage" as ``customdata``;
    ``chosen`` (mode, stage) has a border.
    """
    colours = palette(theme)
    modes = list(summary.modes)
    lost = {m: summary.modes[m].lost[str(budget)] for m in modes}
    before = dict.fromkeys(modes, 0)
    data = []
    for stage, look in LOSSES.items():
        own = [m for m in modes if lost[m].get(stage)]
        if not own:
            continue
        counts = [lost[m][stage] for m in own]
        widths = [3 if (m, stage) == chosen else 1 for m in own]
        edges = [colours.selected if w == 3 else colours.background for w in widths]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": counts,
                "y": [modes.index(m) for m in own],
                "base": [before[m] for m in own],
                "marker": {"color": look.colour(theme), "line": {"color": edges, "width": widths}},
                "text": [str(n) for n in counts],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "textfont": {"size": SMALL, "color": colours.background},
                "unselected": {"marker": {"opacity": 1}},
                "customdata": [f"{m}|{stage}" for m in own],
                "hovertext": [
                    f"<b>{mode_title(m)}</b>: {counted(n, 'piece')} lost<br>{look.label}<br>"
                    "A click lists the questions."
                    for m, n in zip(own, counts, strict=True)
                ],
                "hoverinfo": "text",
                "name": look.label,
                "showlegend": True,
            }
        )
        for m in own:
            before[m] += lost[m][stage]
    return go.Figure(data=data, layout=_layout(before, pieces, colours))


def _layout(totals: dict[str, int], pieces: int, colours: Palette) -> dict[str, Any]:
    most = max([1, *totals.values()])
    notes = [
        note(
            f"{n:,} of {pieces:,}" if n else "none lost",
            colours.muted,
            x=n,
            y=row,
            xref="x",
            yanchor="middle",
            xshift=6,
        )
        for row, n in enumerate(totals.values())
    ]
    small = {"size": SMALL, "color": colours.muted}
    return base_layout(
        colours,
        TOP + BAR * len(totals) + AXIS,
        margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": AXIS, "pad": 4},
        barmode="overlay",
        bargap=0.3,
        xaxis=axis(
            colours,
            range=[0, most * 1.02],
            fixedrange=True,
            tickformat=",d",
            nticks=min(8, most + 1),
            title={"text": f"pieces of evidence lost, of {pieces:,}", "font": small, "standoff": 4},
        ),
        yaxis=axis(
            colours,
            range=[len(totals) - 0.5, -0.5],
            tickvals=list(range(len(totals))),
            ticktext=[mode_title(m) for m in totals],
            tickfont={"size": SMALL, "color": colours.text},
            fixedrange=True,
        ),
        annotations=notes,
        dragmode=False,
    )
