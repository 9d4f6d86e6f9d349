"""A trace opened for looking things up: where a chunk stands, what each stage said of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.fates import Fate, Fates
from core.ranking import descending, ranks
from core.records import Chunk, chunk_id
from core.settings import STAGES
from core.trace import DocumentInfo, Entry, StageRecord, Trace

STAGE_TITLES: Mapping[str, str] = {
    "access": "Access",
    "first_stage": "First stage",
    "rerank_1": "Rerank 1",
    "extend": "Windows",
    "rerank_2": "Rerank 2",
    "relevance": "Relevance",
    "dedup": "Duplicates",
    "diversity": "Diversity",
    "budget": "Budget",
    "order": "Order",
    "prompt": "Prompt",
}
"""What each stage is called where a person reads."""

_CHUNK_ID = re.compile(r"\b[0-9a-f]{16}:\d{6}\b")


@dataclass(frozen=True, slots=True)
class Place:
    """A document of the trace, the corpus row of its first chunk, and how many it has."""

    document: DocumentInfo
    first: int

    @property
    def stop(self) -> int:
        return self.first + self.document.chunks


class Lookup:
    """Read-only views of one trace. A *row* is a chunk's place in ``trace.corpus_scores``."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.chunks: dict[str, Chunk] = {c.id: c for c in trace.chunks}
        self.places: dict[str, Place] = {}
        row = 0
        for document in trace.documents:
            self.places[document.id] = Place(document, row)
            row += document.chunks
        self.total = row
        self._firsts = [p.first for p in self.places.values()]
        self._in_order = list(self.places.values())

    @cached_property
    def _fates(self) -> Fates:
        return Fates(self.trace)

    @cached_property
    def entries(self) -> Mapping[str, Mapping[str, Entry]]:
        """Stage name → chunk id → what that stage did to it."""
        return {s.name: {e.chunk_id: e for e in s.entries} for s in self.trace.stages}

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Chunk id → its citation number in the prompt."""
        return {p.chunk_id: p.number for p in self.trace.selected}

    @cached_property
    def passage_ranks(self) -> Mapping[str, int]:
        """Chunk id → its rank among the passages, best first, from 1.

        The prompt may show passages in reading order; this is the order in which they won.
        """
        kept = [i for i in self._kept("budget") if i in self.numbers]
        kept += [i for i in self.numbers if i not in set(kept)]
        return {c: rank for rank, c in enumerate(kept, 1)}

    def _kept(self, stage: str) -> tuple[str, ...]:
        record = self.stage(stage)
        return record.kept if record else ()

    def stage(self, name: str) -> StageRecord | None:
        return next((s for s in self.trace.stages if s.name == name), None)

    def ran(self, name: str) -> bool:
        """Whether the mode used that stage."""
        record = self.stage(name)
        return record is not None and record.ran

    # rows

    def row(self, chunk: str) -> int:
        """The row of a chunk id. KeyError for a document that the trace does not name."""
        document, _, ordinal = chunk.rpartition(":")
        place = self.places[document]
        digits = ordinal.isascii() and ordinal.isdigit()
        if not digits or int(ordinal) >= place.document.chunks:
            raise KeyError(chunk)
        return place.first + int(ordinal)

    def rows(self, chunks: Iterable[str]) -> np.ndarray:
        """int64[n] of the rows of those ids."""
        return np.array([self.row(c) for c in chunks], dtype=np.int64)

    def place_of(self, row: int) -> Place:
        """The document that holds a row."""
        return self._in_order[bisect_right(self._firsts, row) - 1]

    def id_of(self, row: int) -> str:
        place = self.place_of(row)
        return chunk_id(place.document.id, row - place.first)

    def known(self, chunk: str) -> bool:
        """Whether the trace's documents hold that chunk."""
        try:
            self.row(chunk)
        except KeyError:
            return False
        return True

    def document(self, chunk: str) -> DocumentInfo:
        """The document of a chunk. KeyError where the trace does not name it."""
        return self.places[chunk.rpartition(":")[0]].document

    unknown = "not among its documents"
    unknown_stage = "access"
    """What is said of a chunk that is not :meth:`known`, and where it counts as lost."""

    # the whole corpus

    def scores(self, name: str) -> np.ndarray:
        """float32[chunks] of "bm25", "dense", "sparse" or "fused"; empty where it was not computed."""
        return self.trace.corpus_scores.array(name)

    @cached_property
    def _ranks(self) -> dict[str, np.ndarray]:
        return {}

    def corpus_ranks(self, name: str) -> np.ndarray:
        """int64[chunks]: ranks from 1 in the whole corpus; empty where there are no scores.

        0 for a BM25 or sparse score of 0: a chunk without any term of the question has no rank.
        """
        if name not in self._ranks:
            scores = self.scores(name)
            ranked = ranks(descending(scores)) if len(scores) else np.zeros(0, dtype=np.int64)
            if name in ("bm25", "sparse"):
                ranked = np.where(scores > 0, ranked, 0)
            self._ranks[name] = ranked
        return self._ranks[name]

    # words

    def where(self, chunk: str) -> str:
        """``chunk 12`` or ``chunk 12, page 3``, counted from 1."""
        row = self.row(chunk)
        place = self.place_of(row)
        page = pages_in_words(self.pages(chunk))
        return f"chunk {row - place.first + 1:,}" + (f", {page}" if page else "")

    def named(self, chunk: str) -> str:
        """``faq.txt, chunk 12``; the id itself for a chunk that the trace does not know."""
        if not self.known(chunk):
            return chunk
        return f"{self.place_of(self.row(chunk)).document.name}, {self.where(chunk)}"

    def pages(self, chunk: str) -> tuple[int, ...]:
        """(first, last) page, or () where there are none or the trace does not say.

        Of a chunk that no stage touched only the first page is known: it stands for both.
        """
        info = self.chunks.get(chunk)
        if info:
            return info.pages
        place = self.place_of(self.row(chunk))
        page = bisect_right(place.document.page_chunks, self.row(chunk) - place.first)
        return (page, page) if page else ()

    def seen_from(self, chunk: str, other: str) -> str:
        """How ``other`` is called beside ``chunk``: without the name of a document they share."""
        same = chunk.rpartition(":")[0] == other.rpartition(":")[0]
        return self.where(other) if same and self.known(other) else self.named(other)

    def readable(self, sentence: str, chunk: str = "") -> str:
        """A stage's reason with chunk ids replaced by document and number."""
        return _CHUNK_ID.sub(lambda match: self.seen_from(chunk, match.group()), sentence)

    def fate(self, chunk: str) -> Fate:
        """Where a chunk ended; one that no stage names was below the candidates."""
        return self._fates.of(chunk)

    def reason(self, chunk: str) -> str:
        """Why a chunk ended where it did, with the chunk that stood in its way."""
        fate = self.fate(chunk)
        reason = self.readable(fate.reason, chunk)
        if fate.cause and fate.stage in ("dedup", "diversity"):
            reason += f" ({self.seen_from(chunk, fate.cause)})"
        return reason


def how_far(fate: Fate) -> int:
    """How many stages a chunk passed; more is further."""
    return STAGES.index(fate.stage) if fate.stage in STAGES else len(STAGES)


def pages_in_words(pages: tuple[int, ...]) -> str:
    """``page 3``, ``pages 3 to 4``, or nothing."""
    if not pages:
        return ""
    first, last = pages[0], pages[-1]
    return f"page {first}" if first == last else f"pages {first} to {last}"
