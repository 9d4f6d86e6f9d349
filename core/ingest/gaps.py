"""Spaces that are drawn as gaps, and letters that are drawn apart: what only places can tell.

MuPDF puts a space where there is a gap between Latin, Greek, Cyrillic, Hebrew or Arabic letters,
and in no other script; Korean and the scripts of India, which part words as well, come out as
one word a line. It puts spaces between the letters of a heading that is letterspaced. And where
one Arabic glyph stands for several letters, it gives these the wrong way round. All three show
in the places of single characters, which take time to get, so that only pages with such text
are looked at.
"""

from __future__ import annotations

import itertools
import re
import statistics
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

# Indic scripts, Thai, Lao, Tibetan, Burmese, Georgian, Ethiopic, Khmer, Hangul.
_SPACED = (
    "\u0900-\u0fff\u1000-\u109f\u10a0-\u10ff\u1100-\u139f\u1780-\u17ff\u3130-\u318f\uac00-\ud7ff"
)
_ARABIC = "\u0600-\u06ff\u0750-\u077f"
_LETTERS_APART = re.compile(r"(?<!\S)(?:[^\W\d_] ){4,}[^\W\d_](?!\S)")
_NEEDS_PLACES = re.compile(f"[{_SPACED}{_ARABIC}]")
_MAYBE_APART = re.compile(r" [^\W\d_] [^\W\d_] [^\W\d_] ")  # found fast, as it begins with a sign
_IN_SPACED = re.compile(f"[{_SPACED}]")
_IN_ARABIC = re.compile(f"[{_ARABIC}]")

# A gap that is a space: this much wider than the usual one between a line's characters, in ems.
_SPACE = 0.14
# Letters set apart are at most this far from each other, and words this many times as far.
_APART, _WORDS_APART = 0.3, 1.6

Character = dict[str, Any]


def needs_places(text: str) -> bool:
    """Whether a page's text, line by line, is such that single characters' places would mend it."""
    if not text.isascii() and _NEEDS_PLACES.search(text):
        return True
    return _MAYBE_APART.search(text) is not None and _LETTERS_APART.search(text) is not None


def with_places(blocks: list[dict[str, Any]], placed: Sequence[dict[str, Any]]) -> None:
    """Mend the ``dict`` blocks of a page by its ``rawdict`` blocks, of the same flags.

    A span that changed keeps what MuPDF gave as ``drawn``.
    """
    lines = [
        _Characters(line, exact)
        for line, exact in zip(_lines(blocks), _lines(placed), strict=False)
        if _alike(line, exact) and needs_places("".join([s["text"] for s in line["spans"]]))
    ]
    marks = _room_of_marks(lines)
    for line in lines:
        for span, changed in zip(line.spans, line.mended(marks), strict=True):
            if changed != span["text"]:
                line.line["changed"] = True
                span.setdefault("drawn", span["text"])
                span["text"] = changed


def _lines(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for block in blocks for line in block.get("lines", ())]


def _alike(line: dict[str, Any], exact: dict[str, Any]) -> bool:
    characters = [len(span["chars"]) for span in exact["spans"]]
    return characters == [len(span["text"]) for span in line["spans"]]


class _Characters:
    """A line's characters, and where each begins and ends along it."""

    def __init__(self, line: dict[str, Any], exact: dict[str, Any]) -> None:
        self.line = line
        self.spans: list[dict[str, Any]] = line["spans"]
        self.places: list[list[Character]] = [span["chars"] for span in exact["spans"]]
        self.text = "".join([span["text"] for span in self.spans])
        self.size = max(span["size"] for span in self.spans) or 1.0
        self.fonts = [span["font"] for span in self.spans for _ in span["text"]]
        self.along = [_extent(c, line["dir"]) for given in self.places for c in given]

    def gaps(self) -> list[float]:
        """Before each character, the room between it and all those before it, in ems."""
        gaps, reached = [0.0], self.along[0][1]
        for begin, end in self.along[1:]:
            gaps.append((begin - reached) / self.size)
            reached = max(reached, end)
        return gaps

    def mended(self, marks: Mapping[tuple[str, str], float]) -> list[str]:
        """The text of each span."""
        texts = [span["text"] for span in self.spans]
        if _IN_ARABIC.search(self.text):
            return [_in_reading_order(*pair) for pair in zip(texts, self.places, strict=True)]
        if _IN_SPACED.search(self.text):
            pieces = _with_spaces(self, marks)
        else:
            put_in = [c.get("synthetic", False) for given in self.places for c in given]
            pieces = _without_letterspacing(self.text, self.along, put_in, self.size)
        ends = itertools.accumulate(map(len, texts))
        return ["".join(pieces[e - len(text) : e]) for text, e in zip(texts, ends, strict=True)]


def _room_of_marks(lines: Sequence[_Characters]) -> dict[tuple[str, str], float]:
    """For each font and mark, the room that it takes, in ems: MuPDF says that none takes any.

    In most fonts that is so. Where after every mark of a font there is a gap, the smallest one
    after each is its own room.
    """
    least: dict[tuple[str, str], float] = {}
    for line in lines:
        gaps = line.gaps()
        is_mark = [unicodedata.category(character) == "Mn" for character in line.text]
        for at in range(len(gaps) - 1):
            # Marks above one another stand in one place.
            if is_mark[at] and not is_mark[at + 1]:
                key = line.fonts[at], line.text[at]
                least[key] = min(least.get(key, gaps[at + 1]), gaps[at + 1])
    none = {font for (font, _), room in least.items() if room < 0.05}
    return {key: 0.0 if key[0] in none else room for key, room in least.items()}


def _extent(character: Character, direction: tuple[float, float]) -> tuple[float, float]:
    """Where it begins and ends along its line."""
    x0, y0, x1, y1 = character["bbox"]
    dx, dy = direction
    ends = (x0 * dx + y0 * dy, x1 * dx + y1 * dy)
    return min(ends), max(ends)


def _with_spaces(line: _Characters, marks: Mapping[tuple[str, str], float]) -> list[str]:
    """Each character, a space put before it where a gap is one."""
    gaps = line.gaps()
    usual = max(0.0, statistics.median(gaps[1:])) if len(gaps) > 1 else 0.0
    pieces = []
    for at, (character, gap) in enumerate(zip(line.text, gaps, strict=True)):
        before, font = (line.text[at - 1], line.fonts[at - 1]) if at else (" ", "")
        beside = _IN_SPACED.match(before) or _IN_SPACED.match(character)
        parted = gap > max(usual, marks.get((font, before), 0.0)) + _SPACE
        if parted and beside and not before.isspace() and _begins(character):
            character = f" {character}"
        pieces.append(character)
    return pieces


def _begins(character: str) -> bool:
    """Whether a word may begin so: no vowel sign, and no mark that ends one."""
    return unicodedata.category(character)[0] in "LNS" or character in "([{“‘«"


def _without_letterspacing(
    text: str, along: Sequence[tuple[float, float]], put_in: Sequence[bool], size: float
) -> list[str]:
    """Each character; spaces that MuPDF put between letters set apart become nothing."""
    pieces = list(text)
    for found in _LETTERS_APART.finditer(text):
        letters = range(found.start(), found.end(), 2)
        gaps = [along[b][0] - along[a][1] for a, b in itertools.pairwise(letters)]
        usual = statistics.median(gaps)
        if not 0 < usual <= _APART * size:
            continue
        for letter, gap in zip(letters, gaps, strict=False):
            if put_in[letter + 1] and gap < _WORDS_APART * usual:
                pieces[letter + 1] = ""
    return pieces


def _in_reading_order(text: str, places: Sequence[Character]) -> str:
    """Letters that one glyph stands for: all but one take no room, and come before it."""
    ordered: list[str] = []
    waiting: list[str] = []
    for sign, place in zip(text, places, strict=True):
        x0, _, x1, _ = place["bbox"]
        if x1 - x0 < 0.01 and _IN_ARABIC.match(sign) and unicodedata.category(sign) == "Lo":
            waiting.append(sign)
            continue
        ordered.append(sign)
        ordered += waiting[::-1]
        waiting.clear()
    return "".join([*ordered, *waiting])
