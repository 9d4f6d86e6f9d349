"""Token counters. One counter serves chunk sizes, budgets and ledgers of a run.

A counter gives the character spans of its tokens, so that text can be cut exactly at a
token, and counts the same text the same way wherever it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.errors import ModelError
from core.package import INSTALL, TITLE, packaged

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

LONG_WORD = 100
"""WordPiece reads a word of more characters than this as one unknown token."""

PIECE = 2
"""Characters a token is taken to hold inside such a word, so that its size still counts."""

SHORT = 1000
"""Counts of texts up to so many characters are kept: labels, instructions, the question."""

FEW = 8
"""Up to so many texts are counted one by one: threads would cost more than they save."""

READ_OVER = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
"""White space to Python that WordPiece drops: what stands on both sides is one word to it."""

_LONG = re.compile(rf"(?:\S|[{READ_OVER}]){{{LONG_WORD},}}")


class TokenCounter(Protocol):
    """Splits text into tokens. ``name`` is shown beside every count.

    Law: texts joined by line breaks count as many tokens as they do one by one, so that a
    prompt can be counted from its parts.
    """

    name: str

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Character spans of the tokens, in order, white space in none of them."""

    def count(self, text: str) -> int:
        """``len(spans(text))``."""

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """:meth:`count` of each text."""


class WordPieceCounter:
    """The embedded model's own tokenizer (BERT WordPiece, 30,522 entries)."""

    name = f"WordPiece ({TITLE})"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._short = lru_cache(maxsize=4096)(self._count)

    def spans(self, text: str) -> list[tuple[int, int]]:
        return _shortened(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def count(self, text: str) -> int:
        return self._short(text) if len(text) <= SHORT else self._count(text)

    def _count(self, text: str) -> int:
        return self._length(text, self._tokenizer.encode(text, add_special_tokens=False))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        if len(texts) <= FEW:
            return [self.count(text) for text in texts]
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return list(map(self._length, texts, encodings))

    @staticmethod
    def _length(text: str, encoding: Encoding) -> int:
        """The number of tokens; offsets are only looked at where a long word may hide."""
        if _LONG.search(text) is None:
            return len(encoding)
        return len(_shortened(encoding.offsets))


class WordCounter:
    """Words and punctuation marks, one token each: for tests and for text without a model."""

    name = "words"
    _pattern = re.compile(r"\w{1,16}|[^\w\s]")

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [m.span() for m in self._pattern.finditer(text)]

    def count(self, text: str) -> int:
        return len(self._pattern.findall(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


def _shortened(offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Token spans, with over-long words cut into pieces."""
    out: list[tuple[int, int]] = []
    for start, end in offsets:
        if end - start <= LONG_WORD:
            out.append((start, end))
        else:
            out.extend((at, min(at + PIECE, end)) for at in range(start, end, PIECE))
    return out


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a ``tokenizer.json``, without the truncation and padding saved with it.

    OSError where there is no such file.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(maxsize=1)
def wordpiece() -> WordPieceCounter:
    """The counter of the embedded model, read from its package's ``tokenizer.json``.

    Raises:
        ModelError: where the package is not installed.
    """
    path = packaged("tokenizer.json")
    if path is None:
        raise ModelError(TITLE, "its tokenizer is not installed", INSTALL)
    return WordPieceCounter(load_tokenizer(path))
