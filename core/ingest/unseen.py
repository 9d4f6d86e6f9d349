"""Pieces of a page's text that nobody sees: off the page, or under something drawn over them.

A person who blackens a name draws a box over it, and the name stays in the file. A later fill is
only a suspicion, because a box is also drawn around what is to be noticed; the page itself decides:
where it shows nothing but one colour in the place of letters, they cannot be seen. What is found is
given no ink (``alpha`` 0), which is what ``lines.py`` and ``visibility.py`` go by.

Not found: what lies under a shading or a pattern, and what is covered so that something else shows
in its place, as a label on the box does.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_Box = tuple[float, float, float, float]
_Dict = dict[str, Any]

# PyMuPDF's numbers for kinds of blocks.
_TEXT, _FILL = 0, 3
# Points. Smaller fills are rules, dots and marks; they cover no letter.
_LEAST = 3.0
# Of a letter's size, how high above its baseline nearly all letters have ink.
_INKED = 0.5
# Pixels of the longer side of what is rendered to be looked at, and the finest scale.
_MOST_PIXELS, _FINEST = 2000.0, 2.0
_PIECES = re.compile(r"\S+")


class Suspects(NamedTuple):
    """What may hide text on a page: ``fills`` are boxes of what was drawn over some; ``beyond``
    says that some text lies across the page's edge, or off it."""

    fills: tuple[_Box, ...] = ()
    beyond: bool = False

    def __bool__(self) -> bool:
        return self.beyond or bool(self.fills)


def suspects(blocks: Sequence[_Dict], width: float, height: float) -> Suspects:
    """Of a page's ``dict`` blocks, in which fills come after what was drawn before them."""
    texts = [(i, block["bbox"]) for i, block in enumerate(blocks) if block["type"] == _TEXT]
    if not texts:
        return Suspects()
    left, top, right, bottom = zip(*[box for _, box in texts], strict=True)
    beyond = min(left) < 0 or min(top) < 0 or max(right) > width or max(bottom) > height
    fills = [
        box
        for i, block in enumerate(blocks)
        if block["type"] == _FILL
        and not block["stroked"]
        and (box := block["bbox"])[2] - box[0] >= _LEAST
        and box[3] - box[1] >= _LEAST
        and block["alpha"] == 255
        and _over_one(box, texts, i)
    ]
    return Suspects(tuple(fills), beyond)


def _over_one(box: _Box, texts: Sequence[tuple[int, _Box]], before: int) -> bool:
    x0, y0, x1, y1 = box
    for at, (left, top, right, bottom) in texts:
        if at > before:
            return False
        if y0 < bottom and y1 > top and x0 < right and x1 > left:
            return True
    return False


def without_ink(
    page: Any, blocks: Sequence[_Dict], placed: Sequence[_Dict], found: Suspects
) -> None:
    """Take the ink from what is not seen of a page's ``dict`` blocks; spans are divided for it.

    ``placed`` are the ``rawdict`` blocks of the same flags. A span with other characters than
    there is left as it is. The page must not be rotated.
    """
    shown = _Shown(page, found.fills) if found.fills else None
    width, height = page.rect.width, page.rect.height
    for line, exact in zip(_lines(blocks), _lines(placed), strict=False):
        if len(line["spans"]) != len(exact["spans"]):
            continue
        spans: list[_Dict] = []
        for span, given in zip(line["spans"], exact["spans"], strict=True):
            characters = given["chars"]
            if span["alpha"] == 0 or not _alike(span, characters):
                spans.append(span)
                continue
            upright = line["dir"][0] > 0.99
            unseen = [not _on(character, width, height) for character in characters]
            if shown is not None:
                places = [_inked(character, span["size"], upright) for character in characters]
                for start, end in _covered(span["text"], places, shown):
                    unseen[start:end] = [True] * (end - start)
            spans += _divided(span, characters, unseen)
        line["spans"] = spans


def _lines(blocks: Sequence[_Dict]) -> Iterator[_Dict]:
    return (line for block in blocks for line in block.get("lines", ()))


def _alike(span: _Dict, characters: Sequence[_Dict]) -> bool:
    """Whether each character of the span, and of what it was made of, has its place."""
    return len(characters) == len(span["text"]) == len(span.get("drawn", span["text"]))


def _on(character: _Dict, width: float, height: float) -> bool:
    """Whether its middle is on the page. What is no number is nowhere."""
    x0, y0, x1, y1 = character["bbox"]
    return 0 <= x0 + x1 <= 2 * width and 0 <= y0 + y1 <= 2 * height


def _inked(character: _Dict, size: float, upright: bool) -> _Box:
    """The part of a character's box in which it has ink."""
    x0, y0, x1, y1 = character["bbox"]
    if upright:
        baseline = character["origin"][1]
        return x0, baseline - _INKED * size, x1, baseline
    inset_x, inset_y = (x1 - x0) / 4, (y1 - y0) / 4
    return x0 + inset_x, y0 + inset_y, x1 - inset_x, y1 - inset_y


def _covered(text: str, places: Sequence[_Box], shown: _Shown) -> Iterator[tuple[int, int]]:
    """The stretches of words, and of words' parts, that a fill holds and the page does not show."""
    held = [shown.held(place) for place in places]
    if not any(held):
        return
    for word in _PIECES.finditer(text):
        at = word.start()
        for is_held, run in itertools.groupby(held[at : word.end()]):
            start, at = at, at + len(list(run))
            if not is_held or not any(map(str.isalnum, text[start:at])):
                continue
            if shown.one_colour(_around(places[start:at])):
                yield start, at


def _divided(span: _Dict, characters: Sequence[_Dict], unseen: Sequence[bool]) -> Iterator[_Dict]:
    """The span, in pieces where what is seen changes; a blank goes with what stands before it."""
    if not any(unseen):
        yield span
        return
    text, drawn = span["text"], span.get("drawn")
    told: list[bool] = []
    for character, is_unseen in zip(text, unseen, strict=True):
        told.append(told[-1] if told and character.isspace() else is_unseen)
    end = 0
    for is_unseen, run in itertools.groupby(told):
        start, end = end, end + len(list(run))
        box = _around([character["bbox"] for character in characters[start:end]])
        piece = span | {
            "text": text[start:end],
            "bbox": box,
            "origin": characters[start]["origin"],
            "alpha": 0 if is_unseen else span["alpha"],
        }
        yield piece if drawn is None else piece | {"drawn": drawn[start:end]}


def _around(boxes: Sequence[_Box]) -> _Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


class _Shown:
    """A page as it is seen, where fills lie; rendered once, when first looked at."""

    def __init__(self, page: Any, fills: Sequence[_Box]) -> None:
        self._page = page
        self._fills = fills
        self._rendered: Any = None
        self._scale = 1.0

    def held(self, place: _Box) -> bool:
        """Whether one of the fills holds a place."""
        x0, y0, x1, y1 = place
        return any(
            f[0] - 0.5 <= x0 and f[1] - 0.5 <= y0 and f[2] + 0.5 >= x1 and f[3] + 0.5 >= y1
            for f in self._fills
        )

    def one_colour(self, place: _Box) -> bool:
        """Whether the page shows one colour there, and it is large enough to tell."""
        rendered = self._rendered or self._render()
        scale, width = self._scale, rendered.width
        left = max(int(place[0] * scale) + 1 - rendered.x, 0)
        right = min(int(place[2] * scale) - rendered.x, width)
        top = max(int(place[1] * scale) + 1 - rendered.y, 0)
        bottom = min(int(place[3] * scale) - rendered.y, rendered.height)
        if right - left < 2 or bottom - top < 2:
            return False
        pixels, depth = rendered.samples_mv, rendered.n
        first = bytes(pixels[(top * width + left) * depth :][:depth]) * (right - left)
        rows = (row * width * depth for row in range(top, bottom))
        return all(pixels[r + left * depth : r + right * depth] == first for r in rows)

    def _render(self) -> Any:
        import pymupdf

        clip = pymupdf.Rect(_around(self._fills)) & self._page.rect
        longest = max(clip.width, clip.height, 1.0)
        self._scale = min(_FINEST, _MOST_PIXELS / longest)
        matrix = pymupdf.Matrix(self._scale, self._scale)
        self._rendered = self._page.get_pixmap(matrix=matrix, clip=clip, alpha=False)
        return self._rendered
