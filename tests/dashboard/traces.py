"""Traces for tests of figures and tables: small real ones, and large made-up ones."""

from __future__ import annotations

import random
from functools import cache

import numpy as np

from core.modes import MODES
from core.pipeline import Pipeline
from core.records import Chunk, Page, chunk_id
from core.settings import Settings
from core.trace import (
    ADDED,
    DROPPED,
    KEPT,
    CorpusScores,
    DocumentInfo,
    Entry,
    Ledger,
    Passage,
    StageRecord,
    Trace,
)
from tests import worlds
from tests.fakes import HashingEncoder

HOSTILE = "<img src=x onerror=alert(1)> & <a href='http://e.example/'>click</a> <b>bold</b> $x$"
QUESTION = "Which harbour fee or refund is waived for the pilot?"
KNOBS = {
    "chunk_tokens": 16,
    "candidate_k": 18,
    "relevance_threshold": 0.97,
    "dedup_threshold": 0.6,
    "protect_exceptions": False,
    "diversity": "source_cap",
    "per_source_cap": 3,
    "procedure_lifts_cap": False,
    "evidence_budget": 160,
    "order": "source",
}


def _text(sentences: int, seed: int) -> str:
    r = random.Random(seed)
    return "\n\n".join(
        " ".join(r.choice(worlds.WORDS) for _ in range(14)).capitalize() + "."
        for _ in range(sentences)
    )


@cache
def _index():
    documents = []
    for i, sentences in enumerate((40, 12, 25, 3)):
        text, pages = _text(sentences, i), ()
        if i % 2 == 0:
            cut = len(text) // 3
            pages = (Page(1, 0, cut), Page(2, cut, 2 * cut), Page(3, 2 * cut, len(text)))
        documents.append(worlds.document(text, f"file-{i}.md", pages=pages))
    short = "<img src=x onerror=alert(1)> waived harbour fee"
    documents.append(worlds.document(f"{_text(4, 9)}\n\n{short}\n\n{HOSTILE}", f"{HOSTILE}.md"))
    return worlds.index(documents, Settings(**KNOBS))


@cache
def _pipeline() -> Pipeline:
    return worlds.pipeline()


@cache
def small(mode: str = "rerank_extend_rerank", **knobs) -> Trace:
    """A true run over five small documents, one of them hostile."""
    return _pipeline().run(_index(), QUESTION, Settings(**(KNOBS | knobs)), mode)


def every_mode() -> dict[str, Trace]:
    return {mode: small(mode) for mode in MODES}


@cache
def degraded() -> Trace:
    """The same run where no reranker could be loaded."""
    return Pipeline(HashingEncoder()).run(_index(), QUESTION, Settings(**KNOBS))


def large(chunks: int = 10_000, documents: int = 1, candidates: int = 60) -> Trace:
    """A made-up trace of many chunks: scores at random, windows, duplicates, budget cuts."""
    rng = np.random.default_rng(chunks + documents)
    sizes = np.full(documents, chunks // documents)
    infos = tuple(
        DocumentInfo(
            f"{d:016x}", f"report-{d}.pdf", "", int(n), int(n) * 500, int(n) // 4,
            page_chunks=tuple(range(0, int(n) // 4 * 4, 4)),
        )
        for d, n in enumerate(sizes)
    )  # fmt: skip
    ids = [chunk_id(info.id, o) for info in infos for o in range(info.chunks)]
    n = len(ids)
    bm25 = np.maximum(0, rng.normal(1, 3, n)).astype("<f4")
    dense = rng.normal(0.2, 0.1, n).astype("<f4")
    fused = (bm25 / bm25.max() + dense).astype("<f4")
    order = np.argsort(-fused, kind="stable")[:candidates]
    best = [ids[i] for i in order]
    first = tuple(
        Entry(c, KEPT, r, float(fused[i])) for r, (c, i) in enumerate(zip(best, order), 1)
    )
    reranked = tuple(
        Entry(c, KEPT, r, 1 - r / 99, {"rerank_1": 1 - r / 99}) for r, c in enumerate(best, 1)
    )
    near = [ids[i + 1] for i in order[:20] if i + 1 < n and ids[i + 1][:16] == ids[i][:16]]
    added = [c for c in dict.fromkeys(near) if c not in set(best)]
    windows = tuple(
        Entry(c, KEPT, r, 1 - r / 99, {"window_score": 1 - r / 99, "radius": float(r <= 20)})
        for r, c in enumerate(best, 1)
    ) + tuple(
        Entry(c, ADDED, len(best) + r, anchor=chunk_id(c[:16], int(c[17:]) - 1), offset=1)
        for r, c in enumerate(added, 1)
    )
    pool = best + added
    second = tuple(
        Entry(c, KEPT, r, 1 - r / 999, {"rerank_2": 1 - r / 999}) for r, c in enumerate(pool, 1)
    )
    unique, twins = pool[::2], pool[1::2]
    dedup = tuple(Entry(c, KEPT, r, 0.5) for r, c in enumerate(unique, 1)) + tuple(
        Entry(c, DROPPED, reason="shares 90% of its words with a better one", cause=pool[0])
        for c in twins
    )
    chosen, cut = unique[:10], unique[10:]
    budget = tuple(Entry(c, KEPT, r, 0.5) for r, c in enumerate(chosen, 1)) + tuple(
        Entry(c, DROPPED, reason="needs 128 tokens, 3 of 2,000 were left", margin=-125.0)
        for c in cut
    )
    text = "The committee considered the annual report of the harbour master. " * 8
    touched = tuple(
        Chunk(c, c[:16], int(c[17:]), 0, len(text), text, 128, (int(c[17:]) // 4 + 1,) * 2)
        for c in pool
    )
    selected = tuple(
        Passage(c, "report.pdf", c[:16], (1, 1), 0, 9, 140, k, f"[{k}]", text)
        for k, c in enumerate(chosen, 1)
    )
    stages = (
        StageRecord("access", entered=n, passed=n),
        StageRecord("first_stage", entered=n, passed=len(best), kept=tuple(best), entries=first),
        StageRecord("rerank_1", entered=len(best), passed=len(best), kept=tuple(best), entries=reranked),
        StageRecord("extend", entered=len(best), passed=len(pool), kept=tuple(best), added=tuple(added), entries=windows),
        StageRecord("rerank_2", entered=len(pool), passed=len(pool), kept=tuple(pool), entries=second),
        StageRecord("relevance", entered=len(pool), passed=len(pool), kept=tuple(pool)),
        StageRecord("dedup", entered=len(pool), passed=len(unique), kept=tuple(unique), dropped=tuple(twins), entries=dedup),
        StageRecord("diversity", entered=len(unique), passed=len(unique), kept=tuple(unique)),
        StageRecord("budget", entered=len(unique), passed=len(chosen), kept=tuple(chosen), dropped=tuple(cut), entries=budget),
        StageRecord("order", entered=len(chosen), passed=len(chosen), kept=tuple(chosen)),
        StageRecord("prompt", entered=len(chosen), passed=len(chosen), kept=tuple(chosen)),
    )  # fmt: skip
    pack = CorpusScores.pack
    return Trace(
        question="What did the committee consider?",
        mode="rerank_extend_rerank",
        settings={},
        outcome="evidence",
        documents=infos,
        corpus_scores=CorpusScores(pack(bm25), pack(dense), pack(fused)),
        stages=stages,
        chunks=touched,
        selected=selected,
        ledger=Ledger("words", 30, 10, 1400, 1000, 2450, 8000, 2000),
    )
