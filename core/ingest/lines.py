"""What MuPDF reports of a page → lines of cleaned text with their place and style."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.ingest.clean import clean

# Bits of a span's "flags", as PyMuPDF documents them.
_MONOSPACED, _BOLD = 8, 16
# Colours from here on may be almost white: red, green and blue of 0xE8 or more.
_PALE = 0xE8E8E8
# Many fonts of fixed width do not say so in their flags.
_MONO_NAME = re.compile("mono|courier|consol|typewriter|menlo|cmtt|lmtt", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of text on one baseline. Coordinates are points, y downwards from the top."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    size: float
    bold: bool = False
    mono: bool = False
    upright: bool = True
    color: int = 0
    alpha: int = 255
    private: int = 0
    unknown: int = 0
    spaced: tuple[bool, bool] = (False, False)  # a blank was drawn before it, after it
    drawn: str = ""  # as the file gives it, before cleaning
    place: int = 0  # how many lines of the page were drawn before it

    @property
    def hidden(self) -> bool:
        """Drawn with no ink: text render mode 3, or fully transparent."""
        return self.alpha == 0

    @property
    def pale(self) -> bool:
        """So near to white that only a dark ground would show it."""
        return _is_pale(self.color)


def lines_of(blocks: list[dict[str, Any]]) -> list[Line]:
    """The lines of a page's ``dict`` blocks, in the order in which they were drawn.

    A line in which the ink changes to none, or to white, is split there.
    """
    lines: list[Line] = []
    for block in blocks:
        for raw in block.get("lines", ()):
            upright = raw["dir"][0] > 0.99
            spans = raw["spans"]
            for span in spans:
                if span["alpha"] == 0 or span["color"] >= _PALE:
                    groups = _by_ink(spans)
                    break
            else:
                groups = [spans]
            if len(groups) == 1:
                _append(lines, spans, raw["bbox"], upright)
            else:
                for group in groups:
                    _append(lines, group, _around(group), upright)
    return lines


def _by_ink(spans: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    groups: list[list[dict[str, Any]]] = []
    last = None
    for span in spans:
        ink = (span["alpha"] == 0, _is_pale(span["color"]))
        if ink == last:
            groups[-1].append(span)
        else:
            groups.append([span])
            last = ink
    return groups


def _is_pale(color: int) -> bool:
    return color >= _PALE and color >> 8 & 0xFF >= 0xE8 and color & 0xFF >= 0xE8


def _around(spans: list[dict[str, Any]]) -> tuple[float, float, float, float]:
    left, top, right, bottom = zip(*(span["bbox"] for span in spans), strict=True)
    return min(left), min(top), max(right), max(bottom)


def _append(
    lines: list[Line],
    spans: list[dict[str, Any]],
    box: tuple[float, float, float, float],
    upright: bool,
) -> None:
    if not spans:
        return
    drawn = "".join([span["text"] for span in spans])
    cleaned = clean(drawn)
    if not cleaned.text and not drawn.strip():
        return
    # The style of the longest piece; a formula's superscript must not speak for its line.
    main = spans[0]
    for span in spans:
        if len(span["text"]) > len(main["text"]):
            main = span
    flags = main["flags"]
    lines.append(
        Line(
            text=cleaned.text,
            x0=box[0],
            y0=box[1],
            x1=box[2],
            y1=box[3],
            baseline=main["origin"][1],
            size=round(main["size"] * 2) / 2,
            bold=bool(flags & _BOLD),
            mono=bool(flags & _MONOSPACED) or _has_mono_name(main["font"]),
            upright=upright,
            color=main["color"],
            alpha=main["alpha"],
            private=cleaned.private,
            unknown=cleaned.unknown,
            spaced=(drawn[0].isspace(), drawn[-1].isspace()),
            drawn="".join([span.get("drawn", span["text"]) for span in spans]),
            place=len(lines),
        )
    )


@cache
def _has_mono_name(font: str) -> bool:
    return _MONO_NAME.search(font) is not None


def altered(line: Line, **changes: Any) -> Line:
    """The line with some of its fields changed."""
    return Line(**{name: getattr(line, name) for name in Line.__annotations__} | changes)
