"""What a run leaves behind: the contract between the pipeline and everything that shows it.

A :class:`Trace` is complete: the scores of the whole corpus, a record of each stage, the
text of every chunk that a stage touched, the passages and the prompt. A view reads a
trace and retrieves nothing. It goes to JSON and back without loss.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from core.errors import TraceFormatError
from core.plain import build, parse, plain
from core.records import NO_SCORES, Chunk, Principal, chunk_id
from core.settings import STAGES

SCHEMA_VERSION = 1

KEPT, ADDED, DROPPED = "kept", "added", "dropped"

EVIDENCE = "evidence"
INSUFFICIENT = "insufficient_evidence"
NOTHING_FITS = "nothing_fits"
NOTHING_ARRIVED = "nothing_arrived"
OUTCOMES = {
    EVIDENCE: "Evidence found",
    INSUFFICIENT: "Insufficient evidence: no chunk is relevant enough to answer from",
    NOTHING_FITS: "Nothing fits: every relevant chunk is larger than the evidence budget",
    NOTHING_ARRIVED: "Nothing arrived: no chunk is on the last list that the import holds",
}

NOT_IN_MODE, NOT_RECORDED = "not in this mode", "not recorded"
"""Why a stage has nothing to show. The second is ``how`` of a stage that an import lacks."""


class Entry(NamedTuple):
    """What one stage did to one chunk. A named tuple: a run makes hundreds of them, and a frozen
    dataclass costs four times as much to make.

    ``rank`` counts from 1 in the order that leaves the stage, and is None for a chunk
    that the stage dropped. ``score`` orders; ``scores`` are the numbers that this stage
    gave, by name. ``cause`` is the chunk that stood in the way, ``margin`` how far this
    one was from the other side of the decision, in the unit that ``reason`` names
    (negative: it fell short by so much). A score that is not a number is None.
    """

    chunk_id: str
    fate: str
    rank: int | None = None
    score: float | None = None
    scores: Mapping[str, float | None] = NO_SCORES
    reason: str = ""
    cause: str = ""
    margin: float | None = None
    relevance: float | None = None
    anchor: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage: what came in, what it did, what left.

    ``kept`` and ``added`` together are what leaves, best first within each; ``dropped``
    is what this stage lost. A stage that the mode does not use has ``ran`` False and
    passes everything on; so has one of which an imported trace knows nothing, and its ``how``
    says :data:`NOT_RECORDED`. ``degraded`` says why a model could not do its part.
    ``last_kept`` is the chunk that took the last place, ``cut_score`` its score.
    """

    name: str
    ran: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    model: str = ""
    how: str = ""
    entered: int = 0
    passed: int = 0
    kept: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    warnings: tuple[str, ...] = ()
    degraded: str = ""
    tokens_read: int = 0
    last_kept: str = ""
    cut_score: float | None = None

    @property
    def recorded(self) -> bool:
        """Whether the trace knows what this stage did, or that it did nothing."""
        return self.ran or self.how != NOT_RECORDED

    @property
    def absence(self) -> str:
        """Why there is nothing to show, in a few words; empty for a stage that ran."""
        return "" if self.ran else NOT_IN_MODE if self.recorded else NOT_RECORDED


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document that the principal may see; ``chunks`` is how many it has.

    ``page_chunks`` holds for each page, in order, the ordinal of the first chunk that
    begins on it or after it; () where that is not known.
    """

    id: str
    name: str
    title: str
    chunks: int
    characters: int
    pages: int
    date: str = ""
    priority: int = 0
    page_chunks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CorpusScores:
    """Scores of every visible chunk, documents in the trace's order, chunks by ordinal.

    Each value is little-endian float32 bytes, so that equal scores are equal records.
    """

    bm25: bytes = b""
    dense: bytes = b""
    fused: bytes = b""
    sparse: bytes = b""

    def array(self, name: str) -> np.ndarray:
        """float32[chunks], read-only; empty where that score was not computed."""
        return np.frombuffer(getattr(self, name), dtype="<f4")

    @staticmethod
    def pack(scores: np.ndarray | None) -> bytes:
        return b"" if scores is None else np.ascontiguousarray(scores, dtype="<f4").tobytes()


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk in the prompt. ``tokens`` counts its label and the text shown.

    ``start`` and ``end`` are those of the text shown: a passage trimmed to fit, or one
    whose beginning another passage already showed, is shorter than its chunk.
    """

    chunk_id: str
    document: str
    document_id: str
    pages: tuple[int, ...]
    start: int
    end: int
    tokens: int
    number: int
    citation: str
    text: str
    score: float | None = None
    trimmed: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where the tokens of the model window go, by ``counter``'s own count."""

    counter: str = ""
    instructions: int = 0
    question: int = 0
    evidence: int = 0
    reserve: int = 0
    total: int = 0
    window: int = 0
    evidence_budget: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """A question's whole way through the pipeline.

    ``origin`` names the other pipeline that an imported trace is of; ``foreign_ids`` are its
    own ids of the chunks, by the ids that they have here.
    """

    question: str
    mode: str
    settings: Mapping[str, Any]
    outcome: str
    principal: Principal | None = None
    corpus: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[DocumentInfo, ...] = ()
    corpus_scores: CorpusScores = CorpusScores()
    stages: tuple[StageRecord, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    selected: tuple[Passage, ...] = ()
    prompt: str = ""
    ledger: Ledger = Ledger()
    warnings: tuple[str, ...] = ()
    origin: str = ""
    foreign_ids: Mapping[str, str] = field(default_factory=dict)
    schema: int = SCHEMA_VERSION

    def stage(self, name: str) -> StageRecord:
        """The record of that stage. KeyError where there is none."""
        for record in self.stages:
            if record.name == name:
                return record
        raise KeyError(name)

    def named_models(self) -> dict[str, str]:
        """Each model as a person knows it, by its part, with the end of its fingerprint:
        two that differ only in that gave other numbers."""
        names = {"encoder" if s.name == "first_stage" else s.name: s.model for s in self.stages}
        return {
            part: f"{names[part]}, {mark[-8:]}" if names.get(part, mark) != mark else mark
            for part, mark in self.models.items()
        }

    @property
    def degraded(self) -> tuple[StageRecord, ...]:
        """The stages in which a model did not do its part."""
        return tuple(s for s in self.stages if s.degraded)

    def without_timings(self) -> Trace:
        """This trace with every duration set to 0: equal for equal inputs."""
        stages = tuple(dataclasses.replace(s, seconds=0.0) for s in self.stages)
        return dataclasses.replace(self, stages=stages)

    def to_json(self, indent: int | None = None) -> str:
        """One JSON document that :meth:`from_json` reads back to an equal trace."""
        return json.dumps(plain(self), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """A trace from :meth:`to_json`'s text.

        Raises:
            TraceFormatError: where the text is not a trace of this schema version.
        """
        try:
            data = parse(text)
        except ValueError as error:
            raise TraceFormatError("trace", f"is not JSON ({error})", _CHOOSE) from None
        if not isinstance(data, dict) or "schema" not in data or "stages" not in data:
            raise TraceFormatError("trace", "is JSON, but not a saved trace", _CHOOSE)
        if type(data["schema"]) is not int or data["schema"] != SCHEMA_VERSION:
            raise TraceFormatError(
                "trace",
                f"has schema version {data['schema']!r:.40}",
                f"This version of Chunkscope reads version {SCHEMA_VERSION}.",
            )
        try:
            trace = build(cls, data)
            _check(trace)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise TraceFormatError("trace", f"is damaged ({error})", "Save it again.") from None
        return trace


_CHOOSE = "Choose a file that the export of a trace as JSON gave."


def _check(trace: Trace) -> None:
    """What a view relies on, and types cannot say. ValueError where it does not hold."""
    if trace.outcome not in OUTCOMES:
        raise ValueError(f"{trace.outcome!r:.40} is not an outcome")
    if tuple(s.name for s in trace.stages) != STAGES:
        raise ValueError("its stages are not those of the pipeline")
    sizes = {d.id: d.chunks for d in trace.documents}
    if len(sizes) < len(trace.documents) or min(sizes.values(), default=0) < 0:
        raise ValueError("its list of documents contradicts itself")
    for name in ("bm25", "dense", "fused", "sparse"):
        held = len(getattr(trace.corpus_scores, name))
        if held not in (0, 4 * sum(sizes.values())):
            raise ValueError(
                f"it has {held} bytes of {name} scores for {sum(sizes.values())} chunks"
            )
    for c in trace.chunks:
        if not 0 <= c.ordinal < sizes.get(c.document_id, 0) or c.id != chunk_id(
            c.document_id, c.ordinal
        ):
            raise ValueError(f"chunk {c.id!r:.60} is not of its documents")
    held_ids = {c.id for c in trace.chunks}
    named = {e.chunk_id for s in trace.stages for e in s.entries}
    if strange := (named | {p.chunk_id for p in trace.selected}) - held_ids:
        raise ValueError(f"it does not hold chunk {min(strange)!r:.60}")
