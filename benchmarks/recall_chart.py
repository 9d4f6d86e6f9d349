"""The chart of recall by mode for the README: a panel a budget, a row a mode, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

LEFT, PANEL, GAP, TOP, ROW, BOTTOM = 190, 186, 44, 44, 26, 46
BLUE, GREY, TEXT, FAINT = "#2563eb", "#8b93a1", "#5b6472", "#d5dae1"
"""Colours that can be read on a light and on a dark page."""


def chart_svg(data: Mapping[str, Any]) -> str:
    """Dots with their 95 % intervals, in percent of the evidence.

    Blue: the best mode of a panel, and those that the questions do not tell apart from it.

    Args:
        data: what ``benchmarks/results/recall.json`` holds.
    """
    modes = list(data["modes"])
    budgets = [b for b in next(iter(data["modes"].values())) if b.isdigit()]
    width = LEFT + len(budgets) * PANEL + (len(budgets) - 1) * GAP + 16
    height = TOP + len(modes) * ROW + BOTTOM
    title = f"Recall of evidence in percent over {data['questions']} questions, 95 % intervals"
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="system-ui, sans-serif" font-size="12"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>', f"<title>{title}</title>"]
    for row, mode in enumerate(modes):
        out.append(_text(LEFT - 12, _y(row) + 4, mode, anchor="end"))
    for nth, budget in enumerate(budgets):
        out += _panel(data, modes, budget, LEFT + nth * (PANEL + GAP))
    caption = "% of the evidence; bars: 95 % intervals; blue: not told apart from the best"
    out.append(_text(LEFT, height - 8, caption))
    return "\n".join([*out, "</svg>"]) + "\n"


def _panel(data: Mapping[str, Any], modes: list[str], budget: str, left: int) -> list[str]:
    cells = [data["modes"][m][budget] for m in modes]
    least = min(c["low"] for c in cells) * 100
    step = next(s for s in (1, 2, 4, 10, 20) if s == 20 or 100 - least <= 5 * s)
    low = 100 - step * math.ceil((100 - least) / step)

    def x(share: float) -> float:
        return left + (share * 100 - low) / (100 - low) * PANEL

    bottom = TOP + len(modes) * ROW
    out = [_text(left + PANEL / 2, 20, f"{int(budget):,} tokens", anchor="middle", bold=True)]
    for tick in range(low, 101, step):
        at = x(tick / 100)
        out.append(_line(at, TOP - 8, at, bottom, FAINT, 1))
        out.append(_text(at, bottom + 15, str(tick), anchor="middle"))
    for row, cell in enumerate(cells):
        colour = BLUE if cell["best"] else GREY
        out.append(_line(x(cell["low"]), _y(row), x(cell["high"]), _y(row), colour, 3))
        out.append(f'<circle cx="{x(cell["recall"]):.1f}" cy="{_y(row)}" r="5" fill="{colour}"/>')
    return out


def _y(row: int) -> int:
    return TOP + row * ROW + ROW // 2


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" stroke="{colour}" '
        f'stroke-width="{width}"/>'
    )


def _text(x: float, y: float, said: str, *, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" fill="{TEXT}"{weight}>'
        f"{escape(said)}</text>"
    )
