"""Text into the encoder's tokens, with the character at which each begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from core.tokens import load_tokenizer

_SEGMENT = 65_536
"""Characters tokenised at once: a book's tokens as Python objects would fill the memory."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(r"\s")


class WordPieces:
    """The tokenizer of a model's folder, without the truncation and padding saved with it."""

    def __init__(self, folder: Path) -> None:
        """Reads ``tokenizer.json``; OSError if it is absent."""
        self._tokenizer = load_tokenizer(folder / "tokenizer.json")
        ids = [self._tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]", "[PAD]")]
        self.first, self.last, self.filler = ids

    def read(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Token ids and the characters at which they begin, int64 [t] each, in order."""
        ids, starts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for at, segment in _segments(_whole(text)):
            encoding = self._tokenizer.encode(segment, add_special_tokens=False)
            ids.append(np.array(encoding.ids, dtype=np.int64))
            begins = np.array([o[0] for o in encoding.offsets], dtype=np.int64)
            starts.append(begins + at)
        return np.concatenate(ids), np.concatenate(starts)

    def read_each(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Token ids of each text, int64 [t]."""
        encodings = self._tokenizer.encode_batch(
            [_whole(t) for t in texts], add_special_tokens=False
        )
        return [np.array(e.ids, dtype=np.int64) for e in encodings]

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """How the tokens are spelt; a piece that goes on within a word begins with ``##``."""
        return tuple(self._tokenizer.id_to_token(int(i)) for i in ids)


def _whole(text: str) -> str:
    """``text`` with lone surrogates replaced, which no encoding can carry; as long as before."""
    return _SURROGATE.sub("\ufffd", text)


def _segments(text: str) -> Iterator[tuple[int, str]]:
    """Stretches of ``text`` and where they begin, cut at white space, where no word can break."""
    at = 0
    while at < len(text):
        blank = _BLANK.search(text, at + _SEGMENT)
        end = blank.start() if blank else len(text)
        yield at, text[at:end]
        at = end
