"""Two traces side by side: what each prompt has that the other lacks, and why it lacks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.compare_traces.join import Pair, cut_alike, join
from core.compare_traces.prompts import Line, line_diff
from core.compare_traces.standing import Standing, Stands
from core.plain import plain
from core.trace import OUTCOMES, Trace

ABSENT = object()


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two traces in a few facts. Tokens are counted by ``counter``; ``seconds`` is
    None where no time is recorded, ``budget`` where there is none."""

    name: str
    mode: str
    origin: str
    question: str
    outcome: str
    passages: int
    tokens: int
    budget: int | None
    prompt_tokens: int | None
    counter: str
    seconds: float | None
    degraded: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Its mode, or the pipeline that it was imported from."""
        return f"imported from {self.origin}" if self.origin else self.mode


@dataclass(frozen=True, slots=True)
class ChunkDifference:
    """One chunk in both traces. ``joined`` says by what it is known in both: id, text, or ""."""

    name: str
    document: str
    words: str
    joined: str
    a: Standing
    b: Standing


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting and its value on each side; None where a side has no such setting."""

    name: str
    a: Any
    b: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two traces. ``gained`` is what B's prompt has and A's lacks.

    ``chunks`` holds every chunk that a stage of either names: those of a prompt first, then by
    rank. ``prompt`` is empty where one of them is not recorded. ``notes`` say what stands in the
    way of a fair comparison.
    """

    a: Side
    b: Side
    chunks: tuple[ChunkDifference, ...]
    settings: tuple[SettingDifference, ...]
    prompt: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    @property
    def gained(self) -> tuple[ChunkDifference, ...]:
        return tuple(c for c in self.chunks if c.b.arrived and not c.a.arrived)

    @property
    def lost(self) -> tuple[ChunkDifference, ...]:
        return tuple(c for c in self.chunks if c.a.arrived and not c.b.arrived)

    @property
    def both(self) -> tuple[ChunkDifference, ...]:
        return tuple(c for c in self.chunks if c.a.arrived and c.b.arrived)

    def to_dict(self) -> dict[str, Any]:
        """The difference as JSON's own types; gained, lost and both by their name and side."""
        rows = plain(self)
        rows["chunks"] = [
            {**row, "in": _where(c)} for row, c in zip(rows["chunks"], self.chunks, strict=True)
        ]
        rows["counts"] = {
            "gained": len(self.gained), "lost": len(self.lost), "both": len(self.both)
        }  # fmt: skip
        return rows


def _where(row: ChunkDifference) -> str:
    """Which prompts have it: both, a, b, or neither."""
    if row.a.arrived:
        return "both" if row.b.arrived else "a"
    return "b" if row.b.arrived else "neither"


def difference(a: Trace, b: Trace, names: tuple[str, str] = ("A", "B")) -> Difference:
    """The difference of any two traces: of two modes, two settings, two pipelines.

    Args:
        names: what the two are called where a person reads.
    """
    pairs = join(a, b)
    one, two = Stands(a), Stands(b)
    missing_a, missing_b = _missing(b, a), _missing(a, b)
    rows = [_row(pair, one, two, missing_a, missing_b) for pair in pairs]
    rows.sort(key=_order)
    recorded = bool(a.prompt and b.prompt)
    return Difference(
        _side(a, names[0]),
        _side(b, names[1]),
        tuple(rows),
        tuple(_settings(a, b)),
        line_diff(a.prompt, b.prompt) if recorded else (),
        tuple(_notes(a, b, pairs, names)),
    )


def _row(
    pair: Pair, one: Stands, two: Stands, missing_a: Mapping[str, str], missing_b: Mapping[str, str]
) -> ChunkDifference:
    home, own = (one, pair.a) if pair.a in one.chunks else (two, pair.b)
    chunk = home.chunks[own]
    document = home.named(own).partition(", chunk ")[0]
    return ChunkDifference(
        name=home.named(own),
        document=document,
        words=" ".join(chunk.text[:600].split())[:160],
        joined=pair.by,
        a=one.of(pair.a, missing_a.get(chunk.document_id, NOT_NAMED)),
        b=two.of(pair.b, missing_b.get(chunk.document_id, NOT_NAMED)),
    )


NOT_NAMED = "no chunk that this trace names has its text"


def _missing(there: Trace, here: Trace) -> Mapping[str, str]:
    """Why ``here`` may have no such chunk as ``there`` has, by the document in ``there``."""
    if here.origin or there.origin:
        return {}
    known, alike = {d.id for d in here.documents}, cut_alike(here, there)
    return {
        d.id: "its document is not among this trace's"
        if d.id not in known
        else NOT_NAMED
        if d.id in alike
        else "its document is cut into other chunks here"
        for d in there.documents
    }


def _order(row: ChunkDifference) -> tuple[int, int, str]:
    """Chunks of a prompt first, by their better rank; then by the best rank at any stage."""
    shown = [s.rank for s in (row.a, row.b) if s.rank]
    if shown:
        return 0, min(shown), row.name
    ranked = [r for s in (row.a, row.b) for r in s.ranks.values()]
    return 1, min(ranked, default=10**9), row.name


def _side(trace: Trace, name: str) -> Side:
    ledger = trace.ledger
    seconds = sum(s.seconds for s in trace.stages)
    return Side(
        name=name,
        mode=trace.mode,
        origin=trace.origin,
        question=trace.question,
        outcome=OUTCOMES[trace.outcome].partition(":")[0],
        passages=len(trace.selected),
        tokens=ledger.evidence,
        budget=ledger.evidence_budget or None,
        prompt_tokens=ledger.total if trace.prompt else None,
        counter=ledger.counter,
        seconds=seconds or None,
        degraded=tuple(f"{s.name}: {s.degraded}" for s in trace.degraded),
    )


def _settings(a: Trace, b: Trace) -> Iterator[SettingDifference]:
    """Settings of one pipeline whose values differ; of two pipelines there is nothing to say."""
    if a.origin != b.origin:
        return
    ones, twos = _all_settings(a), _all_settings(b)
    for name in dict.fromkeys([*ones, *twos]):
        one, two = ones.get(name, ABSENT), twos.get(name, ABSENT)
        if one is ABSENT or two is ABSENT or one != two or type(one) is not type(two):
            yield SettingDifference(
                name, None if one is ABSENT else one, None if two is ABSENT else two
            )


def _all_settings(trace: Trace) -> dict[str, Any]:
    """Mode and models are settings too, and so is what an import says of a stage."""
    found: dict[str, Any] = {"mode": trace.mode} | dict(trace.settings)
    found |= {f"model, {part}": name for part, name in trace.named_models().items()}
    if trace.origin:
        found |= {f"{s.name}, {k}": v for s in trace.stages for k, v in s.settings.items()}
    return found


def _notes(a: Trace, b: Trace, pairs: tuple[Pair, ...], names: tuple[str, str]) -> Iterator[str]:
    if " ".join(a.question.split()) != " ".join(b.question.split()):
        yield "The two were asked different questions."
    if a.origin != b.origin:
        joined = sum(p.by == "text" for p in pairs)
        yield (
            f"Two pipelines: their settings are not compared, and chunks are joined by their text "
            f"({joined:,} stand in both)."
        )
    elif not a.origin:
        if a.corpus != b.corpus:
            yield "The documents, or the way they are cut into chunks, are not the same."
        if a.principal != b.principal:
            yield "They were asked by two principals, who may read different documents."
    if a.ledger.counter != b.ledger.counter:
        yield (
            f"Tokens are counted differently: {a.ledger.counter} in {names[0]}, "
            f"{b.ledger.counter} in {names[1]}."
        )
    for trace, name in ((a, names[0]), (b, names[1])):
        if trace.origin and (absent := [s.name for s in trace.stages if not s.recorded]):
            yield f"{name} does not record: {', '.join(absent)}."
        if not trace.prompt:
            yield f"{name} has no prompt."
