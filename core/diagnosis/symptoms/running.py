"""Faults of the run itself: slow stages, citations that change, and text that is not there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from core.diagnosis.naming import listed
from core.diagnosis.symptoms.fault import Fault
from core.diagnosis.targets import silent_pages
from core.index.index import Index
from core.pipeline import Pipeline
from core.settings import parse_settings
from core.trace import Trace
from core.words import counted

SLOW, MOST = 1.0, 0.5
"""A stage is slow from so many seconds on, if it takes such a share of the whole run."""

_KNOBS = {
    "first_stage": "candidate_k",
    "rerank_1": "candidate_k",
    "extend": "max_radius",
    "rerank_2": "max_radius",
    "dedup": "candidate_k",
    "diversity": "candidate_k",
    "budget": "candidate_k",
}
"""What to turn where a stage is slow: mostly, how much comes to it."""

UNKNOWN = 0.01
"""The share of characters that could not be decoded from which a text is not to be trusted."""


def slow_stage(trace: Trace) -> Iterator[Fault]:
    """One stage takes a second or more, and most of the run."""
    total = sum(s.seconds for s in trace.stages)
    slowest = max(trace.stages, key=lambda s: s.seconds)
    if slowest.seconds < SLOW or slowest.seconds < MOST * total:
        return
    read = f" and {slowest.tokens_read:,} tokens read" if slowest.tokens_read else ""
    yield Fault(
        "slow_stage",
        "One stage takes most of the time",
        f"{slowest.name} took {slowest.seconds:.1f} of {total:.1f} seconds, for "
        f"{counted(slowest.entered, 'chunk')}{read}. The prompt has "
        f"{trace.ledger.total - trace.ledger.reserve:,} tokens.",
        {
            "seconds": slowest.seconds,
            "total": total,
            "chunks": slowest.entered,
            "tokens_read": slowest.tokens_read,
        },
        _KNOBS.get(slowest.name, ""),
    )


def unstable_citations(
    trace: Trace,
    index: Index,
    pipeline: Pipeline,
    cancelled: Callable[[], bool] | None = None,
    runs: int = 2,
) -> Iterator[Fault]:
    """The same question again, documents in another order and nothing kept, cites other chunks."""
    cited = [p.chunk_id for p in trace.selected]
    rng = random.Random(0)
    for nth in range(1, runs + 1):
        parts = list(index.parts)
        rng.shuffle(parts)
        again = Pipeline(pipeline.encoder, pipeline.rerankers).run(
            Index(parts, index.counter),
            trace.question,
            parse_settings(trace.settings),
            trace.mode,
            trace.principal,
            cancelled=cancelled,
        )
        now = [p.chunk_id for p in again.selected]
        if now == cited:
            continue
        changed = set(now) ^ set(cited)
        moved = [a for a, b in zip(cited, now, strict=False) if a != b]
        what = f"{counted(len(changed), 'chunk')} came or went"
        if not changed:
            what = f"{counted(len(moved), 'citation number')} changed hands"
        yield Fault(
            "unstable_citations",
            "The citations are not stable",
            f"Run {counted(nth, 'time')} more with its documents in another order, the same question gave "
            f"another prompt: {what} of {len(cited)}. Something in this run does not depend on "
            "its inputs alone.",
            {"changed": len(changed), "moved": len(moved), "cited": len(cited), "runs": nth},
            "mode",
            tuple(sorted(changed)) or tuple(moved),
        )
        return


def bad_text(trace: Trace, index: Index) -> Iterator[Fault]:
    """Documents whose text was not extracted, or not well: no setting finds what is not there."""
    documents = index.restricted(trace.principal).documents
    silent = silent_pages(documents)
    undecoded = [d for d in documents if d.text.count("\ufffd") > UNKNOWN * len(d.text)]
    if not silent and not undecoded:
        return
    pages = sum(len(d.report.pages) for d in documents)
    said = []
    if silent:
        where = listed([f"{s.document}, page {s.page}" for s in silent], 4)
        said.append(
            f"{counted(len(silent), 'page')} of {pages:,} {'has' if len(silent) == 1 else 'have'} "
            f"no text that can be relied on ({where})"
        )
    if undecoded:
        where = listed([d.name for d in undecoded], 4)
        said.append(
            f"{where} {'has' if len(undecoded) == 1 else 'have'} characters that could not be decoded"
        )
    yield Fault(
        "bad_text",
        "Text was not extracted well",
        f"{', and '.join(said)}. What stands there cannot be found, whatever the settings.",
        {"pages": len(silent), "of": pages, "documents": len(undecoded)},
    )
