"""Faults of what reached the prompt: thrown away, cut, weak, or all from one source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median

from core.diagnosis.differences import WORD, Marked, difference, in_words
from core.diagnosis.symptoms.fault import Fault
from core.fates import corpus_row
from core.stages.exceptions import wording
from core.trace import DROPPED, Trace
from core.words import counted

CROWD, CROWDED = 4, 0.8
"""One source crowds the others out with so many passages, and such a share of them all."""

WEAK = 1 / 3
"""Relevance. Evidence of which every passage is below has odds of two to one against it."""


def eager_dedup(trace: Trace) -> Iterator[Fault]:
    """A duplicate was dropped that adds a negation, a number, a date or a name."""
    texts = {c.id: c.text for c in trace.chunks}
    record = trace.stage("dedup")
    found: list[tuple[str, str, list[Marked]]] = []
    for e in record.entries:
        if e.fate != DROPPED or e.cause not in texts:
            continue
        if wording(texts[e.chunk_id]).adds_to(wording(texts[e.cause])):
            apart = difference(texts[e.chunk_id], texts[e.cause])
            marked = [m for m in (*apart.only_here, *apart.only_there) if m.kind != WORD]
            found.append((e.chunk_id, e.cause, marked))
    if not found:
        return
    protected = record.settings.get("protect_exceptions", True)
    first = in_words(found[0][2][:4]) or "a rule without its exception"
    yield Fault(
        "eager_dedup",
        "A duplicate that says something else was dropped",
        f"{counted(len(found), 'chunk')} went as {'a duplicate' if len(found) == 1 else 'duplicates'} "
        f"of a better one, and differ from it in more than wording, the first in {first}. An "
        "exception to a rule is lost in this way.",
        {"chunks": len(found)},
        "dedup_threshold" if protected else "protect_exceptions",
        tuple(chunk for chunk, _, _ in found),
    )


def everything_removed(trace: Trace) -> Iterator[Fault]:
    """The relevance threshold let nothing through."""
    record = trace.stage("relevance")
    if not record.entered or record.passed:
        return
    known = [e.relevance for e in record.entries if e.relevance is not None]
    threshold = float(record.settings["relevance_threshold"])
    best = f" The best of them has {max(known):.3f}." if known else ""
    yield Fault(
        "everything_removed",
        "The threshold removed everything",
        f"All {record.entered:,} chunks that came to the relevance threshold of {threshold:g} "
        f"are below it.{best} Either the documents do not answer the question, or it is too high.",
        {"threshold": threshold, "removed": record.entered}
        | ({"best": max(known)} if known else {}),
        "relevance_threshold",
        record.dropped[:1],
    )


def cut_text(trace: Trace) -> Iterator[Fault]:
    """Passages that a model did not read to their end, or that were trimmed to fit."""
    for name in ("rerank_1", "rerank_2"):
        entries = trace.stage(name).entries
        unread = tuple(e.chunk_id for e in entries if e.reason.endswith("end were not read"))
        if unread:
            yield Fault(
                "unread_ends",
                "Passages were longer than the model reads",
                f"In {name}, {counted(len(unread), 'chunk')} of {len(entries):,} "
                f"{'was' if len(unread) == 1 else 'were'} judged without the end, which "
                "the model did not read.",
                {"chunks": len(unread)},
                "chunk_tokens",
                unread,
            )
    trimmed = [p for p in trace.selected if p.trimmed]
    if trimmed:
        yield Fault(
            "trimmed_passages",
            "Passages in the prompt are cut",
            f"{counted(len(trimmed), 'passage')} of {len(trace.selected)} in the prompt "
            f"{'is' if len(trimmed) == 1 else 'are'} larger than the whole evidence budget of "
            f"{trace.ledger.evidence_budget:,} tokens and cut to fit.",
            {"passages": len(trimmed), "budget": trace.ledger.evidence_budget},
            "evidence_budget",
            tuple(p.chunk_id for p in trimmed),
        )


def one_source(trace: Trace) -> Iterator[Fault]:
    """One document has nearly all the passages, and as good ones of others were cut."""
    sources = Counter(p.document_id for p in trace.selected)
    if not sources:
        return
    (source, passages) = sources.most_common(1)[0]
    share = passages / len(trace.selected)
    if passages < CROWD or share < CROWDED:
        return
    documents = {c.id: c.document_id for c in trace.chunks}
    cut = [c for c in trace.stage("budget").dropped if documents[c] not in sources]
    as_good = [c for c in cut if _as_good(trace, c)]
    if not as_good:
        return
    name = next(d.name for d in trace.documents if d.id == source)
    others = len({documents[c] for c in as_good})
    yield Fault(
        "one_source",
        "One source crowds the others out",
        f"{passages} of {len(trace.selected)} passages are from {name}; the budget was spent "
        f"before {counted(len(as_good), 'chunk')} from {counted(others, 'other source')} that "
        f"{'is' if len(as_good) == 1 else 'are'} no less relevant.",
        {"passages": passages, "share": share, "cut": len(as_good), "sources": others},
        "diversity",
        tuple(as_good),
    )


def _as_good(trace: Trace, chunk_id: str) -> bool:
    """Whether a chunk that was cut is as good as half of those in the prompt.

    By relevance; where no reranker gave one, by BM25 and by dense score.
    """
    entries = {e.chunk_id: e for e in trace.stage("budget").entries}
    shown = [p.chunk_id for p in trace.selected]
    judged = [entries[c].relevance for c in shown]
    own = entries[chunk_id].relevance
    if own is not None and None not in judged:
        return own >= median(judged)
    rows = [corpus_row(trace, c) for c in shown]
    row = corpus_row(trace, chunk_id)
    arrays = [trace.corpus_scores.array(name) for name in ("bm25", "dense")]
    return all(len(a) and a[row] >= median(a[rows].tolist()) for a in arrays)


def weak_evidence(trace: Trace) -> Iterator[Fault]:
    """The odds are two to one against every passage in the prompt, or worse."""
    shown = {p.chunk_id for p in trace.selected}
    known = [
        e.relevance
        for e in trace.stage("order").entries
        if e.chunk_id in shown and e.relevance is not None
    ]
    if not known or max(known) >= WEAK:
        return
    yield Fault(
        "weak_evidence",
        "Weak evidence throughout",
        f"The most relevant of {counted(len(known), 'passage')} in the prompt has a relevance of "
        f"{max(known):.2f}: most likely none of them answers the question.",
        {"best": max(known), "passages": len(known)},
        "relevance_threshold",
    )
