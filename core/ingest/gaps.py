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
from collections.abc import Sequence
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
    for line, exact in zip(_lines(blocks), _lines(placed), strict=False):
        spans = line["spans"]
        text = "".join([span["text"] for span in spans])
        if not needs_places(text):
            continue
        characters = [span["chars"] for span in exact["spans"]]
        if [len(given) for given in characters] != [len(span["text"]) for span in spans]:
            continue
        for span, changed in zip(spans, _mended(spans, characters, line["dir"]), strict=True):
            if changed != span["text"]:
                span.setdefault("drawn", span["text"])
                span["text"] = changed


def _lines(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for block in blocks for line in block.get("lines", ())]


def _mended(
    spans: Sequence[dict[str, Any]],
    places: Sequence[Sequence[Character]],
    direction: tuple[float, float],
) -> list[str]:
    """The text of each span."""
    texts = [span["text"] for span in spans]
    text = "".join(texts)
    if _IN_ARABIC.search(text):
        return [_in_reading_order(*pair) for pair in zip(texts, places, strict=True)]
    size = max(span["size"] for span in spans)
    characters = [character for given in places for character in given]
    along = [_extent(character, direction) for character in characters]
    if _IN_SPACED.search(text):
        pieces = _with_spaces(text, along, size)
    else:
        put_in = [character.get("synthetic", False) for character in characters]
        pieces = _without_letterspacing(text, along, put_in, size)
    ends = list(itertools.accumulate(map(len, texts)))
    return ["".join(pieces[end - len(given) : end]) for given, end in zip(texts, ends, strict=True)]


def _extent(character: Character, direction: tuple[float, float]) -> tuple[float, float]:
    """Where it begins and ends along its line."""
    x0, y0, x1, y1 = character["bbox"]
    dx, dy = direction
    ends = (x0 * dx + y0 * dy, x1 * dx + y1 * dy)
    return min(ends), max(ends)


def _with_spaces(text: str, along: Sequence[tuple[float, float]], size: float) -> list[str]:
    """Each character, a space put before it where a gap is one."""
    gaps = [0.0]
    reached = along[0][1]
    for begin, end in along[1:]:
        gaps.append(begin - reached)
        reached = max(reached, end)
    usual = statistics.median(gaps[1:]) if len(gaps) > 1 else 0.0
    pieces = []
    for index, (character, gap) in enumerate(zip(text, gaps, strict=True)):
        before = text[index - 1] if index else " "
        parted = gap > max(usual, 0.0) + _SPACE * size and not (
            before.isspace() or character.isspace()
        )
        beside = parted and (_IN_SPACED.match(before) or _IN_SPACED.match(character))
        pieces.append(f" {character}" if beside and _begins(character) else character)
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
