"""Where the tokens of the model window go, as one bar."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from core.trace import Trace
from dashboard.figures.base import SMALL, axis, base_layout
from dashboard.palette import palette
from dashboard.tables.run import ledger_parts

HEIGHT = 94


def ledger_bar(trace: Trace, *, theme: str = "light") -> go.Figure:
    """The model window from its first token to its last: one bar, a segment a part.

    Widths are tokens. A dotted line stands where the evidence budget would end. An imported
    trace has neither window nor budget: the bar is its prompt, as far as that is recorded.
    """
    colours = palette(theme)
    ledger = trace.ledger
    shades = {
        "Instructions": colours.documents[5],
        "Question": colours.documents[3],
        "Evidence": colours.documents[0],
        "Frame": colours.other,
        "Reserve for the answer": colours.documents[2],
        "Free": colours.track,
    }
    parts = ledger_parts(trace)
    if trace.origin:  # what is not recorded is no part of it
        parts = {part: tokens for part, tokens in parts.items() if tokens}
    window = max(1, ledger.window, sum(parts.values()))
    data: list[dict[str, Any]] = []
    start, evidence_at = 0, 0
    for part, tokens in parts.items():
        if part == "Evidence":
            evidence_at = start
        share = f"{tokens / window:.1%} of the {'window' if ledger.window else 'prompt'}"
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": [tokens],
                "y": [0],
                "base": [start],
                "marker": {"color": shades[part], "line": {"width": 0}},
                "text": [f"{tokens:,}" if tokens >= window * 0.035 else ""],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "textfont": {
                    "size": SMALL,
                    "color": colours.muted if part == "Free" else colours.background,
                },
                "hovertext": [f"<b>{part}</b><br>{tokens:,} tokens, {share}"],
                "hoverinfo": "text",
                "name": f"{part} {tokens:,}",
                "showlegend": True,
            }
        )
        start += tokens
    budget = evidence_at + ledger.evidence_budget
    layout = base_layout(
        colours,
        HEIGHT,
        margin={"l": 8, "r": 12, "t": 20, "b": 36, "pad": 2},
        barmode="overlay",
        bargap=0,
        xaxis=axis(
            colours,
            range=[0, window],
            fixedrange=True,
            tickformat=",d",
            ticks="",
            nticks=7,
            title={
                "text": f"tokens, of a model window of {ledger.window:,}"
                if ledger.window
                else "tokens",
                "font": {"size": SMALL, "color": colours.muted},
                "standoff": 4,
            },
        ),
        yaxis=axis(colours, showticklabels=False, fixedrange=True, range=[-0.5, 0.5]),
        shapes=[
            {
                "type": "line",
                "x0": budget,
                "x1": budget,
                "yref": "paper",
                "y0": -0.08,
                "y1": 1.08,
                "line": {"color": colours.text, "width": 1.5, "dash": "dot"},
            }
        ]
        if budget <= window and ledger.evidence_budget
        else [],
        annotations=[
            {
                "text": f"evidence budget, {ledger.evidence_budget:,} tokens"
                if ledger.evidence_budget
                else "window and budget are not recorded",
                "x": min(budget, window),
                "y": 1,
                "yref": "paper",
                "xanchor": "left" if budget < window * 0.6 else "right",
                "yanchor": "bottom",
                "yshift": 2,
                "showarrow": False,
                "font": {"size": SMALL, "color": colours.muted},
            }
        ],
        dragmode=False,
    )
    return go.Figure(data=data, layout=layout)
