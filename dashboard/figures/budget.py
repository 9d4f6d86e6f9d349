"""What each mode put in the evidence budget, passage by passage."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.trace import Passage, Trace
from core.words import counted
from dashboard.figures.base import SMALL, axis, base_layout, note
from dashboard.figures.several import Group, Several, mode_title
from dashboard.figures.text import clipped, escaped, first_words, lines
from dashboard.lookup import Lookup
from dashboard.palette import Palette, palette

TOP, BAR, AXIS = 22, 30, 40

Segment = tuple[int, int, Passage, Lookup]
"""The bar's number, the tokens before the passage, the passage, its trace."""


def budget_bars(
    traces: Mapping[str, Trace],
    *,
    theme: str = "light",
    selected: str = "",
    evidence: Collection[str] = (),
) -> go.Figure:
    """A bar for each mode: its passages, in the order of the prompt, in tokens.

    Segments carry the chunk id as ``customdata``, are coloured by document and numbered as
    they are cited; expected evidence and the selected chunk have a border. A dotted line
    marks each evidence budget.
    """
    colours, several = palette(theme), Several(traces)
    segments = _segments(several.lookups)
    groups = several.groups(colours)
    data = [_bars(segments, group, colours, set(evidence)) for group in groups]
    for ids, name, colour in (
        (set(evidence), "expected evidence", colours.evidence),
        ({selected}, "selected chunk", colours.selected),
    ):
        data += _borders(segments, ids, name, colour)
    return go.Figure(data=data, layout=_layout(traces, segments, colours))


def _segments(lookups: Sequence[Lookup]) -> list[Segment]:
    out = []
    for i, lookup in enumerate(lookups):
        start = 0
        for passage in lookup.trace.selected:
            out.append((i, start, passage, lookup))
            start += passage.tokens
    return out


def _bars(
    segments: Sequence[Segment], group: Group, colours: Palette, evidence: set[str]
) -> dict[str, Any]:
    own = [s for s in segments if group.holds(s[2].chunk_id)]
    return {
        "type": "bar",
        "orientation": "h",
        "x": [p.tokens for _, _, p, _ in own],
        "y": [i for i, _, _, _ in own],
        "base": [start for _, start, _, _ in own],
        "marker": {"color": group.colour, "line": {"color": colours.background, "width": 1}},
        "text": [str(p.number) for _, _, p, _ in own],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"size": SMALL, "color": colours.background},
        "unselected": {"marker": {"opacity": 1}},
        "customdata": [p.chunk_id for _, _, p, _ in own],
        "hovertext": [_said(lookup, p, p.chunk_id in evidence) for _, _, p, lookup in own],
        "hoverinfo": "text",
        "name": group.name,
        "showlegend": True,
    }


def _borders(
    segments: Sequence[Segment], ids: set[str], name: str, colour: str
) -> list[dict[str, Any]]:
    x: list[float | None] = []
    y: list[float | None] = []
    for i, start, p, _ in segments:
        if p.chunk_id in ids:
            left, right = start, start + p.tokens
            x += [left, right, right, left, left, None]
            y += [i - 0.4, i - 0.4, i + 0.4, i + 0.4, i - 0.4, None]
    if not x:
        return []
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "line": {"color": colour, "width": 3},
            "hoverinfo": "skip",
            "name": name,
            "showlegend": True,
        }
    ]


def _said(lookup: Lookup, passage: Passage, expected: bool) -> str:
    chunk = passage.chunk_id
    title = f"<b>[{passage.number}]</b> {escaped(clipped(lookup.named(chunk), 60))}"
    rank = lookup.passage_ranks[chunk]
    facts = f"{counted(passage.tokens, 'token')} with its label · rank {rank} of the passages"
    if expected:
        facts += " · expected evidence"
    return f"{title}<br>{facts}<br>“{lines(first_words(lookup.chunks.get(chunk)), 3)}”"


def _layout(
    traces: Mapping[str, Trace], segments: Sequence[Segment], colours: Palette
) -> dict[str, Any]:
    budgets = [trace.ledger.evidence_budget for trace in traces.values()]
    used = [start + p.tokens for _, start, p, _ in segments]
    most = max([1, *budgets, *used])
    notes = []
    for i, trace in enumerate(traces.values()):
        if not trace.selected:
            notes.append(
                note("no passage", colours.muted, x=0, y=i, xref="x", yanchor="middle", xshift=4)
            )
    if len(set(budgets)) == 1 and budgets[0]:
        said = f"evidence budget, {budgets[0]:,} tokens"
        notes.append(
            note(said, colours.muted, x=budgets[0], y=1, xref="x", yref="paper", xanchor="right")
        )
    small = {"size": SMALL, "color": colours.muted}
    return base_layout(
        colours,
        TOP + BAR * len(traces) + AXIS,
        margin={"l": 112, "r": 16, "t": TOP, "b": AXIS, "pad": 4},
        barmode="overlay",
        bargap=0.25,
        xaxis=axis(
            colours,
            range=[0, most * 1.02],
            fixedrange=True,
            tickformat=",d",
            nticks=6,
            title={"text": "tokens", "font": small, "standoff": 4},
        ),
        yaxis=axis(
            colours,
            range=[len(budgets) - 0.5, -0.5],
            tickvals=list(range(len(budgets))),
            ticktext=[mode_title(key) for key in traces],
            tickfont={"size": SMALL, "color": colours.text},
            fixedrange=True,
        ),
        shapes=[
            {
                "type": "line",
                "x0": budget,
                "x1": budget,
                "y0": i - 0.5,
                "y1": i + 0.5,
                "line": {"color": colours.text, "width": 1.5, "dash": "dot"},
            }
            for i, budget in enumerate(budgets)
            if budget
        ],
        annotations=notes,
        dragmode=False,
        uirevision="budget",
    )
