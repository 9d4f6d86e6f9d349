"""Indexes whose chunks are given as they are, and rerankers that answer as they are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from core.index.bm25 import count_terms
from core.index.index import DocumentPart, Index
from core.models.protocols import Reranking, RerankRequest
from core.modes import mode_named
from core.pipeline import Pipeline
from core.records import Candidate, Chunk, Document, chunk_id
from core.settings import Settings
from core.stages.base import Run, State
from core.tokens import WordCounter
from core.trace import StageRecord
from tests.fakes import HashingEncoder
from tests.worlds import document

WORDS = WordCounter()


def index_of(
    texts: Mapping[str, Sequence[str]], *, encoder: object | None = None, **more: Mapping
) -> Index:
    """An index with exactly these chunks.

    Args:
        texts: by document name, the text of each of its chunks.
        more: further fields of documents, by field and then by name: ``date={"a": "2026-01-01"}``.
    """
    encoder = encoder or HashingEncoder()
    parts = []
    for name, chunks in texts.items():
        own = {field: values[name] for field, values in more.items() if name in values}
        parts.append(_part(document("\n\n".join(chunks), name, **own), chunks, encoder))
    return Index(parts, WORDS)


def _part(made: Document, texts: Sequence[str], encoder) -> DocumentPart:
    chunks, at = [], 0
    for ordinal, text in enumerate(texts):
        pages = [p.number for p in made.pages if p.start < at + len(text) and at < p.end]
        chunks.append(
            Chunk(
                id=chunk_id(made.id, ordinal),
                document_id=made.id,
                ordinal=ordinal,
                start=at,
                end=at + len(text),
                text=text,
                tokens=WORDS.count(text),
                pages=(pages[0], pages[-1]) if pages else (),
            )
        )
        at += len(text) + 2
    spans = [(c.start, c.end) for c in chunks]
    states = encoder.encode_spans(made.text, spans)
    key = f"{made.id} {made.name} {spans}"
    return DocumentPart(made, tuple(chunks), count_terms(texts), states, key)


def named(index: Index, name: str) -> str:
    """The id of a chunk called ``a2``: the second chunk of document ``a``."""
    wanted = next(d for d in index.documents if d.name == name[:-1])
    return chunk_id(wanted.id, int(name[-1]) - 1)


def names(index: Index, ids: Sequence[str]) -> list[str]:
    """Ids as ``a2``."""
    chunks = [index.chunk(i) for i in ids]
    return [f"{index.document(c.document_id).name}{c.ordinal + 1}" for c in chunks]


def run_over(index: Index, mode: str = "rerank_extend_rerank", question: str = "?", **more) -> Run:
    return Run(index=index, question=question, mode=mode_named(mode), rerankers={}, **more)


def ranked(index: Index, scores: Mapping[str, float], **more: Mapping[str, object]) -> State:
    """A state with these candidates, best first. ``more`` as for :func:`index_of`."""
    order = sorted(scores, key=lambda name: -scores[name])
    return State(
        tuple(
            Candidate(
                named(index, name),
                scores[name],
                **{field: values[name] for field, values in more.items() if name in values},
            )
            for name in order
        )
    )


def entries(record: StageRecord, index: Index) -> dict:
    """The entries of a record by chunk name."""
    ids = [e.chunk_id for e in record.entries]
    return dict(zip(names(index, ids), record.entries, strict=True))


class Told:
    """A reranker that answers what a function of its request says."""

    name = "told"

    def __init__(
        self, answer: Callable[[RerankRequest], object], fingerprint: str = "told"
    ) -> None:
        self._answer, self.fingerprint = answer, fingerprint
        self.calls = 0

    def rerank(self, request: RerankRequest) -> Reranking:
        self.calls += 1
        return self._answer(request)


def scores_by_word(scores: Mapping[str, float], **more) -> Told:
    """A reranker that knows a chunk by a word of it, and gives its score as its relevance too."""

    def answer(request: RerankRequest) -> Reranking:
        given = np.array(
            [next(s for w, s in scores.items() if w in c.text) for c in request.chunks]
        )
        return Reranking(scores=given, raw=given, relevance=given, **more)

    return Told(answer)


def ask(
    index: Index,
    reranker: object | None = None,
    mode: str = "bge_rerank",
    question: str = "alpha beta gamma",
    encoder: object | None = None,
    **knobs,
):
    """The trace of a question that one reranker serves in every kind; no threshold unless given."""
    kinds = ("piecewise", "listwise", "context")
    rerankers = dict.fromkeys(kinds, reranker) if reranker else {}
    pipeline = Pipeline(encoder or HashingEncoder(), rerankers)
    knobs = {"relevance_threshold": 0.0} | knobs
    return pipeline.run(index, question, Settings(**knobs), mode)
