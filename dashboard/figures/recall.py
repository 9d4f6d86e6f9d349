"""How much of the evidence each mode finds, with intervals; and what changed since another run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from dashboard.figures.dots import Dot, Kind, Scale, bounds, dot_chart
from dashboard.figures.several import mode_title
from dashboard.palette import palette

if TYPE_CHECKING:
    from core.evaluate.bootstrap import Figure
    from core.evaluate.comparison import Comparison
    from core.evaluate.summary import Summary

BEST = "recall: the best, or no different from it"
BELOW = "recall: below the best by more than chance"
COMPLETE = "questions with all their evidence"
BETTER, WORSE, SAME = "better", "worse", "no difference: inside its interval"


def recall_chart(summary: Summary, budgets: Sequence[int], *, theme: str = "light") -> go.Figure:
    """Recall by mode and budget, a panel a budget; below it the share of questions with all.

    The best mode and those whose paired difference from it lies inside its interval look the
    same. Dots carry their mode as ``customdata``.
    """
    colours = palette(theme)
    best, below, whole = [], [], []
    for panel, budget in enumerate(budgets):
        equal = set(summary.as_good(budget))
        for row, (mode, f) in enumerate(summary.modes.items()):
            found = f.recall[str(budget)]
            said = _recall_said(summary, mode, budget)
            (best if mode in equal else below).append(_dot(row, panel, found, mode, said))
            complete = f.complete[str(budget)]
            said = f"<b>{mode_title(mode)}</b>, {budget:,} tokens<br>all evidence of {in_percent(complete)} of the questions"
            whole.append(_dot(row, panel, complete, mode, said))
    values = [v for d in (*best, *below) for v in (d.low, d.high)]
    values += [d.mean for d in whole]
    low, high = bounds(values, 0.1, 0.0, 1.0)
    return dot_chart(
        [
            Kind(BEST, colours.documents[0], "circle", best, -0.14),
            Kind(BELOW, colours.muted, "circle-open", below, -0.14, 10),
            Kind(COMPLETE, colours.documents[1], "diamond", whole, 0.22, 8),
        ],
        [mode_title(m) for m in summary.modes],
        [f"{b:,} tokens" for b in budgets],
        Scale(low, high, ".0%", "share found"),
        colours,
    )


def change_chart(comparison: Comparison, *, theme: str = "light") -> go.Figure:
    """Recall now less recall then, by mode and budget. Dots carry "mode|budget"."""
    colours = palette(theme)
    modes = list(dict.fromkeys(x.mode for x in comparison.lines))
    budgets = list(dict.fromkeys(x.budget for x in comparison.lines))
    kinds: dict[str, list[Dot]] = {BETTER: [], WORSE: [], SAME: []}
    for x in comparison.lines:
        f = x.figure
        kind = SAME if not f.differs else BETTER if f.mean > 0 else WORSE
        said = (
            f"<b>{mode_title(x.mode)}</b>, {x.budget:,} tokens<br>{in_points(f)}<br>"
            f"{len(x.better)} questions better, {len(x.worse)} worse"
        )
        at = _dot(modes.index(x.mode), budgets.index(x.budget), f, f"{x.mode}|{x.budget}", said)
        kinds[kind].append(at)
    far = max([0.02, *(max(abs(x.figure.low), abs(x.figure.high)) for x in comparison.lines)])
    return dot_chart(
        [
            Kind(BETTER, colours.documents[2], "triangle-up", kinds[BETTER]),
            Kind(WORSE, colours.documents[6], "triangle-down", kinds[WORSE]),
            Kind(SAME, colours.muted, "circle-open", kinds[SAME], size=10),
        ],
        [mode_title(m) for m in modes],
        [f"{b:,} tokens" for b in budgets],
        Scale(-far * 1.1, far * 1.1, "+.0%" if far > 0.05 else "+.1%", "recall, now less then", True),
        colours,
    )  # fmt: skip


def in_percent(figure: Figure) -> str:
    """``94.1 % (91.0 to 97.2)``."""
    return f"{figure.mean:.1%} ({figure.low:.1%} to {figure.high:.1%})".replace("%", " %")


def in_points(figure: Figure) -> str:
    """``+1.2 points (-0.4 to +2.8)``."""
    return f"{100 * figure.mean:+.1f} points ({100 * figure.low:+.1f} to {100 * figure.high:+.1f})"


def _dot(row: int, panel: int, f: Figure, id: str, said: str) -> Dot:
    return Dot(row, panel, f.mean, f.low, f.high, id, said)


def _recall_said(summary: Summary, mode: str, budget: int) -> str:
    found = summary.modes[mode].recall[str(budget)]
    said = f"<b>{mode_title(mode)}</b>, {budget:,} tokens<br>recall {in_percent(found)}"
    best = summary.best(budget)
    pair = {mode, best}
    apart = next(
        (d for d in summary.differences if d.budget == budget and {d.mode, d.against} == pair),
        None,
    )
    if mode == best or apart is None:
        return said
    f = apart.figure
    sign = 1 if apart.mode == mode else -1
    low, high = sorted((sign * f.low, sign * f.high))
    told = f"{100 * sign * f.mean:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
    return f"{said}<br>against {mode_title(best)}, question by question: {told}"
