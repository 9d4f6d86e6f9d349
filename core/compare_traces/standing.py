"""Where a chunk stands in one of two traces: its rank at each stage, its end, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from core.fates import Fate, Fates
from core.records import Chunk
from core.trace import Trace

_CHUNK_ID = re.compile(r"\b[0-9a-f]{16}:\d{6}\b")

NO_SUCH = "no_such_chunk"
"""Where a chunk ended in a trace that has none of its kind."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One chunk in one trace.

    ``ranks`` are those that left each stage that ranked it, by stage, from 1. ``stage`` is
    where it ended ("prompt": it arrived), ``number`` its number in the prompt, ``rank`` its rank
    among the passages, best first. ``tokens`` is what it takes there; None where it is not.
    """

    chunk_id: str
    stage: str
    words: str
    reason: str = ""
    number: int | None = None
    rank: int | None = None
    tokens: int | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)

    @property
    def arrived(self) -> bool:
        return self.stage == "prompt"

    @property
    def sentence(self) -> str:
        """``in the prompt as [2]``, or where it was lost and why."""
        if self.arrived:
            return f"in the prompt as [{self.number}]"
        return self.words + (f": {self.reason}" if self.reason else "")


class Stands:
    """Looks chunks up in one trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.chunks: dict[str, Chunk] = {c.id: c for c in trace.chunks}
        self._documents = {d.id: d.name for d in trace.documents}
        self._passages = {p.chunk_id: p for p in trace.selected}
        self._order = _passage_ranks(trace)
        self._ranks: dict[str, dict[str, int]] = {}
        for record in trace.stages:
            for entry in record.entries:
                if entry.rank is not None:
                    self._ranks.setdefault(entry.chunk_id, {})[record.name] = entry.rank

    @cached_property
    def _fates(self) -> Fates:
        return Fates(self.trace)

    def of(self, chunk_id: str, missing: str = "") -> Standing:
        """The standing of a chunk; ``missing`` says why the trace has none where the id is ""."""
        if not chunk_id:
            return Standing("", NO_SUCH, "not there", missing)
        passage = self._passages.get(chunk_id)
        fate = self._fates.of(chunk_id)
        return Standing(
            chunk_id=chunk_id,
            stage=fate.stage,
            words=fate.words,
            reason=self._reason(fate),
            number=passage.number if passage else None,
            rank=self._order.get(chunk_id),
            tokens=passage.tokens if passage else None,
            ranks=self._ranks.get(chunk_id, {}),
        )

    def _reason(self, fate: Fate) -> str:
        reason = _CHUNK_ID.sub(lambda m: self.named(m.group()), fate.reason)
        if fate.cause and fate.stage in ("dedup", "diversity"):
            reason += f" ({self.named(fate.cause)})"
        return reason

    def named(self, chunk_id: str) -> str:
        """``faq.txt, chunk 12, page 3``, counted from 1; the id where its document is unknown."""
        document, _, ordinal = chunk_id.rpartition(":")
        if document not in self._documents:
            return chunk_id
        place = f"{self._documents[document]}, chunk {int(ordinal) + 1:,}"
        chunk = self.chunks.get(chunk_id)
        if chunk is not None and chunk.pages:
            first, last = chunk.pages[0], chunk.pages[-1]
            place += f", page {first}" if first == last else f", pages {first} to {last}"
        return place


def _passage_ranks(trace: Trace) -> Mapping[str, int]:
    """The rank of each passage, best first: as the budget took them, not as they are shown."""
    numbered = [p.chunk_id for p in trace.selected]
    held = set(numbered)
    kept = [c for c in trace.stage("budget").kept if c in held]
    order = dict.fromkeys([*kept, *numbered])
    return {c: rank for rank, c in enumerate(order, 1)}
