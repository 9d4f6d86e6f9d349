"""Everything that the stages look things up in, for one set of documents.

An index is put together from parts, one a document, and a part depends on its document
alone. So adding, removing or hiding a document changes nothing in the others, and
:meth:`Index.restricted` equals an index that was built without what it hides.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from core.index.bm25 import BM25Index, TermCounts
from core.index.sparse import SparseIndex
from core.models.states import SpanStates
from core.records import Chunk, Document, Principal
from core.rendering import PassageCost
from core.tokens import TokenCounter


@dataclass(frozen=True, eq=False)
class DocumentPart:
    """One document, ready to be searched. ``states`` is None without an encoder, whose
    fingerprint ``encoder`` is; empty where it is not known."""

    document: Document
    chunks: tuple[Chunk, ...]
    counts: TermCounts
    states: SpanStates | None
    key: str
    encoder: str = ""


class Index:
    """The chunks of a set of documents, with their statistics and states.

    Rows are chunks in the order of ties: by source priority (highest first), document id
    and ordinal, whatever order the parts come in.
    """

    def __init__(self, parts: Sequence[DocumentPart], counter: TokenCounter) -> None:
        self.parts = tuple(sorted(parts, key=lambda p: (-p.document.priority, p.document.id)))
        self.counter = counter
        self.documents: tuple[Document, ...] = tuple(p.document for p in self.parts)
        self.chunks: tuple[Chunk, ...] = tuple(c for p in self.parts for c in p.chunks)
        self.chunk_ids: tuple[str, ...] = tuple(c.id for c in self.chunks)
        self._rows = {chunk: row for row, chunk in enumerate(self.chunk_ids)}
        self._documents = {d.id: d for d in self.documents}
        self._starts = list(accumulate((len(p.chunks) for p in self.parts), initial=0))
        self._visible: dict[Principal, Index] = {}
        self._derived: dict[tuple[str, str], Any] = {}
        packed = "\n".join([counter.name, *(p.key for p in self.parts)])
        self.fingerprint = hashlib.sha256(packed.encode()).hexdigest()[:16]

    def restricted(self, principal: Principal | None) -> Index:
        """The index as if only the documents that ``principal`` may read had been added."""
        if principal is None:
            return self
        if principal not in self._visible:
            parts = [p for p in self.parts if principal.may_read(p.document.access)]
            whole = len(parts) == len(self.parts)
            self._visible[principal] = self if whole else Index(parts, self.counter)
        return self._visible[principal]

    def row(self, chunk_id: str) -> int:
        """The row of a chunk. KeyError where there is none."""
        return self._rows[chunk_id]

    def holds(self, chunk_id: str) -> bool:
        """Whether one of the documents has that chunk."""
        return chunk_id in self._rows

    def chunk(self, chunk_id: str) -> Chunk:
        return self.chunks[self._rows[chunk_id]]

    def document(self, document_id: str) -> Document:
        return self._documents[document_id]

    def document_rows(self) -> Iterator[tuple[Document, int, int]]:
        """Each document with the rows of its chunks, first to one past the last."""
        for i, document in enumerate(self.documents):
            yield document, self._starts[i], self._starts[i + 1]

    def document_range(self, row: int) -> tuple[int, int]:
        """First row, and one past the last, of the document that a row belongs to."""
        part = self._part_of(row)
        return self._starts[part], self._starts[part + 1]

    def _part_of(self, row: int) -> int:
        return bisect_right(self._starts, row) - 1

    @cached_property
    def bm25(self) -> BM25Index:
        """Term statistics over exactly these chunks."""
        return BM25Index.merge([p.counts for p in self.parts])

    @cached_property
    def passage_cost(self) -> PassageCost:
        """What labels cost by this index's counter, kept between runs."""
        return PassageCost(self.counter)

    @property
    def has_states(self) -> bool:
        return bool(self.parts) and all(p.states is not None for p in self.parts)

    def read_by(self, encoder: str) -> bool:
        """Whether the encoder of that fingerprint read the documents, as far as is known."""
        return all(p.encoder in ("", encoder) for p in self.parts)

    @cached_property
    def vectors(self) -> np.ndarray | None:
        """float32[chunks, d], unit rows, or None without an encoder."""
        if not self.has_states:
            return None
        if len(self.parts) == 1:
            return self.parts[0].states.vectors
        return np.concatenate([p.states.vectors for p in self.parts])

    @cached_property
    def sparse(self) -> SparseIndex | None:
        """Lexical weights, or None where the encoder learns none."""
        held = [p.states.sparse if p.states is not None else None for p in self.parts]
        if not held or any(h is None for h in held):
            return None
        return SparseIndex.merge(held)

    def states(self, rows: Sequence[int]) -> SpanStates:
        """The token states of some rows, in their order, as they were read in context."""
        pieces, counts, truncated = [], [0], []
        for row in rows:
            part = self._part_of(row)
            held, local = self.parts[part].states, row - self._starts[part]
            pieces.append(held.tokens_of(local))
            counts.append(len(pieces[-1]))
            truncated.append(held.truncated[local])
        states = np.concatenate(pieces) if pieces else np.zeros((0, 128), dtype=np.int8)
        return SpanStates(
            self.vectors[list(rows)], states, np.cumsum(counts), np.array(truncated, dtype=np.int32)
        )

    def derived(self, chunk: Chunk, name: str, compute: Callable[[str], Any]) -> Any:
        """``compute(chunk.text)``, kept: what stages ask of one chunk again and again."""
        return self._kept_for((chunk.id, name), lambda: compute(chunk.text))

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """``compute()``, kept: what every trace says of the whole index."""
        return self._kept_for(("", name), compute)

    def _kept_for(self, key: tuple[str, str], compute: Callable[[], Any]) -> Any:
        if key not in self._derived:
            self._derived[key] = compute()
        return self._derived[key]

    def explain_bm25(self, terms: Sequence[str], chunk_id: str, k1: float, b: float):
        """What each term adds to a chunk's BM25 score; see :meth:`BM25Index.explain`."""
        return self.bm25.explain(self.row(chunk_id), terms, k1, b)
