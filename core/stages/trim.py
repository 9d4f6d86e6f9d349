"""The beginning of a passage that is larger than the whole budget.

It ends at a sentence; where not even the first one fits, at a word; and where there is
none, at a whole character as a person sees it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from core.tokens import TokenCounter

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？][”’」』）]*")
_JOINER = "\u200d"
_SPACING_VOWELS = "\u0e33\u0eb3"
"""Thai and Lao am, which Unicode files under letters although they belong to what is before."""


@dataclass(frozen=True, slots=True)
class Trim:
    """A passage's beginning: so many characters, so many tokens. 0 where nothing fits."""

    characters: int
    tokens: int


def trimmed(text: str, room: int, counter: TokenCounter) -> Trim:
    """The longest beginning of ``text`` that fits ``room`` tokens and ends well."""
    spans = counter.spans(text)
    if room <= 0 or not spans:
        return Trim(0, 0)
    if room >= len(spans):
        return Trim(len(text), len(spans))
    limit = spans[room][0]
    sentences = [m.end() for m in _SENTENCE_END.finditer(text) if m.end() <= limit]
    words = [m.start() for m in re.finditer(r"\s+", text[:limit])]
    # A word cut in two can count more tokens than it did whole: then shorter parts are tried.
    parts = [limit, spans[room * 3 // 4][0], spans[room // 2][0]]
    for end in [*sentences[:-4:-1], *words[:-9:-1], *parts]:
        end = _whole_character(text, end)
        if text[:end].strip() and (tokens := counter.count(text[:end])) <= room:
            return Trim(end, tokens)
    return Trim(0, 0)


def _whole_character(text: str, end: int) -> int:
    """The nearest end at or before ``end`` that splits no visible character."""
    while 0 < end < len(text) and _goes_on(text, end):
        end -= 1
    return end


def _goes_on(text: str, at: int) -> bool:
    """Whether what stands at ``at`` belongs to the character before it.

    Of the rules for grapheme clusters (Unicode Standard Annex 29) those that documents meet:
    marks, joiners, skin tones, tags, flags of two letters, and Hangul in parts.
    """
    here, before = text[at], text[at - 1]
    if unicodedata.category(here).startswith("M") or _JOINER in (here, before):
        return True
    if here in _SPACING_VOWELS:
        return True
    if "\U0001f3fb" <= here <= "\U0001f3ff" or "\U000e0020" <= here <= "\U000e007f":
        return True
    if _flag_letter(here):
        run = 0
        while run < at and _flag_letter(text[at - 1 - run]):
            run += 1
        return run % 2 == 1
    return "\u1160" <= here <= "\u11ff" and "\u1100" <= before <= "\u11ff"


def _flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
