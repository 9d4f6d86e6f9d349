"""Where each missing piece of evidence was lost.

A piece is one reference of a question. What of it is missing at a budget is looked up chunk
by chunk, and the piece goes to the stage that lost the most characters of it, of equal ones
to the earliest. Where chunks overlap, a character was lost by the stage that its best chunk
reached. The stages:

- ``access``: in a document that the principal may not read.
- ``extraction``: on a page without text, or in text that is in no chunk (front matter,
  running headers).
- ``first_stage``: below the candidates, and no window could have reached it.
- ``extend``: below the candidates, but a candidate of the same document stands within the
  largest radius: its window was too narrow, or stopped by the context limit.
- ``relevance``, ``dedup``, ``diversity``: dropped there.
- ``rerank``: it did not fit the budget, and in the first stage's order it would have.
- ``budget``: it did not fit the budget in either order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from core.evaluate.cover import within_budget
from core.evaluate.records import LOSSES, WHOLE, Evaluation
from core.index.index import Index
from core.modes import MODES
from core.questions import Evidence
from core.records import Chunk, chunk_id
from core.trace import Trace

_DROPPING = ("relevance", "dedup", "diversity")
_PROGRESS = {name: at for at, name in enumerate((*LOSSES[:3], "extend", *_DROPPING))}
_PROGRESS["rerank"] = _PROGRESS["budget"] = len(_PROGRESS)


def lost(trace: Trace, index: Index, evidence: Sequence[Evidence], budget: int) -> tuple[str, ...]:
    """For each piece of evidence the stage that lost it, "" for one that is whole or unfound.

    Args:
        index: the documents, hidden ones included. budget: tokens, as the yardstick cuts.
    """
    shown = {c.id for c in within_budget(final_order(trace, index), budget)}
    return pieces_lost(index, evidence, shown, loss_of(trace, index, budget))


def final_order(trace: Trace, index: Index) -> list[Chunk]:
    """The chunks as they stand ahead of the budget, best first."""
    return [index.chunk(c) for c in trace.stage("diversity").kept]


def first_order(trace: Trace, index: Index) -> list[Chunk]:
    """The candidates as the first stage ordered them."""
    return [index.chunk(c) for c in trace.stage("first_stage").kept]


def loss_of(trace: Trace, index: Index, budget: int) -> Callable[[Chunk], str]:
    """What lost a chunk that is not among those shown at ``budget``."""
    dropped = {c: stage for stage in _DROPPING for c in trace.stage(stage).dropped}
    candidates = trace.stage("first_stage").kept
    reached = {*candidates, *trace.stage("extend").added}
    by_first = {c.id for c in within_budget(first_order(trace, index), budget)}
    visible = {d.id for d in trace.documents}
    wide = int(trace.settings["max_radius"]) if MODES[trace.mode].windows_from else 0
    anchors: dict[str, list[int]] = {}
    for c in candidates if wide else ():
        chunk = index.chunk(c)
        anchors.setdefault(chunk.document_id, []).append(chunk.ordinal)
    for ordinals in anchors.values():
        ordinals.sort()

    def loss(chunk: Chunk) -> str:
        if chunk.document_id not in visible:
            return "access"
        if chunk.id not in reached:
            return "extend" if _near(chunk, anchors, wide) else "first_stage"
        if chunk.id in dropped:
            return dropped[chunk.id]
        return "rerank" if chunk.id in by_first else "budget"

    return loss


def _near(chunk: Chunk, anchors: Mapping[str, list[int]], wide: int) -> bool:
    ordinals = anchors.get(chunk.document_id, [])
    at = bisect_left(ordinals, chunk.ordinal - wide)
    return at < len(ordinals) and ordinals[at] <= chunk.ordinal + wide


def pieces_lost(
    index: Index,
    evidence: Sequence[Evidence],
    shown: Collection[str],
    loss: Callable[[Chunk], str],
) -> tuple[str, ...]:
    """The loss of each piece, given the ids of the chunks shown and what lost any other."""
    out = []
    for e in evidence:
        if e.span is None:
            out.append(WHOLE)
        elif not index.document(e.document_id).text[e.span.start : e.span.end].strip():
            out.append("extraction")
        else:
            missing = _missing(index, e, shown, loss)
            out.append(min(missing, key=_most(missing)) if missing else WHOLE)
    return tuple(out)


def pieces_repeated(
    index: Index, evidence: Sequence[Evidence], shown: Sequence[Chunk]
) -> tuple[int, ...]:
    """The pieces (positions) that are missing at their place, and stand word for word elsewhere
    among the chunks shown: what a document says twice, and dedup keeps once."""
    ids = {c.id for c in shown}
    texts = [" ".join(c.text.split()) for c in shown]
    out = []
    for at, e in enumerate(evidence):
        pieces = [
            " ".join(index.document(e.document_id).text[a:b].split())
            for a, b, holding in _segments(index, e)
            if not any(c.id in ids for c in holding)
        ]
        if pieces and all(any(piece in text for text in texts) for piece in pieces):
            out.append(at)
    return tuple(out)


def _most(missing: Counter[str]) -> Callable[[str], tuple[int, int]]:
    return lambda stage: (-missing[stage], LOSSES.index(stage))


def _missing(
    index: Index, e: Evidence, shown: Collection[str], loss: Callable[[Chunk], str]
) -> Counter[str]:
    """Characters of a piece that are missing, by the stage that lost them."""
    missing: Counter[str] = Counter()
    for a, b, holding in _segments(index, e):
        if not holding:
            missing["extraction"] += b - a
        elif not any(c.id in shown for c in holding):
            missing[max(map(loss, holding), key=_PROGRESS.__getitem__)] += b - a
    return missing


def _segments(index: Index, e: Evidence) -> Iterator[tuple[int, int, list[Chunk]]]:
    """A piece cut at every edge of a chunk: (start, end, the chunks that hold it)."""
    if e.span is None:
        return
    start, end = e.span.start, e.span.end
    chunks = overlapping(index, e)
    cuts = sorted({start, end, *(p for c in chunks for p in (c.start, c.end) if start < p < end)})
    for a, b in pairwise(cuts):
        yield a, b, [c for c in chunks if c.start <= a and b <= c.end]


def overlapping(index: Index, e: Evidence) -> Sequence[Chunk]:
    """The chunks that hold a part of a piece of evidence, in order."""
    if e.span is None:
        return ()
    try:
        first, last = index.document_range(index.row(chunk_id(e.document_id, 0)))
    except KeyError:  # a document all of whose text is unranked
        return ()
    # Both starts and ends rise from chunk to chunk, also where chunks overlap.
    begin = bisect_right(index.chunks, e.span.start, first, last, key=lambda c: c.end)
    end = bisect_left(index.chunks, e.span.end, first, last, key=lambda c: c.start)
    return index.chunks[begin:end]


def lost_questions(
    evaluation: Evaluation, mode: str, budget: int
) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
    """stage → question id → the references (positions) that the stage lost: a bar's contents."""
    out: dict[str, dict[str, tuple[int, ...]]] = {stage: {} for stage in LOSSES}
    for asked in evaluation.common:
        stages = evaluation.by_mode[mode][asked.id].lost[str(budget)]
        for stage in dict.fromkeys(s for s in stages if s):
            out[stage][asked.id] = tuple(i for i, s in enumerate(stages) if s == stage)
    return out
