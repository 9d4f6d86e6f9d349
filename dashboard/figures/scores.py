"""The scores of one stage from best to worst, and where it cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from core.trace import Entry, StageRecord, Trace
from dashboard.figures.base import SMALL, axis, base_layout, note
from dashboard.figures.text import clipped, escaped, first_words, lines, number
from dashboard.lookup import STAGE_TITLES, Lookup
from dashboard.palette import FATES, fate_look, palette

HEIGHT = 220


def score_strip(trace: Trace, stage: str, *, selected: str = "", theme: str = "light") -> go.Figure:
    """A dot a chunk: its score at ``stage`` against its rank there, best first.

    Dots tell by glyph and colour where the chunk ended, and carry its id as ``customdata``.
    For the relevance stage the score is the calibrated relevance and a line marks the
    threshold; for the first stage the best of the whole corpus are drawn, the selected chunk
    wherever it ranks, and the line marks the last candidate. Without scores (a stage that did not run) the figure says so.

    Raises:
        KeyError: for a stage that the trace does not have.
    """
    colours, lookup = palette(theme), Lookup(trace)
    record = trace.stage(stage)
    scored, cut = _scored(lookup, record, selected)
    title = STAGE_TITLES.get(stage, stage)
    kinds: dict[str, list[int]] = {}
    for i, (_, chunk, _) in enumerate(scored):
        kinds.setdefault(lookup.fate(chunk).stage, []).append(i)
    data: list[dict[str, Any]] = []
    for kind in sorted(kinds, key=lambda k: list(FATES).index(k) if k in FATES else 99):
        look = fate_look(kind)
        marker = {"symbol": look.symbol, "size": 7, "color": look.colour(theme)}
        data.append(_dots(lookup, title, scored, kinds[kind], marker, look.label))
    chosen = [i for i, (_, chunk, _) in enumerate(scored) if chunk == selected]
    if chosen:
        marker = {
            "symbol": "circle-open",
            "size": 15,
            "color": colours.selected,
            "line": {"width": 2},
        }
        data.append(_dots(lookup, title, scored, chosen, marker, "selected chunk"))
    shapes, notes = [], []
    if cut is not None and scored:
        shapes.append(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": cut,
                "y1": cut,
                "line": {"color": colours.muted, "width": 1, "dash": "dot"},
            }
        )
        what = "threshold" if stage == "relevance" else "last one kept"
        said = f"{what}, {number(cut, 3)}"
        notes.append(note(said, colours.muted, x=1, y=cut, xanchor="right"))
    if not scored:
        why = record.degraded or (record.absence or "no scores")
        said = escaped(clipped(why, 90))
        notes.append(note(said, colours.muted, x=0.5, y=0.5, yref="paper", xanchor="center"))
    last = scored[-1][0] if scored else 0
    if last > len(scored):
        said = f"ranks {len(scored):,} to {last - 1:,}: not drawn"
        middle = (len(scored) + last) / 2
        notes.append(
            note(said, colours.muted, x=middle, y=0.5, yref="paper", xanchor="center", xref="x")
        )
    small = {"size": SMALL, "color": colours.muted}
    unit = "relevance" if stage == "relevance" else "score"
    layout = base_layout(
        colours,
        HEIGHT,
        margin={"l": 60, "r": 14, "t": 14, "b": 40, "pad": 4},
        xaxis=axis(
            colours,
            title={"text": "rank", "font": small, "standoff": 4},
            range=[0, last + max(1, last // 50)],
        ),
        yaxis=axis(
            colours,
            title={"text": unit, "font": small},
            nticks=5,
            fixedrange=True,
            rangemode="tozero",
        ),
        shapes=shapes,
        annotations=notes,
        dragmode="zoom",
        uirevision=stage,
    )
    return go.Figure(data=data, layout=layout)


def _dots(
    lookup: Lookup,
    title: str,
    scored: Sequence[tuple[int, str, float]],
    at: Sequence[int],
    marker: dict[str, Any],
    name: str,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [scored[i][0] for i in at],
        "y": [scored[i][2] for i in at],
        "marker": marker,
        "unselected": {"marker": {"opacity": 1}},
        "customdata": [scored[i][1] for i in at],
        "hovertext": [_said(lookup, title, *scored[i]) for i in at],
        "hoverinfo": "text",
        "name": name,
        "showlegend": True,
    }


MOST_DOTS = 400
"""Chunks below the candidates that the first stage's figure draws after them."""


def _scored(
    lookup: Lookup, record: StageRecord, selected: str
) -> tuple[list[tuple[int, str, float]], float | None]:
    """(rank, chunk id, score) best first, and the score at the cut."""
    if not record.ran or record.degraded and record.name != "first_stage":
        return [], None
    if record.name == "first_stage" and len(lookup.scores("fused")):
        scores, ranked = lookup.scores("fused"), lookup.corpus_ranks("fused")
        most = record.passed + min(MOST_DOTS, 3 * record.passed)
        order = ranked.argsort()[:most].tolist()
        if lookup.known(selected) and lookup.row(selected) not in order:
            order.append(lookup.row(selected))
        return [
            (int(ranked[r]), lookup.id_of(r), float(scores[r])) for r in order
        ], record.cut_score
    relevance = record.name == "relevance"

    def value(entry: Entry) -> float | None:
        return entry.relevance if relevance else entry.score

    found = [(e.chunk_id, v) for e in record.entries if (v := value(e)) is not None]
    found = [pair for pair in found if lookup.known(pair[0])]
    found.sort(key=lambda pair: -pair[1])
    cut = record.settings.get("relevance_threshold") if relevance else None
    numbered = [(rank, *pair) for rank, pair in enumerate(found, 1)]
    return numbered, float(cut) if cut else None


def _said(lookup: Lookup, title: str, rank: int, chunk: str, score: float) -> str:
    fate = lookup.fate(chunk)
    reason = lines(lookup.reason(chunk), 2, 50)
    words = lines(first_words(lookup.chunks.get(chunk)), 2)
    said = [
        f"<b>{title}</b> · {escaped(clipped(lookup.named(chunk), 60))}",
        f"{number(score)} · rank {rank:,}",
        escaped(fate_look(fate.stage).text) + (f": {reason}" if reason else ""),
    ]
    return "<br>".join([*said, f"“{words}”"] if words else said)
