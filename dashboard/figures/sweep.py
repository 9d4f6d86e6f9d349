"""A knob's whole range: a row a chunk, a column a value, the colour its fate there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.sweep import Sweep
from core.words import counted
from dashboard.chunks import Shown
from dashboard.figures.base import SMALL, axis, base_layout, note, pointed
from dashboard.figures.cells import swatch
from dashboard.figures.text import clipped, escaped, lines
from dashboard.lookup import pages_in_words
from dashboard.palette import FATES, Palette, fate_look, palette
from dashboard.sweeps import Column, arrived, in_words, span

ROW, LINE, GAP, TOP, AXIS = 16, 64, 14, 20, 46
SLANTED = 96
"""The room below, where values are words and stand slanted."""

LEFT = 186
WORDY = 2_000
"""Cells up to which each one's hover box repeats the chunk's first words."""

TICKS = 14
"""Values that are written below the columns."""


def sweep_map(
    sweep: Sweep,
    columns: Sequence[Column],
    rows: Sequence[str],
    now: int,
    chunks: Mapping[str, Shown],
    *,
    unit: str = "",
    value: str = "",
    selected: str = "",
    evidence: Collection[str] = (),
    theme: str = "light",
) -> go.Figure:
    """The fate of each chunk of ``rows`` in each of ``columns``; above, evidence tokens, and where
    ``evidence`` is given how many of those chunks arrive.

    Columns are equally wide, however many values they hold. Cells carry ``[chunk id, column]``
    as ``customdata``. ``now`` is the column of the present value, which is framed and written
    above it as ``value``. ``unit`` says what the columns are. ``chunks`` names the rows; one that it lacks is called by its id.
    """
    colours = palette(theme)
    stages = [s for s in FATES if any(c.setting.fate(r) == s for c in columns for r in rows)]
    other = {c.setting.fate(r) for c in columns for r in rows} - set(stages)
    stages += sorted(other)
    data: list[dict[str, Any]] = [_cells(columns, rows, stages, theme)]
    data += _glyphs(columns, rows, stages, theme)
    data += [
        _line(columns, [c.setting.tokens for c in columns], "y2", colours.text, "evidence tokens")
    ]
    if evidence:
        shares = [arrived(c.setting, evidence) for c in columns]
        data.append(_line(columns, shares, "y3", colours.evidence, "expected chunks that arrive"))
    data += _row_frames(rows, len(columns), evidence, selected, colours)
    data += [_now_frame(now, len(rows), colours)]
    data.append(_targets(sweep, columns, rows, chunks, evidence))
    return go.Figure(
        data=data,
        layout=_layout(sweep, columns, rows, now, chunks, (unit, value), len(evidence), colours),
    )


def _cells(
    columns: Sequence[Column], rows: Sequence[str], stages: Sequence[str], theme: str
) -> dict[str, Any]:
    """Each fate in its colour, as one picture."""
    at = {stage: i for i, stage in enumerate(stages)}
    top = max(1, len(stages))
    scale: list[tuple[float, str]] = []
    for i, stage in enumerate(stages):
        colour = fate_look(stage).colour(theme)
        scale += [(i / top, colour), ((i + 1) / top, colour)]
    return {
        "type": "heatmap",
        "x": list(range(len(columns))),
        "y": list(range(len(rows))),
        "z": [[at[c.setting.fate(r)] + 0.5 for c in columns] for r in rows],
        "zmin": 0,
        "zmax": top,
        "colorscale": scale,
        "showscale": False,
        "hoverinfo": "skip",
        "opacity": 0.82,
        "xgap": 1 if len(columns) <= 60 else 0,
        "ygap": 1,
        "name": "fates",
    }


def _glyphs(
    columns: Sequence[Column], rows: Sequence[str], stages: Sequence[str], theme: str
) -> list[dict[str, Any]]:
    """The glyph of a fate where it begins in a row, so that no fate is told by colour alone."""
    ground = palette(theme).background
    drawn = []
    for stage in stages:
        look = fate_look(stage)
        x, y = [], []
        for i, row in enumerate(rows):
            fates = [c.setting.fate(row) for c in columns]
            for j, fate in enumerate(fates):
                if fate == stage and (not j or fates[j - 1] != stage):
                    x.append(j)
                    y.append(i)
        drawn.append(swatch(look.symbol, look.colour(theme), look.label))
        drawn.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": x,
                "y": y,
                "marker": {"symbol": look.symbol, "size": 6, "color": ground},
                "unselected": {"marker": {"opacity": 1}},
                "hoverinfo": "skip",
                "name": look.label,
                "showlegend": False,
            }
        )
    return drawn


def _line(
    columns: Sequence[Column], values: Sequence[float], y: str, colour: str, name: str
) -> dict[str, Any]:
    """A number along the range, level across each column."""
    x = [i - 0.5 for i in range(len(columns))] + [len(columns) - 0.5]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": [*values, values[-1]],
        "yaxis": y,
        "line": {"color": colour, "width": 2, "shape": "hv"},
        "hoverinfo": "skip",
        "name": name,
        "showlegend": True,
    }


def _row_frames(
    rows: Sequence[str], width: int, evidence: Collection[str], selected: str, colours: Palette
) -> list[dict[str, Any]]:
    drawn = []
    for ids, name, colour, dash in (
        (set(evidence), "expected evidence", colours.evidence, "dot"),
        ({selected}, "selected chunk", colours.selected, "solid"),
    ):
        x: list[float | None] = []
        y: list[float | None] = []
        for i, row in enumerate(rows):
            if row in ids:
                x += [-0.5, width - 0.5, width - 0.5, -0.5, -0.5, None]
                y += [i - 0.5, i - 0.5, i + 0.5, i + 0.5, i - 0.5, None]
        if x:
            drawn.append(_frame(x, y, name, colour, dash))
    return drawn


def _now_frame(now: int, height: int, colours: Palette) -> dict[str, Any]:
    x = [now - 0.5, now + 0.5, now + 0.5, now - 0.5, now - 0.5]
    y = [-0.5, -0.5, height - 0.5, height - 0.5, -0.5]
    return _frame(x, y, "the value now", colours.window, "solid")


def _frame(x: list, y: list, name: str, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 2, "dash": dash},
        "hoverinfo": "skip",
        "name": name,
        "showlegend": True,
    }


def _targets(
    sweep: Sweep,
    columns: Sequence[Column],
    rows: Sequence[str],
    chunks: Mapping[str, Shown],
    evidence: Collection[str],
) -> dict[str, Any]:
    """What the pointer finds: an empty text at each cell."""
    brief = len(columns) * len(rows) > WORDY
    spans = [span(sweep.knob, c) for c in columns]
    names = {r: _story(r, chunks, r in evidence) for r in rows}
    x, y, ids, said = [], [], [], []
    for i, row in enumerate(rows):
        title, words = names[row]
        words = "" if brief else words
        for j, column in enumerate(columns):
            x.append(j)
            y.append(i)
            ids.append([row, j])
            tokens = counted(column.setting.tokens, "evidence token")
            fate = escaped(fate_look(column.setting.fate(row)).text)
            said.append(f"{title}<br>at {escaped(spans[j])}: {fate} · {tokens}{words}")
    return pointed(x, y, ids, said)


def _story(chunk: str, chunks: Mapping[str, Shown], expected: bool) -> tuple[str, str]:
    one = chunks.get(chunk)
    if one is None:
        return f"<b>{escaped(chunk)}</b>", ""
    title = f"<b>{escaped(clipped(one.title, 60))}</b> · chunk {one.ordinal + 1:,}"
    more = " · expected evidence" if expected else ""
    return title + more, f"<br>“{lines(clipped(one.text[:560], 140), 3)}”"


def _labels(rows: Sequence[str], chunks: Mapping[str, Shown]) -> list[str]:
    """What the rows are called. Where all are of one document, its name tells none apart."""
    alone = len({chunks[r].document_id for r in rows if r in chunks}) == 1
    return [_label(r, chunks.get(r), alone) for r in rows]


def _label(chunk: str, one: Shown | None, alone: bool) -> str:
    if one is None:
        return escaped(clipped(chunk, 24))
    if not alone:
        return f"{escaped(clipped(one.document, 19))} · {one.ordinal + 1:,}"
    number = f"chunk {one.ordinal + 1:,}"
    return f"{number}, {pages_in_words(one.pages)}" if one.pages else number


def _layout(
    sweep: Sweep,
    columns: Sequence[Column],
    rows: Sequence[str],
    now: int,
    chunks: Mapping[str, Shown],
    words: tuple[str, str],
    evidence: int,
    colours: Palette,
) -> dict[str, Any]:
    map_height = ROW * max(1, len(rows))
    panels = LINE * (2 if evidence else 1) + GAP * (2 if evidence else 1)
    in_numbers = not columns or not isinstance(columns[0].first, (str, bool))
    below = AXIS if in_numbers else SLANTED
    height = TOP + panels + map_height + below
    inner = height - TOP - below
    low = map_height / inner
    step = LINE / inner
    gap = GAP / inner
    tokens = [c.setting.tokens for c in columns]
    small = {"size": SMALL, "color": colours.muted}
    panel = {"fixedrange": True, "nticks": 3, "rangemode": "tozero"}
    at = ticks(len(columns), now)
    more: dict[str, Any] = {
        "yaxis2": axis(
            colours,
            domain=[low + gap, low + gap + step],
            range=[0, max(1, *tokens) * 1.08],
            tickformat=",d",
            title={"text": "tokens", "font": small, "standoff": 4},
            **panel,
        )
    }
    if evidence:
        more["yaxis3"] = axis(
            colours,
            domain=[low + 2 * gap + step, 1],
            range=[0, evidence * 1.1],
            tickvals=sorted({0, evidence}),
            title={"text": "arrive", "font": small, "standoff": 4},
            fixedrange=True,
        )
    unit, value = (escaped(w) for w in words)
    said = f"now: {value}" if value else ""
    return base_layout(
        colours,
        height,
        margin={"l": LEFT, "r": 12, "t": TOP, "b": below, "pad": 4},
        xaxis=axis(
            colours,
            range=[-0.5, len(columns) - 0.5],
            tickvals=at,
            ticktext=[escaped(clipped(in_words(sweep.knob, columns[i].first), 14)) for i in at],
            title={"text": unit, "font": small, "standoff": 6},
            tickangle=0 if in_numbers else 30,
            fixedrange=True,
            anchor="y",
        ),
        yaxis=axis(
            colours,
            domain=[0, low],
            range=[len(rows) - 0.5, -0.5],
            tickvals=list(range(len(rows))),
            ticktext=_labels(rows, chunks),
            fixedrange=True,
        ),
        annotations=[
            note(
                said,
                colours.window,
                x=now,
                y=1,
                xref="x",
                yref="paper",
                xanchor="center",
            )
        ],
        dragmode=False,
        uirevision=sweep.knob,
        **more,
    )


def ticks(columns: int, now: int) -> list[int]:
    """The columns whose values are written: a few, evenly, and the present one."""
    step = max(1, -(-columns // TICKS))
    chosen = [i for i in range(0, columns, step) if i == now or abs(i - now) >= max(1, step // 2)]
    return sorted({*chosen, now}) if columns else []
