"""Lines of glyphs for each script, cut as its fonts cut it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from benchmarks.made.coded import GAP, Glyph

_SPACE: Glyph = (" ", 0.25)
_GAP: Glyph = (GAP, 0.25)
_VIRAMA = "\u094d"
# Vowel signs that Devanagari writes before the letter that they follow.
_BEFORE = "\u093f"


def latin(line: str, spaces: bool = True) -> list[Glyph]:
    """A glyph a character; without ``spaces``, gaps alone part the words."""
    return [_between(c, spaces) if c == " " else (c, 0.5) for c in line]


def arabic(line: str, spaces: bool = True) -> list[Glyph]:
    """From left to right, the last word first; lam and alef are one glyph."""
    glyphs: list[Glyph] = []
    at = 0
    while at < len(line):
        pair = line[at : at + 2]
        text = pair if pair in ("\u0644\u0627", "\u0644\u0623") else line[at]
        glyphs.append(_between(text, spaces) if text == " " else (text, 0.5))
        at += len(text)
    return glyphs[::-1]


def devanagari(line: str, spaces: bool = True) -> list[Glyph]:
    """Conjuncts are one glyph; signs above and below take no room; the short i is drawn first."""
    glyphs: list[Glyph] = []
    for syllable in _syllables(line):
        if syllable == " ":
            glyphs.append(_between(" ", spaces))
            continue
        base = syllable.rstrip("".join(c for c in syllable if _is_sign(c) and c != _VIRAMA))
        signs = syllable[len(base) :]
        # The glyph of the sign drawn first stands in the table with its letter, as Chrome does it.
        first = _BEFORE in signs
        glyphs.append((base + (_BEFORE if first else ""), 0.6))
        glyphs += [
            (sign, 0.3 if unicodedata.category(sign) == "Mc" else 0.0)
            for sign in signs
            if sign != _BEFORE
        ]
    return glyphs


def thai(line: str, spaces: bool = True) -> list[Glyph]:
    """Vowels and tones above and below their letter take no room."""
    return [
        _between(c, spaces) if c == " " else (c, 0.0 if unicodedata.category(c) == "Mn" else 0.5)
        for c in line
    ]


def square(line: str, spaces: bool = True) -> list[Glyph]:
    """Chinese, Japanese and Korean: an em each, punctuation too."""
    return [_between(c, spaces) if c == " " else (c, 1.0) for c in line]


SCRIPTS = {latin: "LATIN", arabic: "ARABIC", devanagari: "DEVANAGARI", thai: "THAI", square: "HAN"}


def cut(text: str, width: int) -> list[str]:
    """Lines of ``width`` characters: scripts without spaces break anywhere."""
    lines, line = [], ""
    for syllable in _syllables(text):
        if len(line) + len(syllable) > width and syllable not in "。 ":
            lines.append(line.strip())
            line = ""
        line += syllable
    return [*lines, line.strip()]


def _syllables(text: str) -> Sequence[str]:
    found: list[str] = []
    for character in text:
        joined = found and (
            _is_sign(character) or (found[-1].endswith(_VIRAMA) and character != " ")
        )
        if joined and found[-1] != " ":
            found[-1] += character
        else:
            found.append(character)
    return found


def _is_sign(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc")


def _between(character: str, spaces: bool) -> Glyph:
    return _SPACE if spaces else _GAP
