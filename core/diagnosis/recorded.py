"""A verdict from a trace alone, where its documents are not at hand: imported and saved ones.

It says what the trace records and no more: which list names a passage last, at which rank and
score, which stage left it out, and of which stages nothing is recorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.diagnosis.matching import Match, Words, matches
from core.diagnosis.naming import amount, listed, ordinal
from core.diagnosis.verdicts import TITLES
from core.fates import LEFT_OUT, PROMPT, fates
from core.trace import DROPPED, Chunk, Entry, Trace
from core.words import counted

UNKNOWN = ""
"""The stage of a chunk of which nothing is recorded that says where it was lost."""

_CHUNK_ID = re.compile(r"\b[0-9a-f]{16}:\d{6}\b")


@dataclass(frozen=True, slots=True)
class Step:
    """What one stage did to a chunk, as recorded: ``said`` is "kept", "added", "dropped", "not
    listed", "not recorded" or "not in this mode"; rank and score are None where not recorded."""

    stage: str
    said: str
    rank: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """What a trace records of one chunk that holds the passage, or a part of it.

    ``share`` in (0, 1] is how much of the passage it holds, by words. ``stage`` is where it was
    lost, "prompt" for one that arrived, and :data:`UNKNOWN` where the trace does not say.
    """

    chunk_id: str
    name: str
    share: float
    stage: str
    sentence: str
    steps: tuple[Step, ...]

    @property
    def arrived(self) -> bool:
        return self.stage == PROMPT


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The whole answer: a sentence, and a verdict a chunk, those that came furthest first."""

    sentence: str
    verdicts: tuple[RecordedVerdict, ...] = ()


def recorded_answer(trace: Trace, passage: str) -> RecordedAnswer:
    """What became of a pasted passage, from what ``trace`` records of its chunks' texts."""
    wanted = Words(passage)
    if not wanted.words:
        return RecordedAnswer("There is no word to look for in it. Paste letters or digits.")
    found = [(c, m) for c in trace.chunks if (m := _best(c, wanted)) is not None]
    if not found:
        return RecordedAnswer(_nowhere(trace, passage))
    whole = [(c, m) for c, m in found if m.share == 1.0]
    said = [_verdict(trace, c, m.share) for c, m in whole or found]
    order = [*(s.name for s in trace.stages), LEFT_OUT]
    said.sort(key=lambda v: (v.arrived, order.index(v.stage) if v.stage in order else -1, v.share))
    said.reverse()
    best = said[0]
    others = len(said) - 1
    what = "it" if whole else "a part of it"
    more = f" {counted(others, 'other chunk')} of the trace hold{'s' * (others == 1)} {what} too."
    part = "" if best.share == 1 else f"{best.share:.0%} of the passage stands in this chunk. "
    return RecordedAnswer(f"{part}{best.sentence}{more if others else ''}", tuple(said))


def _best(chunk: Chunk, wanted: Words) -> Match | None:
    """Where most of the passage stands in a chunk. A chunk that ends within it holds a part."""
    return max(matches(Words(chunk.text), wanted), key=lambda m: m.share, default=None)


def _nowhere(trace: Trace, passage: str) -> str:
    asked = " ".join(passage.split())
    asked = asked if len(asked) <= 60 else f"{asked[:57]}…"
    named = counted(len(trace.chunks), "chunk")
    said = f"“{asked}” is in the text of none of the {named} that this trace records."
    if silent := sum(not c.text.strip() for c in trace.chunks):
        said += f" Of {counted(silent, 'chunk')} it holds no text."
    first = next((s for s in trace.stages if s.ran and s.name != "access"), None)
    if first is not None:
        what = f" ({first.how})" if trace.origin and first.how else ""
        said += (
            f" What did not get through {TITLES[first.name]}{what}, which let "
            f"{first.passed:,} on, is not recorded."
        )
    return f"{said} Have it keep more, or add the documents here to search all of them."


def _verdict(trace: Trace, chunk: Chunk, share: float) -> RecordedVerdict:
    fate = fates(trace).get(chunk.id)
    steps, name = _steps(trace, chunk.id), recorded_name(trace, chunk)
    if fate is not None and fate.arrived:
        number = next(p.number for p in trace.selected if p.chunk_id == chunk.id)
        sentence, stage = f"It is in the prompt, as [{number}]: {name}.", PROMPT
        sentence += _ranks(trace, steps)
    elif fate is not None:
        stage = PROMPT if fate.stage == LEFT_OUT else fate.stage
        entry = next(
            (e for e in trace.stage(stage).entries if e.chunk_id == chunk.id and e.fate == DROPPED),
            None,
        )
        sentence = f"{name} {_dropped(trace, stage, entry, fate.reason, fate.cause)}"
        sentence += _ranks(trace, steps)
        stage = LEFT_OUT if stage == PROMPT else stage
    else:
        stage = UNKNOWN
        sentence = f"{name} is not in the prompt, and no stage of the trace says where it was lost."
        sentence += _ranks(trace, steps)
    absent = [TITLES[s.name] for s in trace.stages if not s.recorded]
    if absent and not (fate is not None and fate.arrived):
        sentence += f" Not recorded: {listed(absent)}."
    return RecordedVerdict(chunk.id, name, share, stage, sentence, steps)


def _dropped(trace: Trace, stage: str, entry: Entry | None, reason: str, cause: str) -> str:
    """``was left out at the second rerank, whose last place went to … (score 0.40): the reason``."""
    record, names = trace.stage(stage), {c.id: c for c in trace.chunks}
    said = f"was left out at {TITLES[stage]}{_own(record.how) if trace.origin else ''}"
    if entry is not None and entry.score is not None:
        said += f", with a score of {amount(entry.score)}"
    reason = _CHUNK_ID.sub(
        lambda m: recorded_name(trace, names[m.group()]) if m.group() in names else m.group(),
        reason,
    )
    said += f": {reason}."
    if cause in names:
        said += f" The cause named is {recorded_name(trace, names[cause])}."
    if record.last_kept in names and record.last_kept != cause:
        last = recorded_name(trace, names[record.last_kept])
        score = "" if record.cut_score is None else f" (score {amount(record.cut_score)})"
        said += f" The last that it let through was {last}{score}."
    return said


def _ranks(trace: Trace, steps: tuple[Step, ...]) -> str:
    """At which rank of which list it stood, in the order of the stages."""
    sizes = {s.name: len(s.kept) + len(s.added) for s in trace.stages}
    held = [
        f"{ordinal(s.rank)} of {sizes[s.stage]:,} after {TITLES[s.stage]}"
        + (f" (score {amount(s.score)})" if s.score is not None else "")
        for s in steps
        if s.rank is not None and s.stage not in ("access", "order", PROMPT)
    ]
    return f" It was {listed(held, 4)}." if held else " No list of the trace gives it a rank."


def _own(how: str) -> str:
    return f" ({how})" if how else ""


def _steps(trace: Trace, chunk_id: str) -> tuple[Step, ...]:
    """What each stage did to a chunk, one step a stage."""
    out = []
    for record in trace.stages:
        entry = next((e for e in record.entries if e.chunk_id == chunk_id), None)
        if entry is not None:
            out.append(Step(record.name, entry.fate, entry.rank, entry.score))
        elif not record.ran:
            out.append(Step(record.name, record.absence))
        else:
            on = chunk_id in record.kept or chunk_id in record.added
            out.append(Step(record.name, "kept" if on else "not listed"))
    return tuple(out)


def recorded_name(trace: Trace, chunk: Chunk) -> str:
    """``notes.txt, page 2 (c-17)``: of an imported chunk its id there, of another its number."""
    document = next((d.name for d in trace.documents if d.id == chunk.document_id), "")
    parts = [document] if document else []
    foreign = trace.foreign_ids.get(chunk.id, "")
    if not foreign:
        parts.append(f"chunk {chunk.ordinal + 1:,}")
    if chunk.pages:
        first, last = chunk.pages
        parts.append(f"page {first}" if first == last else f"pages {first} to {last}")
    named = ", ".join(parts)
    return f"{named} ({foreign})" if foreign and named else foreign or named
