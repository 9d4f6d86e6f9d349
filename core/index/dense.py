"""A document's chunks as vectors and token states, from disk where they were computed before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from core.index.cache import ArrayCache
from core.models.encoder import Encoder
from core.models.states import LexicalWeights, Progress, SpanStates, Stop
from core.records import Chunk, Document

_FORMAT = 1
"""Raise whenever an entry of the cache means something else than before."""


def encode_document(
    document: Document,
    chunks: Sequence[Chunk],
    encoder: Encoder,
    cache: ArrayCache | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> SpanStates:
    """The states of a document's ``chunks``, in their order, read in context.

    What is unranked (front matter, running headers) is not read, so that a sentence which
    goes on over a page break is read as one. Arrays that come from ``cache`` are mapped
    from disk and cannot be written to. Raises ``Cancelled``.
    """
    text = ranked_text(document)
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    key = _key(text, spans, encoder.fingerprint)
    if cache is not None and (held := cache.get(key)) is not None:
        return _from_arrays(held)
    states = encoder.encode_spans(text, spans, progress=progress, cancelled=cancelled)
    if cache is None:
        return states
    arrays = {name: getattr(states, name) for name in _ARRAYS}
    if states.sparse is not None:
        arrays |= {f"sparse_{name}": getattr(states.sparse, name) for name in _SPARSE}
    cache.put(key, arrays, {"model": encoder.name, "chunks": len(spans)})
    # The mapped arrays can leave memory again; those just computed could not.
    held = cache.get(key)
    return _from_arrays(held) if held is not None else states


_ARRAYS = ("vectors", "states", "offsets", "truncated")
_SPARSE = ("ids", "weights", "offsets")


def _from_arrays(held: Mapping[str, np.ndarray]) -> SpanStates:
    lexical = [held[f"sparse_{name}"] for name in _SPARSE if f"sparse_{name}" in held]
    sparse = LexicalWeights(*lexical) if lexical else None
    return SpanStates(*(held[name] for name in _ARRAYS), sparse)


def ranked_text(document: Document) -> str:
    """The document's text with blanks where it is unranked: as long, and with the same offsets."""
    parts, at = [], 0
    for span in sorted(document.unranked, key=lambda s: (s.start, s.end)):
        start, end = max(at, span.start), max(at, span.end)
        parts += [document.text[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, document.text[at:]])


def _key(text: str, spans: list[tuple[int, int]], fingerprint: str) -> str:
    packed = hashlib.sha256(json.dumps([_FORMAT, fingerprint, spans]).encode("ascii"))
    packed.update(text.encode("utf-8", "surrogatepass"))
    return packed.hexdigest()
