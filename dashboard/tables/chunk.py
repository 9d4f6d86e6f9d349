"""One chunk's tables: its way through the stages, and every number it was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.trace import ADDED, DROPPED, Entry, StageRecord, Trace
from core.words import counted
from dashboard.lookup import STAGE_TITLES, Lookup

JOURNEY = ("Stage", "What happened", "Rank in", "Rank out", "Score")
COMPONENTS = ("Score", "Stage", "Value", "Meaning")

_MEANINGS: Mapping[str, str] = {
    "bm25": "Match of the question's words, by BM25; 0 or more",
    "dense": "Cosine of the chunk's vector and the question's, −1 to 1",
    "sparse": "Match of the question's tokens, by the weights that the encoder learnt; 0 or more",
    "fused": "What orders the first stage",
    "window_score": "Score that sets the window's size, 0 to 1 over the candidates",
    "radius": "Chunks that join on each side",
    "relevance": "Calibrated probability, 0 to 1, that the documents answer the question, lowered by "
    "how much less this chunk matches than the best do: high for all chunks of a question that is "
    "answered well",
}
_THEIRS = "As the import gives it"
_RERANK_PARTS: Mapping[str, str] = {
    "": "What orders after this rerank, 0 to 1",
    "raw": "The model's own number",
    "bm25": "BM25 share (logarithm), 0 to 1 over the candidates",
    "dense": "Dense share, 0 to 1 over the candidates",
    "maxsim": "Best match of each word of the question among the chunk's words and, counting less, its neighbours' (MaxSim), rare words counting more, 0 to 1 over the candidates",
    "terms": "Share of the question's words that it holds, 0 to 1 over the candidates",
    "near": "MaxSim with the neighbours' words, before it is set to 0 to 1",
    "coverage": "Share of the question's words that it holds, rare words counting more, 0 to 1",
    "own": "Weighted mean of the four shares",
    "neighbours": "Gained from the scores of its neighbours",
    "logit": "The cross-encoder's output before it becomes a probability",
}  # fmt: skip


def component_table(trace: Trace, chunk_id: str) -> pd.DataFrame:
    """Every score of a chunk by name, with the stage that gave it and what it means.

    Columns: :data:`COMPONENTS`; a value that is not a number is NaN. Empty for a chunk that
    the trace does not know.
    """
    lookup = Lookup(trace)
    if not lookup.known(chunk_id):
        return pd.DataFrame(columns=list(COMPONENTS))
    rows: list[tuple[str, str, float | None, str]] = []
    at = lookup.row(chunk_id)
    titles = {"bm25": "BM25", "dense": "Dense", "sparse": "Sparse", "fused": "Fused"}
    for name, title in titles.items():
        scores = lookup.scores(name)
        if len(scores):
            ranked = int(lookup.corpus_ranks(name)[at])
            place = f"; rank {ranked:,} of {lookup.total:,}" if ranked else ""
            rows.append((title, "First stage", float(scores[at]), _MEANINGS[name] + place))
    relevance: tuple[float, str] | None = None
    for record in trace.stages:
        entry = lookup.entries[record.name].get(chunk_id)
        if entry is None:
            continue
        if record.name != "first_stage":
            title = STAGE_TITLES.get(record.name, record.name)
            rows += [
                (_name(n, record.name), title, v, _meaning(n, record.name))
                for n, v in entry.scores.items()
                if not trace.origin
            ]
        if trace.origin:
            scores = {"Score": entry.score, **entry.scores}
            title = STAGE_TITLES.get(record.name, record.name)
            rows += [(n, title, v, _THEIRS) for n, v in scores.items() if v is not None]
        if entry.relevance is not None and relevance is None:
            relevance = (entry.relevance, STAGE_TITLES.get(record.name, record.name))
        elif entry.relevance is not None and record.name == "rerank_2":
            relevance = (entry.relevance, STAGE_TITLES[record.name])
    if relevance:
        rows.append(("Relevance", relevance[1], relevance[0], _MEANINGS["relevance"]))
    frame = pd.DataFrame(rows, columns=list(COMPONENTS))
    return frame.astype({"Value": "float64"})


def _name(score: str, stage: str) -> str:
    """A score's name for a person: ``rerank_1_maxsim`` is "MaxSim" in the stage Rerank 1."""
    part = score.removeprefix(stage).strip("_") if score.startswith(stage) else score
    known = {"": "Score", "bm25": "BM25", "maxsim": "MaxSim"}
    return known.get(part) or part.replace("_", " ").capitalize()


def _meaning(score: str, stage: str) -> str:
    if score.startswith(stage):
        part = score.removeprefix(stage).strip("_")
        return _RERANK_PARTS.get(part, "A part of this rerank's score")
    return _MEANINGS.get(score, "")


NOT_USED = "This mode does without it."


def journey_table(trace: Trace, chunk_id: str) -> pd.DataFrame:
    """What each stage did to a chunk, one row a stage, up to the one that lost it.

    Columns: :data:`JOURNEY`. Ranks count from 1 and are empty where the chunk had none.
    Empty for a chunk that the trace does not know.
    """
    lookup = Lookup(trace)
    if not lookup.known(chunk_id):
        return _journey([])
    rows: list[tuple[str, str, int | None, int | None, float | None]] = []
    rank: int | None = None
    present = False
    for record in trace.stages:
        title = STAGE_TITLES.get(record.name, record.name)
        entry = lookup.entries[record.name].get(chunk_id)
        if not record.recorded:
            rows.append((title, "Not recorded.", None, None, None))
        elif record.name == "access":
            rows.append((title, "This principal may read its document.", None, None, None))
        elif not record.ran:
            rows.append((title, NOT_USED, rank, rank, None))
        elif entry is None and record.name == "first_stage":
            said = "Not on its list." if trace.origin else _not_taken(lookup, chunk_id)
            rows.append((title, said, None, None, _fused(lookup, chunk_id)))
        elif entry is None and not present:
            if record.name != "extend":
                continue
            rows.append((title, "No window reached it.", None, None, None))
        elif entry is None:
            rows.append((title, _passed(lookup, record, chunk_id), rank, rank, None))
        else:
            out = None if entry.fate == DROPPED else entry.rank
            rows.append((title, _sentence(lookup, record, entry), rank, out, entry.score))
            rank, present = out, True
            if entry.fate == DROPPED:
                break
    return _journey(rows)


def _journey(rows: list[Any]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(JOURNEY))
    return frame.astype({"Rank in": "Int64", "Rank out": "Int64", "Score": "float64"})


def _fused(lookup: Lookup, chunk: str) -> float | None:
    scores = lookup.scores("fused")
    return float(scores[lookup.row(chunk)]) if len(scores) else None


def _not_taken(lookup: Lookup, chunk: str) -> str:
    """Why the first stage did not take a chunk, which its own ranks tell."""
    reason = lookup.reason(chunk) if chunk not in lookup.chunks else ""
    ranked = lookup.corpus_ranks("fused")
    if not reason and len(ranked):
        reason = f"ranked {int(ranked[lookup.row(chunk)]):,} of {lookup.total:,}"
    return _capital(f"{reason or 'not taken'}{_halves(lookup, chunk)}.")


def _halves(lookup: Lookup, chunk: str) -> str:
    """``: 12th by BM25, 40th by dense`` in plain words."""
    row, said = lookup.row(chunk), []
    for name, title in (("bm25", "BM25"), ("dense", "dense")):
        ranked = lookup.corpus_ranks(name)
        if len(ranked):
            said.append(
                f"rank {int(ranked[row]):,} by {title}" if ranked[row] else f"no match by {title}"
            )
    return f" ({', '.join(said)})" if said else ""


def _passed(lookup: Lookup, record: StageRecord, chunk: str) -> str:
    if record.name == "prompt":
        numbered = lookup.numbers.get(chunk)
        return f"In the prompt as [{numbered}]." if numbered else "Not in the prompt."
    if record.degraded:
        return f"No score: {record.degraded}."
    return "Passed on unchanged."


def _sentence(lookup: Lookup, record: StageRecord, entry: Entry) -> str:
    reason = lookup.readable(entry.reason, entry.chunk_id)
    if entry.fate == DROPPED:
        return _capital(f"lost: {lookup.reason(entry.chunk_id)}.")
    if lookup.trace.origin:
        ranked = f"rank {entry.rank} of {record.passed:,} on its list" if entry.rank else "kept"
        return _capital(f"{ranked}{f'; {reason}' if reason else ''}.")
    if entry.fate == ADDED:
        side = "after" if entry.offset > 0 else "before"
        return (
            f"Joined: {counted(abs(entry.offset), 'chunk')} {side} its anchor, "
            f"{lookup.where(entry.anchor)}."
        )
    if record.name == "first_stage":
        return f"Taken as a candidate{_halves(lookup, entry.chunk_id)}."
    if record.degraded:
        return f"Not reranked: {record.degraded}."
    if record.name.startswith("rerank"):
        return f"Reranked among {counted(record.passed, 'chunk')}" + (
            f"; {reason}." if reason else "."
        )
    if record.name == "extend":
        return _anchor(entry, reason)
    if record.name == "relevance":
        return (
            f"Not below the threshold: relevance {entry.relevance:.3f}."
            if entry.relevance is not None
            else "Kept."
        )
    if record.name == "order":
        return f"Stands at place {entry.rank} in the prompt."
    return _capital(
        f"kept: {reason}." if reason and not reason.startswith("kept") else f"{reason or 'kept'}."
    )


def _anchor(entry: Entry, reason: str) -> str:
    radius = int(entry.scores.get("radius") or 0)
    if not radius:
        return "Opened no window: its score was below the window threshold."
    stopped = reason.partition(", ")[2]
    return f"Opened a window of up to {counted(radius, 'chunk')} to each side" + (
        f", {stopped}." if stopped else "."
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
