"""How far the relevance can be trusted, as SVG: said against was, and what the threshold does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SIDE, LEFT, TOP = 220, 60, 40
BLUE, TEXT, FAINT = "#2563eb", "#5b6472", "#d5dae1"


def reliability_svg(row: Mapping[str, Any]) -> str:
    """Left the reliability curve: for each tenth of the said probability the share of questions
    that the documents do answer, a dot as large as its number of questions. Right, as bars, what
    the threshold does, in percent.

    Args:
        row: one fit of ``benchmarks/results/calibration.json``.
    """
    bars = (
        ("unanswerable, other documents: caught", row["caught"]),
        ("its own, evidence cut out: caught", row["caught_with_evidence_cut"]),
        ("answerable: refused", row["refused"]),
        ("chunks with evidence: kept", row["evidence_kept"]),
    )
    width, height = LEFT + SIDE + 470, TOP + SIDE + 66
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="system-ui, sans-serif" font-size="12"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>',
        "<title>Reliability of the calibrated relevance</title>",
        _text(LEFT, 20, "Is the question answered?"),
        _line(LEFT, TOP + SIDE, LEFT + SIDE, TOP, FAINT),
    ]
    for tick in (0, 0.5, 1):
        x, y = LEFT + tick * SIDE, TOP + (1 - tick) * SIDE
        out += [_line(x, TOP, x, TOP + SIDE, FAINT), _line(LEFT, y, LEFT + SIDE, y, FAINT)]
        out += [_text(x, TOP + SIDE + 20, f"{tick:g}", "middle"), _text(LEFT - 18, y + 4, f"{tick:g}", "end")]  # fmt: skip
    out.append(_text(LEFT + SIDE / 2, TOP + SIDE + 38, "probability that was said", "middle"))
    out.append(
        _text(LEFT + SIDE / 2, TOP + SIDE + 54, "size of a dot: number of questions", "middle")
    )
    turned = f'transform="rotate(-90 14 {TOP + SIDE / 2})"'
    at = f'x="14" y="{TOP + SIDE / 2}" text-anchor="middle" fill="{TEXT}"'
    out.append(f"<text {turned} {at}>share that was answered</text>")
    for point in row["reliability"]:
        x = LEFT + point["predicted"] * SIDE
        y = TOP + (1 - point["answered"]) * SIDE
        radius = 3 + min(9.0, point["questions"] ** 0.5 / 3)
        out.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{BLUE}" '
            'fill-opacity="0.75"/>'
        )
    left = LEFT + SIDE + 60
    out.append(_text(left, 20, f"Questions and chunks at threshold {row['threshold']:g}, in %"))
    for nth, (said, share) in enumerate(bars):
        y = TOP + 20 + nth * 56
        out.append(_text(left, y, said))
        out.append(_bar(left, y + 6, 300, FAINT))
        out.append(_bar(left, y + 6, 300 * share, BLUE))
        out.append(_text(left + 310, y + 17, f"{share * 100:.1f} %"))
    return "\n".join([*out, "</svg>"]) + "\n"


def _text(x: float, y: float, said: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{TEXT}">{said}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _bar(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width:.1f}" height="14" rx="2" fill="{colour}"/>'
