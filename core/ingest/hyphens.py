"""Words divided at a line's end, put together again.

"infor-" / "mation" is one word and "price-" / "determining" two with a hyphen between. What
else the document holds decides first, then a list of English words; a division that neither
explains is closed, as most are.

Korean lines may break between any two syllables, with no sign of it. There only the document
decides: the parts are put together where it holds the whole elsewhere, and not both parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache

from core.ingest.clean import SOFT_HYPHEN
from core.package import packaged

_DIVIDED_END = re.compile(r"([^\W\d_]+(?:[-‐][^\W\d_]+)*)[-‐\u00ad]$")
_CONTINUED = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_DIVISION = re.compile(r"[-‐\u00ad]\n")
_HYPHENS = ("-", "‐", SOFT_HYPHEN)
_HANGUL_END = re.compile(r"[가-힣]+$")
_HANGUL_START = re.compile(r"[가-힣]+")


class Hyphens:
    """Decisions for one document, from the words that it holds undivided."""

    def __init__(self, lines: Iterable[str]) -> None:
        text = "\n".join(lines)
        parts = _DIVISION.split(text)
        # Parts of divided words are no evidence of words.
        self._words = _words_of(map(_between_divisions, parts)) if len(parts) > 1 else frozenset()
        self._korean = _words_of([text]) if _HANGUL_START.search(text) else frozenset()
        # Of these it is certain that they stand alone: no line's end is beside them.
        self._korean_within = _words_of(
            line[line.find(" ") + 1 : line.rfind(" ") + 1]
            for line in (text.split("\n") if self._korean else ())
        )

    def join(self, line: str, following: str) -> str | None:
        """``line`` and ``following`` as one, or None where no word runs over the break."""
        if not line.endswith(_HYPHENS):  # nearly all of them
            return self._korean_joined(line, following) if self._korean else None
        left = _DIVIDED_END.search(line)
        right = _CONTINUED.match(following)
        if not left or not right:
            return None
        if line.endswith(SOFT_HYPHEN):
            return line[:-1] + following
        if self._is_one_word(left[1], right[0]):
            return line[:-1] + following
        return line + following

    def _is_one_word(self, left: str, right: str) -> bool:
        if not right[0].islower():
            return False
        left, right = left.casefold(), right.casefold()
        if left + right in self._words:
            return True
        if f"{left}-{right}" in self._words or "-" in left:
            return False
        if _is_english(left + right):
            return True
        return not (self._is_known(left) and self._is_known(right))

    def _is_known(self, word: str) -> bool:
        return word in self._words or word in _english_words()

    def _korean_joined(self, line: str, following: str) -> str | None:
        left, right = _HANGUL_END.search(line), _HANGUL_START.match(following)
        if not left or not right or left[0] + right[0] not in self._korean:
            return None
        apart = left[0] in self._korean_within and right[0] in self._korean_within
        return None if apart else line + following


def _between_divisions(part: str) -> str:
    """Without its first and its last word, which are parts of divided ones."""
    first = _CONTINUED.match(part)
    return part[first.end() if first else 0 : max(part.rfind(" "), part.rfind("\n")) + 1]


def _words_of(parts: Iterable[str]) -> frozenset[str]:
    # Told apart at blanks first: most of them come again and again.
    tokens: set[str] = set()
    for part in parts:
        tokens.update(part.casefold().split())
    return frozenset(_WORD.findall(" ".join(tokens)))


def _is_english(word: str) -> bool:
    words = _english_words()
    # The list holds base forms more often than inflected ones.
    stems = (word, *(word.removesuffix(end) for end in ("s", "ed", "ing", "ly")))
    return any(stem in words for stem in stems if len(stem) > 3)


@cache
def _english_words() -> frozenset[str]:
    """The whole words in the embedded model's vocabulary; empty where it is not installed."""
    path = packaged("tokenizer.json")
    if path is None:
        return frozenset()
    try:
        vocabulary = json.loads(path.read_text("utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
    return frozenset(word for word in vocabulary if len(word) > 2 and word.isalpha())
