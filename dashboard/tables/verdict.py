"""A verdict in numbers: a line a number for one chunk, a row a chunk, a row a knob tried."""

from __future__ import annotations

import pandas as pd

from core.diagnosis import ChunkVerdict, Proposal, Proposals, Verdict
from core.diagnosis.differences import Difference
from core.diagnosis.facts import (
    Capped,
    Cut,
    Duplicate,
    Facts,
    Hidden,
    OverBudget,
    Threshold,
    Trimmed,
)
from core.diagnosis.grid import MODE
from core.diagnosis.naming import amount, beside, chunk_name, listed, quoted, shares
from core.diagnosis.proposals import TITLES
from core.diagnosis.recorded import RecordedVerdict
from core.diagnosis.standing import Standing
from core.diagnosis.windows import MissedWindow
from core.index.index import Index
from core.modes import MODES
from core.settings import knob_named
from core.words import counted
from dashboard.lookup import STAGE_TITLES
from dashboard.palette import fate_look

Fact = tuple[str, str]
"""What a number is, and the number with its unit."""

TRIED = ("Knob", "Settings run", "Left out as hopeless", "What came of it")
RECORDED = ("Stage", "What it did", "Rank there", "Score there")
VERDICTS = ("Fate", "Chunk", "Fused rank", "BM25 rank", "Dense rank", "Margin", "What happened")


def fact_rows(said: ChunkVerdict, index: Index) -> list[Fact]:
    """The numbers behind a verdict: ranks in the whole corpus, words, and what beat it.

    ``index`` is what the reader may see: names of other chunks come from it.
    """
    rows = _standing(said.standing) if said.standing else []
    if said.facts is not None:
        rows += _facts(said.facts, said.chunk_id, index)
    return rows


def differing(said: ChunkVerdict) -> Difference | None:
    """The words in which a duplicate differs from its twin; None for any other verdict."""
    return said.facts.difference if isinstance(said.facts, Duplicate) else None


def verdict_table(said: Verdict) -> pd.DataFrame:
    """A row a chunk of the target; index: chunk id. Columns: :data:`VERDICTS`.

    A rank is empty where the score was not computed, or there was no term to rank it by.
    """
    rows = [
        (
            fate_look(c.stage).text,
            c.name,
            c.standing.fused_rank if c.standing else None,
            c.standing.bm25_rank if c.standing else None,
            c.standing.dense_rank if c.standing else None,
            c.margin,
            c.sentence,
        )
        for c in said.chunks
    ]
    ids = pd.Index([c.chunk_id for c in said.chunks], name="chunk id")
    frame = pd.DataFrame(rows, index=ids, columns=list(VERDICTS))
    ranks = dict.fromkeys([c for c in VERDICTS if c.endswith("rank")], "Int64")
    return frame.astype(ranks | {"Margin": "float64"})


def recorded_table(said: RecordedVerdict) -> pd.DataFrame:
    """A row a stage of a trace without documents; columns: :data:`RECORDED`."""
    rows = [
        (
            STAGE_TITLES[s.stage],
            s.said,
            "" if s.rank is None else f"{s.rank:,}",
            "" if s.score is None else amount(s.score),
        )
        for s in said.steps
    ]
    return pd.DataFrame(rows, columns=list(RECORDED))


def tried_table(proposals: Proposals) -> pd.DataFrame:
    """A row a knob that was tried, or left out; columns: :data:`TRIED`."""
    rows = [(knob_title(t.knob), t.runs, t.excluded, t.outcome) for t in proposals.tried]
    return pd.DataFrame(rows, columns=list(TRIED))


def knob_title(name: str) -> str:
    """What a knob is called where its stage does not stand beside it."""
    return TITLES.get(name) or knob_named(name).label or name


def knob_value(name: str, value: object, *, unit: bool = True) -> str:
    """A knob's value, with its unit where the title does not say it already."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return MODES[value].title if name == MODE and value in MODES else value
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    known = "" if name == MODE else knob_named(name).unit
    known = known.removesuffix("s") if value == 1 else known
    said = unit and known and known not in knob_title(name).lower()
    return f"{text} {known}" if said else text


def turned(name: str, old: object, new: object) -> tuple[str, str, str]:
    """(knob, from, to) in words, the unit once."""
    return knob_title(name), knob_value(name, old, unit=False), knob_value(name, new)


def turns(proposal: Proposal) -> list[tuple[str, str, str]]:
    """(knob, from, to) of each knob that a proposal turns, in words."""
    return [turned(k, proposal.before[k], v) for k, v in proposal.changes.items()]


def price(proposal: Proposal, index: Index) -> list[Fact]:
    """What a proposal costs: tokens, what comes in, what falls out."""
    return [
        ("Tokens", f"{proposal.tokens:+,} in the prompt"),
        ("Comes in", _names(proposal.gained, index)),
        ("Falls out", _names(proposal.lost, index)),
    ]


def _steps(proposal: Proposal) -> str:
    """In which steps the knob was turned: between two of them a lucky value may exist."""
    (knob,) = proposal.changes
    step = knob_named(knob).step if knob != MODE else None
    return f" in steps of {step:g}" if step else ""


def proof(proposal: Proposal) -> str:
    """How sure a proposal is, in words."""
    if len(proposal.changes) > 1:
        return "run, and it arrives; one step less of either knob is not enough"
    if any(isinstance(v, (str, bool)) for v in proposal.changes.values()):
        return "run, and it arrives"
    if proposal.exact:
        return f"run, and it arrives; no smaller change is enough{_steps(proposal)}"
    return "run, and it arrives; the step before is not enough (not every smaller one was run)"


def _names(chunks: tuple[str, ...], index: Index) -> str:
    if not chunks:
        return "nothing"
    return f"{counted(len(chunks), 'chunk')}: {listed([chunk_name(index, c) for c in chunks], 4)}"


def _standing(where: Standing) -> list[Fact]:
    ranks = [
        f"{name} {rank:,}{_score(score)}"
        for name, rank, score in (
            ("fused", where.fused_rank, where.fused),
            ("BM25", where.bm25_rank, where.bm25),
            ("dense", where.dense_rank, where.dense),
        )
        if rank is not None
    ]
    rows = [(f"Rank among {where.total:,} chunks", " · ".join(ranks) or "none: no score")]
    if where.has or where.lacks:
        rows.append(("Words of the question it has", quoted(where.has, 12) or "none of them"))
    if where.lacks:
        rows.append(("Words it lacks", quoted(where.lacks, 12)))
    return rows


def _score(score: float | None) -> str:
    return "" if score is None else f" (score {amount(score)})"


def _facts(facts: Facts, own: str, index: Index) -> list[Fact]:
    def name(chunk: str) -> str:
        return chunk_name(index, chunk, beside=own)

    match facts:
        case Cut():
            return _cut(facts, name)
        case Threshold():
            judged = [("Judged by its window's anchor", name(facts.anchor))] if facts.anchor else []
            if facts.relevance is None:
                needed = f"not a number; {amount(facts.threshold)} needed"
            else:
                own, least, short = beside(facts.relevance, facts.threshold)
                needed = f"{own} of {least} needed: {short} too little"
            return [("Relevance (probability)", needed), *judged]
        case Duplicate():
            own, most = shares(facts.overlap, facts.threshold)
            share = f"{own} of the words of the smaller one; {most} is too much"
            arrived = "in the prompt" if facts.twin_arrived else "not in the prompt either"
            return [("Duplicate of", f"{name(facts.twin)}, {arrived}"), ("Shares", share)]
        case Capped():
            before = listed([name(c) for c in facts.before])
            return [("Passages a source", f"at most {facts.cap}"), ("Better ones", before)]
        case OverBudget():
            return [
                ("Tokens", f"{facts.needed:,} needed, {facts.left:,} of {facts.room:,} left"),
                ("Place", f"{facts.rank:,} of {facts.of:,} that asked for room"),
                ("Taken before by", listed([f"{name(s.chunk_id)} ({s.tokens:,} tokens)" for s in facts.before]) or "nothing"),
            ]  # fmt: skip
        case Trimmed():
            cut = f"{facts.shown:.0%} of it, {facts.characters:,} characters of its chunk"
            return [("Shown", cut)]
        case Hidden():
            return [("Document", facts.document)]


def _cut(facts: Cut, name) -> list[Fact]:
    rows = [("Candidates", f"the best {facts.limit:,} went on, by {facts.by}")]
    if facts.last and facts.last_score is not None:
        score = f"score {amount(facts.last_score)}"
        if facts.gap is not None:
            own, last, gap = beside(facts.last_score - facts.gap, facts.last_score)
            score = (
                f"score {last}, {gap} more than its {own}"
                if facts.gap
                else f"the same score, {own}"
            )
        rows.append(("Took the last place", f"{name(facts.last)} ({score})"))
    if facts.window is not None:
        rows.append(("Nearest window", _window(facts.window, name)))
    return rows


def _window(window: MissedWindow, name) -> str:
    score = "no score" if window.score is None else f"window score {amount(window.score)} of 1"
    said = (
        f"around {name(window.anchor)} ({score}): radius {window.radius}, {window.distance} needed"
    )
    if window.stopped:
        return f"{said}; the context limit stopped it"
    if window.needed_score is not None:
        return f"{said}, which takes a score above {window.needed_score:.2f}"
    return f"{said}; no score gives more than {window.max_radius}"
