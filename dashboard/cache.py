"""What all sessions share, and the only ``st.cache_*`` calls: models, and indexes under a hash
of their documents' contents, names and access and of the knobs that shape them.

Every function here is slow the first time and belongs in a job. Arguments whose names begin
with an underscore are not part of a key; the hash beside them stands for them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.errors import ModelError
from core.settings import Settings
from dashboard.jobs import Job
from dashboard.link import View
from dashboard.models import EMBEDDED, ModelChoice
from dashboard.originals import Original
from dashboard.shelf import Shelf

if TYPE_CHECKING:
    from core.index.index import Index
    from core.ingest import Ingested, Source
    from core.ingest.picture import Picture
    from core.pipeline import Pipeline
    from core.records import Chunk, Document
    from core.trace import Trace

INDEXES_KEPT = 6
MODELS_KEPT = 3
CHUNKINGS_KEPT = 256
PICTURES_KEPT = 64

_answering = threading.Lock()
"""One question at a time: two would only share the cores, and compute the same stage twice."""


def answering() -> threading.Lock:
    """Held while a question is asked."""
    return _answering


@dataclass(frozen=True)
class Models:
    """The loaded models, or why there are none: BM25 then works alone, and traces say so."""

    pipeline: Pipeline
    encoder: Any = None
    error: ModelError | None = None


def models(choice: ModelChoice = EMBEDDED) -> Models:
    """The chosen models, loaded once for the process. What they lack is in the traces."""
    return _models(astuple(choice), choice)


@st.cache_resource(show_spinner=False, max_entries=MODELS_KEPT)
def _models(key: tuple[Any, ...], _choice: ModelChoice) -> Models:
    from core.index.cache import default_root
    from core.index.scores import ScoreCache
    from core.models.consent import parse_consents
    from core.models.profiles import load_encoder, load_rerankers
    from core.pipeline import Pipeline

    scores = ScoreCache(default_root())
    wanted, consents = _choice.models, parse_consents(_choice.trust)
    encoder, error, download = None, None, _choice.download
    try:
        encoder = load_encoder(wanted.encoder, download=download, trust=consents)
    except ModelError as missing:
        error = missing
    rerankers = load_rerankers(wanted, encoder, download=download, trust=consents)
    why = str(error) if error else ""
    return Models(Pipeline(encoder, rerankers, scores=scores, no_encoder=why), encoder, error)


def index(shelf: Shelf, settings: Settings, choice: ModelChoice, job: Job) -> Index:
    """The index of a shelf, read by the chosen encoder."""
    job.progress(0, 0, "Loading the embedding model")
    encoder = models(choice).encoder
    knobs = tuple(sorted(settings.of_groups("documents").items()))
    read_by = encoder.fingerprint if encoder is not None else ""
    return _index(shelf.fingerprint, knobs, read_by, shelf, settings, encoder, job)


@st.cache_resource(show_spinner=False, max_entries=INDEXES_KEPT)
def _index(
    fingerprint: str,
    knobs: tuple[tuple[str, Any], ...],
    read_by: str,
    _shelf: Shelf,
    _settings: Settings,
    _encoder: Any,
    _job: Job,
) -> Index:
    from core.index.build import build_index
    from core.index.cache import ArrayCache, default_root

    return build_index(
        _shelf.documents,
        _settings,
        _encoder,
        cache=ArrayCache(default_root()),
        progress=lambda done, total, name: _job.progress(done, total, "Indexing", name),
        cancelled=_job.cancelled,
    )


def chunks(document: Document, settings: Settings) -> tuple[Chunk, ...]:
    """A document's chunks: quick, and there before any model is."""
    return _chunks(document.id, settings.chunk_tokens, settings.chunk_overlap, document)


@st.cache_resource(show_spinner=False, max_entries=CHUNKINGS_KEPT)
def _chunks(
    document_id: str, chunk_tokens: int, chunk_overlap: int, _document: Document
) -> tuple[Chunk, ...]:
    from core.chunking import chunk_document
    from core.tokens import wordpiece

    return chunk_document(_document, wordpiece(), chunk_tokens, chunk_overlap)


def trace(found: Index, view: View, job: Job) -> Trace:
    """The trace of a view over an index."""
    with _answering:
        return models(view.models).pipeline.run(
            found,
            view.question,
            view.settings,
            view.mode,
            view.principal,
            cancelled=job.cancelled,
        )


def read(sources: Sequence[Source], job: Job) -> list[Ingested]:
    """The documents of some sources, and an error for each that cannot be read."""
    from core.index.cache import default_root
    from core.ingest import ingest

    return ingest(
        sources,
        cache=default_root(),
        progress=lambda done, total, name: job.progress(done, total, "Reading", name),
        cancelled=job.cancelled,
    )


def page_picture(original: Original, number: int, password: str | None, job: Job) -> Picture:
    """A page of a PDF. Of a locked file nothing is kept here: who asks must know the password.

    Raises:
        DocumentError: where the file is gone or has changed, or the page cannot be drawn.
    """
    if password is not None:
        return _drawn(original, number, password, job)
    return _page_picture(original.digest, number, original, job)


@st.cache_resource(show_spinner=False, max_entries=PICTURES_KEPT)
def _page_picture(digest: str, number: int, _original: Original, _job: Job) -> Picture:
    return _drawn(_original, number, None, _job)


def _drawn(original: Original, number: int, password: str | None, job: Job) -> Picture:
    from core.ingest.picture import page_picture

    return page_picture(original.source(password), number, cancelled=job.cancelled)
