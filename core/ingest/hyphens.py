"""Words divided at a line's end, put together again.

"infor-" / "mation" is one word and "price-" / "determining" two with a hyphen between. What
else the document holds decides first, then a list of English words; a division that neither
explains is closed, as most are.
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
# A word, or a compound with hyphens, of which no line's end cuts a part off: parts of divided
# words are no evidence of words.
_WHOLE = re.compile(
    r"(?<![^\W\d_])(?<![-‐\u00ad]\n)[^\W\d_]++(?:[-‐][^\W\d_]++)*+(?![-‐\u00ad](?:\n|$))"
)
_HYPHENS = ("-", "‐", SOFT_HYPHEN)


class Hyphens:
    """Decisions for one document, from the words that it holds undivided."""

    def __init__(self, lines: Iterable[str]) -> None:
        text = "\n".join(lines)
        divided = any(f"{hyphen}\n" in text for hyphen in _HYPHENS)
        self._words = frozenset(_WHOLE.findall(text.casefold())) if divided else frozenset()

    def join(self, line: str, following: str) -> str | None:
        """``line`` and ``following`` as one, or None where no word runs over the break."""
        if not line.endswith(_HYPHENS):  # nearly all of them
            return None
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
        known = self._words | _english_words()
        return not (left in known and right in known)


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
