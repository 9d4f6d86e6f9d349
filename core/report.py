"""A trace as a Markdown report: for a ticket, a review or a changelog.

What documents say is quoted as code, so that it is never read as Markdown: no image of
theirs loads and no heading of theirs breaks the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.fates import fate_of
from core.markup import block, code, plain_words, table
from core.records import Chunk
from core.settings import knobs
from core.trace import NOT_RECORDED, OUTCOMES, Passage, StageRecord, Trace

if TYPE_CHECKING:
    from core.diagnosis import Fault, Proposals, Verdict


def markdown_report(
    trace: Trace,
    *,
    evidence: Sequence[str] = (),
    verdict: Verdict | None = None,
    proposals: Proposals | None = None,
    verdicts: Sequence[Verdict] = (),
    faults: Sequence[Fault] = (),
) -> str:
    """The question, its outcome, the stages, the passages and the settings off default.

    Args:
        evidence: ids of the chunks that should have been found; their fates get a section.
        verdict: what became of something that should have been found; it comes first.
        proposals: what brings it back.
        verdicts: what became of each piece of the evidence; those that are missing are told.
        faults: what the trace shows by itself.
    """
    parts = [
        "# Trace report",
        f"**Question:** {plain_words(trace.question)}",
        _facts(trace),
        *_diagnosis(verdict, proposals),
        *_faults(faults),
        *_cautions(trace),
        "## Stages",
        table(
            ("Stage", "Entered", "Kept", "Added", "Dropped", "Seconds", "Model"),
            (_stage_row(record) for record in trace.stages),
        ),
        *_evidence(trace, evidence),
        *_missing(verdicts),
        "## Passages in the prompt",
        *(_passage(p) for p in trace.selected),
        *([] if trace.selected else ["None."]),
        "## Tokens",
        _ledger(trace),
        "## Settings off their default",
        _settings(trace),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(trace: Trace) -> str:
    who = trace.principal
    seen = "the owner of the files"
    if who is not None:
        parts = [f"tenant {who.tenant or '(none)'}", *who.roles, *who.labels]
        seen = plain_words(", ".join(parts))
    chunks = sum(d.chunks for d in trace.documents)
    own = [
        f"- Mode: `{trace.mode}`",
        f"- Asked by: {seen}",
        f"- Documents: {len(trace.documents)}, {chunks:,} chunks, corpus `{trace.corpus}`",
    ]
    imported = [
        f"- Imported from: {plain_words(trace.origin)}",
        f"- Documents: {len(trace.documents)}, of which the import names {chunks:,} chunks",
    ]
    lines = [
        f"- Outcome: {OUTCOMES.get(trace.outcome, trace.outcome)}",
        *(imported if trace.origin else own),
        *(
            f"- Model, {plain_words(part)}: {code(name)}"
            for part, name in trace.named_models().items()
        ),
    ]
    return "\n".join(lines)


def _cautions(trace: Trace) -> list[str]:
    said = [f"- **Degraded**, {s.name}: {plain_words(s.degraded)}" for s in trace.degraded]
    said += [f"- {plain_words(w)}" for w in trace.warnings]
    said += [f"- {s.name}: {plain_words(w)}" for s in trace.stages for w in s.warnings]
    return ["## Cautions", "\n".join(said)] if said else []


def _diagnosis(verdict: Verdict | None, proposals: Proposals | None) -> list[str]:
    if verdict is None:
        return []
    parts = ["## Why it is missing" if not verdict.arrived else "## It is in the prompt"]
    parts += [block(verdict.target.asked.strip()), plain_words(verdict.sentence)]
    if verdict.target.missing and verdict.target.pieces:
        missing = "; ".join(code(m) for m in verdict.target.missing)
        parts.append(f"Not found in the documents: {missing}")
    if len(verdict.chunks) > 1:
        parts.append("\n".join(f"- {plain_words(c.sentence)}" for c in verdict.chunks))
    if proposals is not None and proposals.needed:
        parts += ["## What brings it back", plain_words(proposals.sentence)]
        parts.append("\n".join(f"- {plain_words(p.sentence)}" for p in proposals.proposals))
    return parts


def _faults(faults: Sequence[Fault]) -> list[str]:
    rows = [
        f"- **{plain_words(f.title)}.** {plain_words(f.sentence)}"
        + (f" Knob: `{f.knob}`" if f.knob else "")
        for f in faults
    ]
    return ["## Faults", "\n".join(rows)] if rows else []


def _stage_row(record: StageRecord) -> tuple[str, ...]:
    if not record.ran:
        absent = "not used by this mode" if record.recorded else record.absence
        return record.name, "", "", "", "", "", absent
    return (
        record.name,
        f"{record.entered:,}",
        f"{len(record.kept):,}",
        f"{len(record.added):,}",
        f"{len(record.dropped):,}",
        f"{record.seconds:.3f}" if record.seconds else "",
        plain_words(record.model),
    )


def _evidence(trace: Trace, evidence: Sequence[str]) -> list[str]:
    if not evidence:
        return []
    chunks = {c.id: c for c in trace.chunks}
    rows = []
    for chunk_id in evidence:
        fate = fate_of(trace, chunk_id)
        where = fate.words + (f": {fate.reason}" if fate.reason else "")
        rows.append((_where(trace, chunks.get(chunk_id), chunk_id), plain_words(where)))
    return ["## Expected evidence", table(("Chunk", "Fate"), rows)]


def _missing(verdicts: Sequence[Verdict]) -> list[str]:
    """Why evidence is missing: each piece quoted, then the verdict on it and on its chunks."""
    lost = [v for v in verdicts if not v.arrived]
    if not lost:
        return []
    many = f"{len(lost)} of {len(verdicts)} pieces of the expected evidence are not, or not whole, in the prompt."  # fmt: skip
    parts = ["## Why evidence is missing", many]
    for said in lost:
        parts += [block(said.target.asked), plain_words(said.sentence)]
        if len(said.chunks) > 1:
            parts.append("\n".join(f"- {plain_words(c.sentence)}" for c in said.lost))
    return parts


def _where(trace: Trace, chunk: Chunk | None, chunk_id: str) -> str:
    names = {d.id: d.name for d in trace.documents}
    document, _, ordinal = chunk_id.rpartition(":")
    numbered = ordinal.isascii() and ordinal.isdigit()
    place = f"chunk {int(ordinal) + 1}" if numbered else chunk_id
    if chunk is not None and chunk.pages:
        place += f", page {chunk.pages[0]}"
    return f"{plain_words(names.get(document, document))}, {place}"


def _passage(passage: Passage) -> str:
    score = "" if passage.score is None else f", score {passage.score:.3f}"
    trimmed = ", trimmed" if passage.trimmed else ""
    head = f"### \\[{passage.number}\\] {plain_words(passage.document)}"
    facts = f"{plain_words(passage.citation)}: {passage.tokens} tokens{score}{trimmed}"
    return f"{head}\n\n{facts}\n\n{block(passage.text.strip())}"


def _ledger(trace: Trace) -> str:
    ledger = trace.ledger
    rows: Sequence[tuple[str, int]] = (
        ("Instructions", ledger.instructions),
        ("Question", ledger.question),
        (f"Evidence (budget {ledger.evidence_budget:,})", ledger.evidence),
        ("Reserve for the answer", ledger.reserve),
        ("Total", ledger.total),
        ("Model window", ledger.window),
    )
    counted = f"Counted by {plain_words(ledger.counter)}."
    if trace.origin:
        rows = (
            ("Passages", ledger.evidence),
            *([("Prompt", ledger.total)] if trace.prompt else []),
        )
        counted = f"Counted here by {plain_words(ledger.counter)}, not by the other pipeline."
    return f"{table(('Part', 'Tokens'), ((n, f'{v:,}') for n, v in rows))}\n\n{counted}"


def _settings(trace: Trace) -> str:
    if trace.origin:
        rows = [(plain_words(name), code(value), "") for name, value in trace.settings.items()]
        return table(("Setting of the other pipeline", "Value", ""), rows) if rows else NOT_RECORDED
    off = [
        (k.name, code(trace.settings[k.name]), code(k.default))
        for k in knobs()
        if k.name in trace.settings and trace.settings[k.name] != k.default
    ]
    return table(("Knob", "Value", "Default"), off) if off else "None."
