"""Corpora of made-up chunks with random states, so that any size can be measured."""

from __future__ import annotations

from typing import Any


def made_up_index(chunks: int) -> tuple[Any, list[str]]:
    """An index of so many chunks of 60 made-up words, and questions of eight of them."""
    import numpy as np

    from core.index.bm25 import count_terms
    from core.index.index import DocumentPart, Index
    from core.models.states import SpanStates
    from core.records import Chunk, Document, chunk_id
    from core.tokens import wordpiece

    rng = np.random.default_rng(1)
    vocabulary = [f"w{n:x}" for n in range(20_000)]
    words = np.minimum(rng.zipf(1.2, (chunks, 60)), len(vocabulary)) - 1
    texts = [" ".join(vocabulary[w] for w in row) + "\n" for row in words]
    tokens, parts = 120, []
    for first in range(0, chunks, 500):
        name, own = f"{first:016x}", texts[first : first + 500]
        at, made = 0, []
        for ordinal, text in enumerate(own):
            made.append(
                Chunk(chunk_id(name, ordinal), name, ordinal, at, at + len(text), text, tokens)
            )
            at += len(text)
        vectors = rng.normal(size=(len(own), 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        states = rng.integers(-127, 128, (len(own) * tokens, 128), dtype=np.int8)
        offsets = np.arange(len(own) + 1) * tokens
        held = SpanStates(vectors, states, offsets, np.zeros(len(own), np.int32))
        document = Document(name, f"{name}.txt", name, "".join(own))
        parts.append(DocumentPart(document, tuple(made), count_terms(own), held, name))
    return Index(parts, wordpiece()), [" ".join(vocabulary[w] for w in row[:8]) for row in words]
