"""What MuPDF reports of a page → lines of cleaned text with their place and style."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from core.ingest.clean import clean
from core.ingest.lean import made

# Bits of a span's "flags", as PyMuPDF documents them.
_MONOSPACED, _BOLD = 8, 16
# Directions of text: to the right, up, upside down to the left, down; and down with upright
# characters, as Japanese and Chinese are also written.
UPRIGHT, UP, OVER, DOWN, VERTICAL = range(5)
# Colours from here on may be almost white: red, green and blue of 0xE8 or more.
PALE = 0xE8E8E8
_TIGHT = (False, False)
# Many fonts of fixed width do not say so in their flags.
_MONO_NAME = re.compile("mono|courier|consol|typewriter|menlo|cmtt|lmtt", re.IGNORECASE)


class Line(NamedTuple):
    """A piece of text on one baseline. Coordinates are points, y downwards from the top.

    ``baseline`` is across the ``direction`` in which the text runs: a y for text that is upright
    or upside down, an x for text that runs up or down.

    A tuple, because a book has tens of thousands and a frozen dataclass takes thrice as long
    to make.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    size: float
    bold: bool = False
    mono: bool = False
    direction: int = 0
    color: int = 0
    alpha: int = 255
    private: int = 0
    unknown: int = 0
    spaced: tuple[bool, bool] = (False, False)  # a blank was drawn before it, after it
    drawn: str = ""  # as the file gives it, before cleaning
    place: int = 0  # how many lines of the page were drawn before it

    @property
    def upright(self) -> bool:
        """Runs from left to right."""
        return self.direction == UPRIGHT

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

    A span's ``drawn``, where it has one, is what the file gives and its ``text`` what was made
    of it; its line then has the key ``changed``. A line in which the ink changes to none, or to
    white, is split there.
    """
    lines: list[Line] = []
    for block in blocks:
        for raw in block.get("lines", ()):
            spans = raw["spans"]
            direction = UPRIGHT if raw["dir"][0] > 0.99 else _direction(raw)
            changed = "changed" in raw
            for span in spans:
                if span["color"] >= PALE or span["alpha"] == 0:
                    for group in _by_ink(spans):
                        _append(lines, group, _around(group), direction, changed)
                    break
            else:
                _append(lines, spans, raw["bbox"], direction, changed)
    return lines


def _direction(raw: dict[str, Any]) -> int:
    """The nearest of the four, or vertical writing; y grows downwards."""
    x, y = raw["dir"]
    if raw.get("wmode"):
        return VERTICAL
    if abs(x) >= abs(y):
        return UPRIGHT if x > 0 else OVER
    return DOWN if y > 0 else UP


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
    return color >= PALE and color >> 8 & 0xFF >= 0xE8 and color & 0xFF >= 0xE8


def _around(spans: list[dict[str, Any]]) -> tuple[float, float, float, float]:
    left, top, right, bottom = zip(*(span["bbox"] for span in spans), strict=True)
    return min(left), min(top), max(right), max(bottom)


def _append(
    lines: list[Line],
    spans: list[dict[str, Any]],
    box: tuple[float, float, float, float],
    direction: int,
    changed: bool,
) -> None:
    if not spans:
        return
    main = spans[0]
    if len(spans) == 1:
        drawn = main["text"]
        as_given = main.get("drawn", drawn)
    else:
        texts = [span["text"] for span in spans]
        as_given = drawn = "".join(texts)
        if changed:
            as_given = "".join([span.get("drawn", span["text"]) for span in spans])
        # The style of the longest piece; a formula's superscript must not speak for its line.
        main = spans[texts.index(max(texts, key=len))]
    text, private, unknown = clean(drawn)
    if not text and not drawn.strip():
        return
    flags = main["flags"]
    size = round(main["size"] * 2) / 2
    baseline = main["origin"][0 if direction in (UP, DOWN, VERTICAL) else 1]
    x0, y0, x1, y1 = box
    if direction == UPRIGHT and y1 - y0 < 0.3 * size:  # a font that claims to have no height
        y0, y1 = min(y0, baseline - 0.8 * size), max(y1, baseline + 0.2 * size)
    mono = flags & _MONOSPACED != 0 or _has_mono_name(main["font"])
    spaced = _TIGHT if text is drawn else (drawn[0].isspace(), drawn[-1].isspace())
    style = (size, flags & _BOLD != 0, mono, direction, main["color"], main["alpha"])
    place = len(lines)
    given = (text, x0, y0, x1, y1, baseline, *style, private, unknown, spaced, as_given, place)
    lines.append(made(Line, given))


@cache
def _has_mono_name(font: str) -> bool:
    return _MONO_NAME.search(font) is not None


def altered(line: Line, **changes: Any) -> Line:
    """The line with some of its fields changed."""
    return Line(**{name: getattr(line, name) for name in Line.__annotations__} | changes)
