"""Documents into an index, each document by itself, from the cache where it has it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from core.chunking import chunk_document
from core.errors import Cancelled
from core.index.bm25 import count_terms
from core.index.cache import ArrayCache
from core.index.dense import encode_document
from core.index.index import DocumentPart, Index
from core.models.encoder import Encoder
from core.records import Document
from core.settings import Settings
from core.tokens import TokenCounter, wordpiece

Progress = Callable[[int, int, str], None]


def build_index(
    documents: Sequence[Document],
    settings: Settings = Settings(),
    encoder: Encoder | None = None,
    *,
    counter: TokenCounter | None = None,
    cache: ArrayCache | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Index:
    """An index of ``documents``, whose order does not matter.

    Args:
        encoder: None leaves dense scores out; BM25 then ranks alone, and traces say so.
        counter: of tokens; the embedded model's own where not given.
        progress: called with (characters done, characters in all, document name).

    Raises:
        Cancelled: where ``cancelled`` answered True between two steps.
    """
    counter = counter or wordpiece()
    total, done, parts = sum(len(d.text) for d in documents), 0, []
    for document in {d.id: d for d in documents}.values():
        if cancelled and cancelled():
            raise Cancelled
        if progress:
            progress(done, total, document.name)

        def within(tokens: int, of: int, document=document, done=done) -> None:
            if progress:
                progress(done + len(document.text) * tokens // max(1, of), total, document.name)

        parts.append(build_part(document, settings, encoder, counter, cache, within, cancelled))
        done += len(document.text)
    if progress:
        progress(total, total, "")
    return Index(parts, counter)


def build_part(
    document: Document,
    settings: Settings,
    encoder: Encoder | None,
    counter: TokenCounter,
    cache: ArrayCache | None = None,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> DocumentPart:
    """One document's part of an index. Depends on nothing but its arguments."""
    chunks = chunk_document(document, counter, settings.chunk_tokens, settings.chunk_overlap)
    states = None
    if encoder is not None:
        states = encode_document(
            document, chunks, encoder, cache, progress=progress, cancelled=cancelled
        )
    packed = "\n".join(
        [
            document.id,
            document.name,
            counter.name,
            encoder.fingerprint if encoder else "",
            *(repr((c.start, c.end, c.headings)) for c in chunks),
        ]
    )
    key = hashlib.sha256(packed.encode()).hexdigest()[:24]
    counts = count_terms([c.text for c in chunks])
    return DocumentPart(
        document, chunks, counts, states, key, encoder.fingerprint if encoder else ""
    )
