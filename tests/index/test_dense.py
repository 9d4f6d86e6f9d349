"""A document's states come from the cache where they can, and are the same either way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled
from core.index.cache import ArrayCache
from core.index.dense import encode_document, ranked_text
from core.models.embedder import EmbeddedEncoder
from core.records import Chunk, Document, Span, chunk_id
from tests.fakes import HashingEncoder

TEXT = "Open the valve slowly.\n\nHEADER 7\n\nNever open it under steam. Call the foreman first."


def document(text: str = TEXT, **more) -> Document:
    return Document(id="d", name="d.txt", title="d", text=text, **more)


def chunks(doc: Document, spans: list[tuple[int, int]]) -> list[Chunk]:
    return [
        Chunk(chunk_id(doc.id, i), doc.id, i, s, e, doc.text[s:e], tokens=1)
        for i, (s, e) in enumerate(spans)
    ]


SPANS = [(0, 34), (34, 61), (61, len(TEXT))]


def test_reopening_computes_nothing(tmp_path: Path) -> None:
    encoder, doc = HashingEncoder(), document()
    cold = encode_document(doc, chunks(doc, SPANS), encoder, ArrayCache(tmp_path))
    read = encoder.spans_read
    warm = encode_document(doc, chunks(doc, SPANS), encoder, ArrayCache(tmp_path))
    bare = encode_document(doc, chunks(doc, SPANS), HashingEncoder(), None)
    assert read == 3 and encoder.spans_read == read
    for name in ("vectors", "states", "offsets", "truncated"):
        assert isinstance(getattr(warm, name), np.memmap)
        assert getattr(cold, name).tobytes() == getattr(warm, name).tobytes()
        assert getattr(bare, name).tobytes() == getattr(warm, name).tobytes()


def test_whatever_changes_the_numbers_is_read_anew(tmp_path: Path) -> None:
    encoder, cache, doc = HashingEncoder(), ArrayCache(tmp_path), document()
    other = document(TEXT.replace("Never", "Always"))
    encode_document(doc, chunks(doc, SPANS), encoder, cache)
    for variant, spans in ((other, SPANS), (doc, [(0, 30), *SPANS[1:]])):
        before = encoder.spans_read
        encode_document(variant, chunks(variant, spans), encoder, cache)
        assert encoder.spans_read == before + 3
    newer = HashingEncoder()
    newer.fingerprint = "word-hashes-2"
    encode_document(doc, chunks(doc, SPANS), newer, cache)
    assert newer.spans_read == 3


def test_names_and_access_do_not_matter(tmp_path: Path) -> None:
    encoder, cache, doc = HashingEncoder(), ArrayCache(tmp_path), document()
    encode_document(doc, chunks(doc, SPANS), encoder, cache)
    renamed = replace(doc, id="e", name="e.txt", priority=3)
    encode_document(renamed, chunks(renamed, SPANS), encoder, cache)
    assert encoder.spans_read == 3


def test_what_is_unranked_is_not_read() -> None:
    at = TEXT.index("HEADER 7")
    doc = document(unranked=(Span(at, at + 8, "header"), Span(at + 2, at + 6, "header")))
    assert ranked_text(doc) == TEXT.replace("HEADER 7", " " * 8)
    plain = document(TEXT.replace("HEADER 7", " " * 8))
    one, other = (
        encode_document(d, chunks(d, SPANS), HashingEncoder(), None) for d in (doc, plain)
    )
    assert one.states.tobytes() == other.states.tobytes()
    assert ranked_text(document()) == TEXT


def test_a_document_without_chunks(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path)
    for _ in range(2):
        states = encode_document(document(""), [], HashingEncoder(), cache)
        assert len(states) == 0 and states.offsets.tolist() == [0]


@pytest.mark.integration
def test_the_true_model_stopped_and_begun_anew(tmp_path: Path) -> None:
    encoder, cache = EmbeddedEncoder.load(), ArrayCache(tmp_path)
    doc = document(TEXT * 80)
    cut = chunks(doc, [(at, min(at + 300, len(doc.text))) for at in range(0, len(doc.text), 300)])
    answers = iter([False, False, True])
    with pytest.raises(Cancelled):
        encode_document(doc, cut, encoder, cache, cancelled=lambda: next(answers))
    assert not cache.entries.exists()  # nothing half-read is kept
    seen: list[tuple[int, int]] = []
    cold = encode_document(doc, cut, encoder, cache, progress=lambda *s: seen.append(s))
    assert seen[-1][0] == seen[-1][1] > 0
    seen.clear()
    warm = encode_document(doc, cut, encoder, cache, progress=lambda *s: seen.append(s))
    assert seen == [] and cold.vectors.tobytes() == warm.vectors.tobytes()
    assert cold.states.shape[1] == 128 and cold.vectors.shape[1] == 384
