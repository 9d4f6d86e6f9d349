"""The stage table: a row a chunk, a group of columns a stage."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from core.trace import ADDED, Entry, Trace
from dashboard.figures.text import clipped, first_words
from dashboard.lookup import Lookup, how_far
from dashboard.palette import fate_look

COLUMN_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Chunk": ("Document", "Page", "Chunk", "Tokens"),
    "First stage": (
        "BM25 score",
        "BM25 rank",
        "Dense score",
        "Dense rank",
        "Fused score",
        "Fused rank",
        "List score",
        "List rank",
    ),
    "Rerank 1": ("Rerank 1 score", "Rerank 1 rank"),
    "Windows": ("Window",),
    "Rerank 2": ("Rerank 2 score", "Rerank 2 rank"),
    "Relevance": ("Relevance",),
    "End": ("Fate", "Reason", "Prompt number", "Expected"),
    "Text": ("First words",),
}
"""All columns by stage, in their order. A table leaves out those of stages that did not run."""

COLUMN_HELP: Mapping[str, str] = {
    "Document": "The file that the chunk is from.",
    "Page": "The pages that it stands on; empty where the file has none.",
    "Chunk": "Its place in the document, counted from 1.",
    "Tokens": "The size of its text.",
    "BM25 score": "How well its words match the question's; 0 if it holds none of them.",
    "BM25 rank": "Among all chunks; empty where the score is 0.",
    "Dense score": "Cosine of its vector and the question's, −1 to 1.",
    "Dense rank": "Among all chunks.",
    "Fused score": "What orders the first stage, from BM25 and dense.",
    "Fused rank": "Among all chunks; the first of them become candidates.",
    "List score": "What the other pipeline's search gave it, in its own unit.",
    "List rank": "On the list of the other pipeline's search.",
    "Rerank 1 score": "The first rerank's score, 0 to 1.",
    "Rerank 1 rank": "Among the candidates.",
    "Window": "The anchor whose window brought it in, and how many chunks away it stands; or the radius of its own window.",
    "Rerank 2 score": "The second rerank's score, 0 to 1.",
    "Rerank 2 rank": "Among candidates and windows.",
    "Relevance": "Calibrated probability, 0 to 1, that the documents answer the question, lowered by how much less this chunk matches than the best do.",
    "Fate": "Where it ended: in the prompt, or lost.",
    "Reason": "Why it was lost, or what it took in the prompt.",
    "Prompt number": "Its citation number in the prompt.",
    "Expected": "Whether it holds evidence that should have been found.",
    "First words": "The beginning of its text.",
}  # fmt: skip

_RANKS = ("BM25 rank", "Dense rank", "Fused rank", "List rank", "Rerank 1 rank", "Rerank 2 rank")
_WHOLE = (*_RANKS, "Chunk", "Tokens", "Prompt number")
_NUMBERS = ("BM25 score", "Dense score", "Fused score", "List score", "Rerank 1 score", "Rerank 2 score", "Relevance")  # fmt: skip


def stage_table(
    trace: Trace,
    *,
    limit: int | None = 200,
    evidence: Collection[str] = (),
    include: str = "touched",
) -> pd.DataFrame:
    """A row a chunk, those in the prompt first, then by how far each got.

    Args:
        limit: most rows; None for all. Expected evidence is in the table in any case.
        evidence: ids of the chunks that should have been found.
        include: "touched" for the chunks that some stage named, "all" for every chunk that
            the trace has scores for.

    Returns:
        Index: chunk id. Columns: those of :data:`COLUMN_GROUPS` whose stage ran. Ranks and
        counts are nullable whole numbers from 1, scores floats with NaN for none.

    Raises:
        ValueError: for another ``include``.
    """
    if include not in ("touched", "all"):
        raise ValueError(f"include {include!r} is neither 'touched' nor 'all'")
    lookup = Lookup(trace)
    ids = [c.id for c in trace.chunks if lookup.known(c.id)]
    if include == "all":
        ids = [lookup.id_of(row) for row in range(lookup.total)]
    expected = {c for c in evidence if lookup.known(c)}
    order = sorted({*ids, *expected}, key=_Order(lookup))
    if limit is not None and len(order) > limit:
        rest = [c for c in order[limit:] if c in expected]
        order = order[: max(0, limit - len(rest))] + [
            c for c in order[max(0, limit - len(rest)) :] if c in expected
        ]
    columns = _columns(lookup, bool(evidence))
    rows = [_row(lookup, c, c in expected) for c in order]
    frame = pd.DataFrame(rows, index=pd.Index(order, name="chunk id"), columns=columns)
    for name in columns:
        if name in _WHOLE:
            frame[name] = frame[name].astype("Int64")
        elif name in _NUMBERS:
            frame[name] = frame[name].astype("float64")
    return frame


class _Order:
    """Sort key of a chunk: prompt number; else the stage it reached, then its rank before that."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._fused = lookup.corpus_ranks("fused")
        self._last: dict[str, int] = {}
        for stage in lookup.trace.stages:
            for entry in stage.entries:
                if entry.rank:
                    self._last[entry.chunk_id] = entry.rank

    def __call__(self, chunk: str) -> tuple[int, int, int, int]:
        number = self._lookup.numbers.get(chunk)
        if number:
            return (0, 0, number, 0)
        row = self._lookup.row(chunk)
        fused = int(self._fused[row]) if len(self._fused) else row
        last = self._last.get(chunk, self._lookup.total + 1)
        return (1, -how_far(self._lookup.fate(chunk)), last, fused)


def _columns(lookup: Lookup, expected: bool) -> list[str]:
    """The columns of this trace: those of stages that ran, and scores that were computed."""
    gone = set() if expected else {"Expected"}
    for name, title in (("bm25", "BM25"), ("dense", "Dense"), ("fused", "Fused")):
        if not len(lookup.scores(name)):
            gone |= {f"{title} score", f"{title} rank"}
    if not lookup.trace.origin:
        gone |= {"List score", "List rank"}
    for stage, title in (
        ("first_stage", "List"),
        ("rerank_1", "Rerank 1"),
        ("rerank_2", "Rerank 2"),
    ):
        record = lookup.stage(stage)
        if record is None or not record.ran:
            gone |= {f"{title} score", f"{title} rank"}
    if not lookup.ran("extend"):
        gone.add("Window")
    if all(e.relevance is None for s in lookup.entries.values() for e in s.values()):
        gone.add("Relevance")
    return [c for group in COLUMN_GROUPS.values() for c in group if c not in gone]


def _row(lookup: Lookup, chunk: str, expected: bool) -> dict[str, Any]:
    row = lookup.row(chunk)
    place = lookup.place_of(row)
    info = lookup.chunks.get(chunk)
    fate = lookup.fate(chunk)
    pages = lookup.pages(chunk)
    out: dict[str, Any] = {
        "Document": place.document.name,
        "Page": "" if not pages else str(pages[0]) if pages[0] == pages[-1] else f"{pages[0]}–{pages[-1]}",
        "Chunk": row - place.first + 1,
        "Tokens": info.tokens if info else None,
        "Window": _window(lookup, chunk),
        "Relevance": _relevance(lookup, chunk),
        "Fate": fate_look(fate.stage).text,
        "Reason": lookup.reason(chunk) or _spent(lookup, chunk),
        "Prompt number": lookup.numbers.get(chunk),
        "Expected": expected,
        "First words": first_words(info, 160),
    }  # fmt: skip
    for name, title in (("bm25", "BM25"), ("dense", "Dense"), ("fused", "Fused")):
        scores = lookup.scores(name)
        if len(scores):
            out[f"{title} score"] = float(scores[row])
            out[f"{title} rank"] = int(lookup.corpus_ranks(name)[row]) or None
    for stage, title in (
        ("first_stage", "List"),
        ("rerank_1", "Rerank 1"),
        ("rerank_2", "Rerank 2"),
    ):
        entry = _scored(lookup, stage, chunk)
        out[f"{title} score"] = entry.score if entry else None
        out[f"{title} rank"] = entry.rank if entry else None
    return out


def _scored(lookup: Lookup, stage: str, chunk: str) -> Entry | None:
    """The stage's entry, where a reranker gave it: never the score that was there before."""
    record = lookup.stage(stage)
    if record is None or record.degraded:
        return None
    return lookup.entries[stage].get(chunk)


def _window(lookup: Lookup, chunk: str) -> str:
    entry = lookup.entries.get("extend", {}).get(chunk)
    if entry is None:
        return ""
    if entry.fate == ADDED and not entry.anchor:
        return "joined"
    if entry.fate == ADDED:
        anchor = lookup.row(entry.anchor) - lookup.place_of(lookup.row(entry.anchor)).first + 1
        return f"{entry.offset:+d} from chunk {anchor:,}"
    radius = int(entry.scores.get("radius") or 0)
    return f"anchor, radius {radius}" if radius else ""


def _relevance(lookup: Lookup, chunk: str) -> float | None:
    """The last relevance that a stage saw."""
    for stage in reversed(lookup.trace.stages):
        entry = lookup.entries[stage.name].get(chunk)
        if entry is not None and entry.relevance is not None:
            return entry.relevance
    return None


def _spent(lookup: Lookup, chunk: str) -> str:
    """Of a passage, what the budget said of it."""
    entry = lookup.entries.get("budget", {}).get(chunk)
    return clipped(lookup.readable(entry.reason, chunk), 120) if entry else ""
