"""Tiny models for tests of everything that is not a model: words hashed to fixed vectors."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

import numpy as np

from core.models.states import QueryStates, SpanStates

DIMENSIONS = 32
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=4096)
def _vector(word: str) -> np.ndarray:
    rng = np.random.default_rng(zlib.crc32(word.casefold().encode()))
    vector = rng.normal(size=DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


def _tokens(text: str) -> np.ndarray:
    words = _WORD.findall(text)
    return np.stack([_vector(w) for w in words]) if words else np.zeros((0, DIMENSIONS), np.float32)


def _unit(tokens: np.ndarray) -> np.ndarray:
    if not len(tokens):
        return np.zeros(DIMENSIONS, np.float32)
    mean = tokens.mean(axis=0)
    return (mean / max(1e-9, float(np.linalg.norm(mean)))).astype(np.float32)


class HashingEncoder:
    """An encoder whose vectors are sums of word hashes: equal words are near, others are not."""

    name = "word hashes"
    fingerprint = "word-hashes-1"
    dimensions = DIMENSIONS
    window = 512

    def __init__(self) -> None:
        self.queries = 0
        self.spans_read = 0

    def encode_query(self, text: str) -> QueryStates:
        self.queries += 1
        tokens = _tokens(text)
        words = list(_WORD.finditer(text))
        starts = np.array([*(w.start() for w in words), len(text)], dtype=np.int64)
        return QueryStates(_unit(tokens), tokens, tuple(w[0] for w in words), starts=starts)

    def encode_spans(self, text, spans, *, progress=None, cancelled=None) -> SpanStates:
        return self.encode_alone([text[s:e] for s, e in spans])

    def encode_alone(self, texts, *, progress=None, cancelled=None) -> SpanStates:
        self.spans_read += len(texts)
        tokens = [_tokens(t) for t in texts]
        rows = np.concatenate(tokens) if tokens else np.zeros((0, DIMENSIONS), np.float32)
        return SpanStates(
            vectors=np.stack([_unit(t) for t in tokens]) if tokens else np.zeros((0, DIMENSIONS)),
            states=np.round(rows * 127).astype(np.int8),
            offsets=np.cumsum([0, *(len(t) for t in tokens)]),
            truncated=np.zeros(len(tokens), dtype=np.int32),
        )


class OtherEncoder(HashingEncoder):
    """The same under another fingerprint: what it read is not to be mixed with the other's."""

    fingerprint = "word-hashes-2"
