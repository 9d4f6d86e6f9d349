"""What came of the question, in a few plain lines at the top of the trace."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.fates import fates
from core.modes import MODES
from core.trace import EVIDENCE, INSUFFICIENT, OUTCOMES, Trace
from core.words import counted
from dashboard import say, state, waiting, work
from dashboard.chunks import place
from dashboard.link import View
from dashboard.lookup import STAGE_TITLES

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
    if trace.origin:
        return " · ".join(_of_import(trace, many))
    return " · ".join(
        [
            counted(many, "passage"),
            f"{ledger.evidence:,} of {ledger.evidence_budget:,} evidence tokens",
            f"{first.passed:,} of {chunks:,} chunks were candidates",
            f"{seconds:.2f} s",
        ]
    )


def _of_import(trace: Trace, many: int) -> list[str]:
    """The same of an imported trace: only what it records."""
    said = [
        counted(many, "passage"),
        f"{trace.ledger.evidence:,} tokens, counted here",
        f"{len(trace.chunks):,} chunks are named",
    ]
    seconds = sum(s.seconds for s in trace.stages)
    return [*said, f"{seconds:.2f} s"] if seconds else said


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


def peers(view: View, evidence: tuple[str, ...]) -> None:
    """How much of the expected evidence other modes bring, with the way to all of them."""
    if not evidence:
        return
    job = work.peers(view)
    with st.container(horizontal=True, vertical_alignment="center", key="quiet_peers"):
        found, whole = job.so_far() if job is not None else (None, False)
        if whole:
            st.text(peers_line(found, evidence), width="content")
        elif job is not None and not job.failed:
            waiting.quietly(job, "Expected evidence in other modes: …")
        state.page_link("Compare", "Compare all modes →")


def peers_line(traces: Mapping[str, Trace], evidence: tuple[str, ...]) -> str:
    """``Basic (no_rerank) 2 of 3`` … for each trace."""
    said = []
    for name, trace in traces.items():
        reached, lost = _reached(trace, evidence)
        mode = f"{MODES[name].title} ({name})" if name in MODES else name
        said.append(f"{mode} {reached} of {len(evidence)}" + (f" ({lost})" if lost else ""))
    return "Expected evidence in other modes: " + " · ".join(said) + "."


def recall_line(trace: Trace, evidence: tuple[str, ...]) -> str:
    """How much of the expected evidence arrived, and which stages lost the rest."""
    reached, lost = _reached(trace, evidence)
    line = f"Expected evidence: {reached} of {len(evidence)} chunks reached the prompt"
    return f"{line}; {lost}." if lost else f"{line}."


def _reached(trace: Trace, evidence: tuple[str, ...]) -> tuple[int, str]:
    """How many of those chunks are in the prompt, and where the others were lost."""
    arrived = {p.chunk_id for p in trace.selected}
    lost: dict[str, int] = {}
    known = fates(trace)
    for chunk_id in evidence:
        if chunk_id not in arrived:
            stage = known[chunk_id].stage if chunk_id in known else "first_stage"
            lost[stage] = lost.get(stage, 0) + 1
    said = ", ".join(f"{n} lost at {STAGE_TITLES.get(s, s).lower()}" for s, n in lost.items())
    return len(evidence) - sum(lost.values()), said


def cautions(trace: Trace) -> list[str]:
    """Degraded stages and warnings, a sentence each."""
    said = [f"Degraded, {s.name.replace('_', ' ')}: {s.degraded}" for s in trace.degraded]
    said += trace.warnings
    for record in trace.stages:
        said += [f"{record.name.replace('_', ' ').capitalize()}: {w}" for w in record.warnings]
    return list(dict.fromkeys(said))
