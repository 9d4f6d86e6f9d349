"""A question through every stage: ``Pipeline.run`` gives a complete :class:`Trace`.

Stages are pure, so what one gave is kept under a key of all that it depends on. A knob
that is moved re-runs its own stage and those after it; earlier records come back as they
were, timings included.
"""

from __future__ import annotations

import hashlib
import json
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from core.errors import Cancelled, ModelError, SettingsError
from core.index.index import Index
from core.index.scores import ScoreCache
from core.kept import Kept
from core.models.protocols import Reranker
from core.modes import DEFAULT_MODE, Mode, mode_named
from core.records import Chunk, Document, Principal
from core.settings import Settings
from core.stages.access import access
from core.stages.base import Run, Stage, State
from core.stages.budget import budget
from core.stages.dedup import dedup
from core.stages.diversity import diversity
from core.stages.extend import extend
from core.stages.first_stage import first_stage
from core.stages.order import order
from core.stages.prompt import assemble, prompt
from core.stages.relevance import relevance
from core.stages.rerank import rerank_1, rerank_2
from core.trace import (
    EVIDENCE,
    INSUFFICIENT,
    NOTHING_FITS,
    CorpusScores,
    DocumentInfo,
    StageRecord,
    Trace,
)

STAGE_TABLE: tuple[tuple[str, Stage, tuple[str, ...]], ...] = (
    ("access", access, ()),
    ("first_stage", first_stage, ("first_stage",)),
    ("rerank_1", rerank_1, ("rerank",)),
    ("extend", extend, ("extend",)),
    ("rerank_2", rerank_2, ("rerank",)),
    ("relevance", relevance, ("relevance",)),
    ("dedup", dedup, ("dedup",)),
    ("diversity", diversity, ("diversity",)),
    ("budget", budget, ("budget", "prompt")),
    ("order", order, ("order",)),
    ("prompt", prompt, ("prompt",)),
)
"""Each stage with the groups of knobs that it reads."""

KEPT = 500_000
"""The default weight of kept stage results: some hundred runs, or 150 MB."""


class Pipeline:
    """Runs questions over indexes, and keeps what stages gave for the next run.

    Args:
        encoder: reads questions; None where no model is loaded.
        rerankers: by kind: "piecewise", "listwise", "context". A kind that is missing degrades.
        kept: how many candidates and entries the kept stage results may hold together;
            one takes some 300 bytes.
        scores: where slow models' scores are kept across runs of the program; None keeps none.
        no_encoder: why there is no encoder, for the trace.
    """

    def __init__(
        self,
        encoder: Any = None,
        rerankers: Mapping[str, Reranker] | None = None,
        kept: int = KEPT,
        *,
        scores: ScoreCache | None = None,
        no_encoder: str = "",
    ) -> None:
        self.encoder = encoder
        self.scores = scores
        self.no_encoder = no_encoder or "no encoder is loaded"
        self.rerankers = dict(rerankers or {})
        self._results: Kept[tuple[State, StageRecord]] = Kept(kept, _weight)
        self._memos: Kept[MutableMapping[str, float]] = Kept(64)
        self._read: Kept[MutableMapping[str, Any]] = Kept(64)

    def run(
        self,
        index: Index,
        question: str,
        settings: Settings = Settings(),
        mode: str = DEFAULT_MODE,
        principal: Principal | None = None,
        *,
        cancelled: Callable[[], bool] | None = None,
        strict: bool = False,
    ) -> Trace:
        """The trace of ``question``.

        Args:
            principal: who asks; None is the owner, who may read everything.
            cancelled: asked between stages and batches; True raises :class:`Cancelled`.
            strict: a stage that degrades is an error.

        Raises:
            SettingsError: an empty question or an unknown mode.
            EmptyIndexError: no chunk that the principal may read.
            Cancelled: ``cancelled`` answered True.
            ModelError: under ``strict``, naming the first stage that degraded, and why.
        """
        if not question.strip():
            raise SettingsError("the question", "is empty", "Type one.")
        question = question.encode("utf-8", "replace").decode()  # no lone surrogates
        row = mode_named(mode)
        run = self.prepared(index.restricted(principal), question, row, cancelled)
        state, records = self._stages(run, settings, strict)
        return _trace(run, settings, principal, state, records)

    def _stages(
        self, run: Run, settings: Settings, strict: bool
    ) -> tuple[State, list[StageRecord]]:
        state, records = State(), []
        key = _key(run.index.fingerprint, run.question, self._models_key())
        for name, stage, groups in STAGE_TABLE:
            if run.cancelled and run.cancelled():
                raise Cancelled
            # The knobs of a stage that the mode leaves out change nothing.
            knobs = settings.of_groups(*groups) if run.mode.runs(name) else {}
            key = _key(key, name, part_of_mode(run.mode, name), knobs)
            held = self._results.get(key)
            if held is None:
                began = time.perf_counter()
                state, record = stage(state, settings, run)
                held = state, replace(record, seconds=time.perf_counter() - began)
                if not record.degraded:  # what failed once is tried again next time
                    self._results.put(key, held)
            state, record = held
            records.append(record)
            if record.degraded:
                if strict:
                    raise ModelError(name, f"could not do its part: {record.degraded}")
                # What follows from a failure must not be taken for what follows from success.
                key = _key(key, record.degraded)
        return state, records

    def _models_key(self) -> list[str]:
        return [
            self.encoder.fingerprint if self.encoder else "",
            *(f"{kind}={r.fingerprint}" for kind, r in sorted(self.rerankers.items())),
        ]

    def prepared(
        self, visible: Index, question: str, mode: Mode, cancelled: Callable[[], bool] | None = None
    ) -> Run:
        """What the stages look things up in, with what earlier runs of the question have kept."""
        key = (visible.fingerprint, question)
        return Run(
            index=visible,
            question=question,
            mode=mode,
            rerankers=self.rerankers,
            encoder=self.encoder,
            memo=lambda model: _mapping(self._memos, (*key, model)),
            read=_mapping(self._read, key),
            kept_scores=self.scores,
            no_encoder=self.no_encoder,
            cancelled=cancelled,
        )


def _mapping(kept: Kept[MutableMapping[str, Any]], key: tuple[str, ...]) -> MutableMapping:
    """The mapping kept under a key; a new one where there is none."""
    held = kept.get(key)
    return kept.put(key, {}) if held is None else held


def _weight(held: tuple[State, StageRecord]) -> int:
    """What a kept result weighs: its candidates and entries, and one for itself."""
    state, record = held
    return 1 + len(state.candidates) + len(record.entries)


def _key(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def part_of_mode(mode: Mode, stage: str) -> list[str]:
    """What of the mode a stage depends on, so that modes share the stages they have in common."""
    if stage == "extend":
        return [mode.windows_from]
    return [getattr(mode, stage)] if stage in ("first_stage", "rerank_1", "rerank_2") else []


def _trace(
    run: Run,
    settings: Settings,
    principal: Principal | None,
    state: State,
    records: list[StageRecord],
) -> Trace:
    assembled = assemble(state, settings, run)
    touched = dict.fromkeys(e.chunk_id for r in records for e in r.entries)
    query = state.query
    ranked = run.mode.first_stage != "whole"
    return Trace(
        question=run.question,
        mode=run.mode.name,
        settings=settings.to_dict(),
        outcome=_outcome(records),
        principal=principal,
        corpus=run.index.fingerprint,
        models=_models(run, records),
        documents=run.index.once("documents", lambda: _documents(run.index)),
        corpus_scores=CorpusScores(
            bm25=CorpusScores.pack(query.bm25 if ranked else None),
            dense=CorpusScores.pack(query.dense),
            fused=CorpusScores.pack(query.fused if ranked else None),
            sparse=CorpusScores.pack(query.sparse),
        ),
        stages=tuple(records),
        chunks=tuple(run.index.chunk(chunk_id) for chunk_id in touched),
        selected=assembled.selected,
        prompt=assembled.prompt,
        ledger=assembled.ledger,
    )


def _page_chunks(document: Document, chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """For each page the ordinal of the first chunk that begins on it or after it."""
    starts = [c.start for c in chunks]
    return tuple(bisect_left(starts, page.start) for page in document.pages)


def _documents(index: Index) -> tuple[DocumentInfo, ...]:
    return tuple(
        DocumentInfo(
            id=d.id,
            name=d.name,
            title=d.title,
            chunks=stop - start,
            characters=len(d.text),
            pages=len(d.pages),
            date=d.date,
            priority=d.priority,
            page_chunks=_page_chunks(d, index.chunks[start:stop]),
        )
        for d, start, stop in index.document_rows()
    )


def _models(run: Run, records: list[StageRecord]) -> dict[str, str]:
    """The fingerprint of each model that this trace's numbers came from."""
    used = {}
    if run.encoder is not None and any(r.name == "first_stage" and r.model for r in records):
        used["encoder"] = run.encoder.fingerprint
    for record in records:
        if record.model and record.name.startswith("rerank"):
            kind = getattr(run.mode, record.name)
            used[record.name] = run.rerankers[kind].fingerprint
    return used


def _outcome(records: list[StageRecord]) -> str:
    by_name = {r.name: r for r in records}
    if not by_name["relevance"].passed:
        return INSUFFICIENT
    return EVIDENCE if by_name["prompt"].passed else NOTHING_FITS
