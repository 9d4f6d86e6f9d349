"""How much of the evidence a context holds, by characters, at a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.questions import Evidence
from core.records import Chunk
from core.trace import Passage

Stretch = Passage | Chunk


def covered(evidence: Sequence[Evidence], shown: Iterable[Stretch]) -> float | None:
    """The share, in [0, 1], of the evidence's characters that the stretches shown hold.

    Each character of evidence counts once, however often references or passages repeat it.
    None where no evidence was found in the documents: there is nothing to miss.
    """
    wanted: dict[str, set[int]] = {}
    for e in evidence:
        if e.span is not None:
            wanted.setdefault(e.document_id, set()).update(range(e.span.start, e.span.end))
    total = sum(map(len, wanted.values()))
    if not total:
        return None
    for s in shown:
        wanted.get(s.document_id, set()).difference_update(range(s.start, s.end))
    return 1 - sum(map(len, wanted.values())) / total


def evidence_chunks(evidence: Sequence[Evidence], chunks: Iterable[Chunk]) -> tuple[str, ...]:
    """The ids of the chunks that hold a part of the evidence."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for e in evidence:
        if e.span is not None:
            spans.setdefault(e.document_id, []).append((e.span.start, e.span.end))
    return tuple(
        c.id
        for c in chunks
        if any(start < c.end and c.start < end for start, end in spans.get(c.document_id, ()))
    )


def within_budget(chunks: Iterable[Chunk], budget: int) -> list[Chunk]:
    """Whole chunks, best first, until the next one does not fit: the yardstick's own cut."""
    chosen, used = [], 0
    for chunk in chunks:
        if used + chunk.tokens > budget:
            break
        chosen.append(chunk)
        used += chunk.tokens
    return chosen
