"""A trace for the terminal: the stages, the passages with rank and score, and what was lost."""

from __future__ import annotations

import re

from core.fates import fates
from core.rendering import place
from core.settings import STAGES
from core.trace import OUTCOMES, Trace

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

LOST_SHOWN = 10
"""Lost chunks that are listed: those that came furthest."""


def printable(text: str) -> str:
    """Text with control characters spelled out: what a document holds must not steer a terminal."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def trace_text(trace: Trace) -> str:
    """Several lines of plain text, for a person at a terminal."""
    lines = [f"{trace.mode}: {OUTCOMES[trace.outcome]}", ""]
    for s in trace.stages:
        if s.ran:
            change = f"{s.entered:>6} in  {s.passed:>6} out  +{len(s.added)} −{len(s.dropped)}"
            lines.append(f"{s.name:<12} {change:<36} {s.seconds * 1000:8.1f} ms")
            lines.extend(f"             {w}" for w in (*s.warnings, s.degraded) if w)
    lines += ["", *_passages(trace), "", *_lost(trace)]
    ledger = trace.ledger
    lines.append(
        f"{ledger.evidence} of {ledger.evidence_budget} evidence tokens ({ledger.counter})"
    )
    return "\n".join(lines)


def _passages(trace: Trace) -> list[str]:
    """In the order of the prompt; ``rank`` is the order in which they won their place."""
    best = {c: rank for rank, c in enumerate(trace.stage("budget").kept, 1)}
    return [
        f"{p.citation}  (rank {best.get(p.chunk_id, '–')}, {_score(p.score)}, {p.tokens} tokens)  "
        f"{' '.join(p.text.split())[:80]}"
        for p in trace.selected
    ]


def _score(score: float | None) -> str:
    return "no score" if score is None else f"score {score:.3f}"


def _lost(trace: Trace) -> list[str]:
    """The chunks that came furthest without arriving, and what each of them met."""
    chunks = {c.id: c for c in trace.chunks}
    names = {d.id: d.name for d in trace.documents}
    lost = [(c, f) for c, f in fates(trace).items() if not f.arrived and c in chunks]
    if not lost:
        return []
    order = {e.chunk_id: i for s in trace.stages for i, e in enumerate(s.entries)}
    lost.sort(key=lambda pair: (-STAGES.index(pair[1].stage), order[pair[0]]))
    shown = lost[:LOST_SHOWN]
    rest = trace.stage("first_stage")
    below = rest.entered - rest.passed
    said = [f"Lost, furthest first ({len(shown)} of {len(lost)} that were candidates):"]
    for chunk_id, fate in shown:
        chunk = chunks[chunk_id]
        where = f"{names[chunk.document_id]}#{place(chunk)}"
        said.append(f"  {fate.stage:<10} {where}: {fate.reason}")
    if below > 0:
        said.append(f"{below:,} more chunks ranked below the {rest.passed:,} candidates.")
    return [*said, ""]
