"""What came of the question, in a few plain lines at the top of the trace."""

from __future__ import annotations

from core.fates import fates
from core.trace import EVIDENCE, INSUFFICIENT, OUTCOMES, Trace
from dashboard import say
from dashboard.chunks import place

MISSES = 3


def draw(trace: Trace, evidence: tuple[str, ...] = ()) -> None:
    """The outcome, then everything that a reader must know before trusting it."""
    good = trace.outcome == EVIDENCE
    lines = [f"{OUTCOMES.get(trace.outcome, trace.outcome)}.  {summary(trace)}"]
    if trace.outcome == INSUFFICIENT:
        lines += nearest_misses(trace)
    if evidence:
        lines.append(recall_line(trace, evidence))
    say.note("good" if good else "warning", lines, key="outcome")
    warnings = cautions(trace)
    if warnings:
        say.note("warning", warnings, key="cautions")


def summary(trace: Trace) -> str:
    """The numbers in one line: passages, tokens, candidates, seconds."""
    first = trace.stage("first_stage")
    chunks = sum(d.chunks for d in trace.documents)
    seconds = sum(s.seconds for s in trace.stages)
    ledger = trace.ledger
    many = len(trace.selected)
    return " · ".join(
        [
            f"{many} passage{'s' * (many != 1)}",
            f"{ledger.evidence:,} of {ledger.evidence_budget:,} evidence tokens",
            f"{first.passed:,} of {chunks:,} chunks were candidates",
            f"{seconds:.2f} s",
        ]
    )


def nearest_misses(trace: Trace) -> list[str]:
    """The most relevant of what the relevance threshold dropped, a line each."""
    record = trace.stage("relevance")
    dropped = [e for e in record.entries if e.fate == "dropped"]
    best = sorted(dropped, key=lambda e: (-(e.relevance or 0.0), e.chunk_id))[:MISSES]
    threshold = record.settings.get("relevance_threshold")
    needed = f", {threshold:.2f} needed" if isinstance(threshold, float) else ""
    chunks = {c.id: c for c in trace.chunks}
    names = {d.id: d.name for d in trace.documents}
    return [
        f"Near miss: {names.get(c.document_id, c.document_id)}, {place(c.pages, c.ordinal)}: "
        f"relevance {e.relevance or 0.0:.2f}{needed}"
        for e in best
        if (c := chunks.get(e.chunk_id)) is not None
    ]


def recall_line(trace: Trace, evidence: tuple[str, ...]) -> str:
    """How much of the expected evidence arrived, and which stages lost the rest."""
    arrived = {p.chunk_id for p in trace.selected}
    lost: dict[str, int] = {}
    known = fates(trace)
    for chunk_id in evidence:
        if chunk_id not in arrived:
            stage = known[chunk_id].stage if chunk_id in known else "first_stage"
            lost[stage] = lost.get(stage, 0) + 1
    reached = sum(c in arrived for c in evidence)
    line = f"Expected evidence: {reached} of {len(evidence)} chunks reached the prompt"
    where = ", ".join(f"{n} at {stage.replace('_', ' ')}" for stage, n in lost.items())
    return f"{line}; lost {where}." if where else f"{line}."


def cautions(trace: Trace) -> list[str]:
    """Degraded stages and warnings, a sentence each."""
    said = [f"Degraded, {s.name.replace('_', ' ')}: {s.degraded}" for s in trace.degraded]
    said += trace.warnings
    for record in trace.stages:
        said += [f"{record.name.replace('_', ' ').capitalize()}: {w}" for w in record.warnings]
    return list(dict.fromkeys(said))
