"""Text into the encoder's tokens, with the character at which each begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import ModelError
from core.tokens import load_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SEGMENT = 65_536
"""Characters tokenised at once: a book's tokens as Python objects would fill the memory."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(r"\s")


class Pieces:
    """A tokenizer that neither cuts nor pads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

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


class WordPieces(Pieces):
    """The tokenizer of a BERT model's folder."""

    def __init__(self, folder: Path) -> None:
        """Reads ``tokenizer.json``; OSError if it is absent."""
        super().__init__(load_tokenizer(folder / "tokenizer.json"))
        ids = [self._tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]", "[PAD]")]
        self.first, self.last, self.filler = ids


class Subwords(Pieces):
    """The tokenizer of any model of transformers, apart from the one that the library uses."""

    @classmethod
    def of(cls, tokenizer: Any, model: str) -> Subwords:
        """From a tokenizer of transformers. ``ModelError`` where it knows no characters' places."""
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise ModelError(
                model,
                "its tokenizer does not say where in the text a token begins",
                "Take a model with a tokenizer.json.",
            )
        from tokenizers import Tokenizer

        # A copy: the library sets truncation and padding on its own at every call.
        copy = Tokenizer.from_str(backend.to_str())
        copy.no_truncation()
        copy.no_padding()
        return cls(copy)

    def read(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        ids, starts = super().read(text)
        return ids, _at_letters(text, starts)

    def read_after(self, prompt: str, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Token ids of a prompt and of the text right behind it, read as one, and the characters
        of the text at which its tokens begin, int64 [t] each."""
        whole = self._tokenizer.encode(_whole(prompt + text), add_special_tokens=False)
        ids = np.array(whole.ids, dtype=np.int64)
        ends = np.array([o[1] for o in whole.offsets], dtype=np.int64)
        own = int(np.searchsorted(ends, len(prompt), side="right")) if prompt else 0
        begins = np.array([o[0] for o in whole.offsets[own:]], dtype=np.int64) - len(prompt)
        return ids[:own], ids[own:], _at_letters(text, np.maximum(begins, 0))


def _at_letters(text: str, starts: np.ndarray) -> np.ndarray:
    """Where tokens begin, blanks left out.

    SentencePiece takes the blank ahead of a word for part of it, and a chunk ends behind that
    blank: the first token of a chunk would belong to the chunk before.
    """
    out = starts.tolist()
    for i, at in enumerate(out):
        while at < len(text) and text[at].isspace():
            at += 1
        out[i] = at
    return np.array(out, dtype=np.int64)


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
