"""Characters as PDF programs write them → characters as people type them.

Applied to PDF text alone: text and Markdown files are kept as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from core.ingest.lean import made

SOFT_HYPHEN = "\u00ad"
NUL_MARK = "␀"
"""Stands for a NUL: left out in silence, it would put two words together."""

# Bullets and arrows of the Symbol and Wingdings fonts, at their usual private places.
_BULLETS = {
    0xF0B7: "•", 0xF0A7: "▪", 0xF06E: "■", 0xF06C: "●", 0xF076: "❖", 0xF0D8: "➢",
    0xF0E0: "→", 0xF0FC: "✓", 0xF0FB: "✗", 0xF0A8: "□", 0xF071: "❑", 0xF02D: "–",
}  # fmt: skip
# Parts of tall brackets in formulas: the top part stands for the whole.
_BRACKETS = {0xF8EB: "(", 0xF8EE: "[", 0xF8F1: "{", 0xF8F6: ")", 0xF8F9: "]", 0xF8FC: "}"}
_KNOWN = _BULLETS | dict.fromkeys(range(0xF8E5, 0xF8FF), "") | _BRACKETS
# Latin ligatures and Arabic presentation forms stand for the letters that people type.
_COMPATIBILITY = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
_BREAK_BETWEEN_LETTERS = re.compile("(?<=[^\\W_])\u200b+(?=[^\\W_])")
# Zero-width joiners (U+200C, U+200D) are not here: Persian and Indic scripts are spelt with them.
_INVISIBLE = re.compile(
    "[\x01-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
_SPACES = re.compile("[\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_THAI_MARK = re.compile(" +(?=[\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ecd])")
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60"
_IS_HAN = re.compile(f"[{_HAN}\u3001-\u303f]")
_SPREAD_HAN = re.compile(f"(?:[{_HAN}] ){{2,}}[{_HAN}](?! [^{_HAN}\\s])?")
CONTROL = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")
_REPAIRS = {
    "ligature": re.compile("[\ufb00-\ufb06\ufb13-\ufb17]"),
    "presentation form": re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]"),
    "soft hyphen": re.compile(SOFT_HYPHEN),
    "zero-width character": re.compile("[\u200b\u2060-\u2064\ufeff]"),
    "direction mark": re.compile("[\u200e\u200f\u202a-\u202e]"),
    "NUL": re.compile("\x00"),
    "control character": CONTROL,
}
# All but the letters of Europe, and signs, none of which is written anew.
_NEEDS_CLEANING = re.compile(
    "[^\x20-\x7e\xa1-\xac\xae-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u22ff\u2300-\u2bff]"
)


class Cleaned(NamedTuple):
    """A line's text, and how many of its characters could not be read."""

    text: str
    private: int = 0
    unknown: int = 0


def clean(text: str) -> Cleaned:
    """One line, cleaned: a soft hyphen stays only at its end, where it divides a word.

    Private-use characters are left out and counted, known bullets aside. U+FFFD, which
    stands for a glyph of unknown meaning, stays and is counted.
    """
    if not _NEEDS_CLEANING.search(text):  # nearly all lines
        text = text.strip()
        return made(Cleaned, (_SPACES.sub(" ", text) if "  " in text else text, 0, 0))
    text = text.replace("\x00", NUL_MARK)
    private = 0
    if _PRIVATE.search(text):
        text = text.translate(_KNOWN)
        text, private = _PRIVATE.subn("", text)
    text = _COMPATIBILITY.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = _BREAK_BETWEEN_LETTERS.sub(_break, text)
    text = _INVISIBLE.sub("", text)
    text = _SPACES.sub(" ", text).strip()
    if " " in text:
        text = _spread(text)
    ends_soft = text.endswith(SOFT_HYPHEN)
    text = text.replace(SOFT_HYPHEN, "") + SOFT_HYPHEN * ends_soft
    return Cleaned(text, private, text.count("\ufffd"))


def repairs(drawn: str) -> Iterator[tuple[str, int]]:
    """What cleaning has to do to a line, by kind, and to how many characters."""
    if not _NEEDS_CLEANING.search(drawn):
        return
    for kind, pattern in _REPAIRS.items():
        if count := len(pattern.findall(drawn)):
            yield kind, count
    if _PRIVATE.search(drawn) and (signs := sum(bool(_KNOWN.get(ord(c))) for c in drawn)):
        yield "sign of a symbol font", signs
    if spaces := len(drawn) - len(_spread(drawn)):
        yield "space within a word", spaces


def written_anew(character: str) -> str:
    """What cleaning writes in a character's place; the character itself where it is kept."""
    if (known := _KNOWN.get(ord(character))) is not None:
        return known
    if _COMPATIBILITY.match(character):
        return unicodedata.normalize("NFKC", character)
    return character


def _break(match: re.Match[str]) -> str:
    """A zero-width space ends a word; scripts that write words without spaces keep theirs."""
    before = match.string[match.start() - 1]
    return " " if before < "\u0e00" else ""


def _spread(text: str) -> str:
    """Undo spaces that a program put inside words: before Thai marks, between Han characters."""
    text = _THAI_MARK.sub("", text)
    return _SPREAD_HAN.sub(lambda match: match[0].replace(" ", ""), text)


def is_han(character: str) -> bool:
    """Whether lines break anywhere beside ``character``: Chinese and Japanese."""
    return character >= "\u3001" and _IS_HAN.match(character) is not None
