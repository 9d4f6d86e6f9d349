"""A recorded run of another pipeline as a trace of this one's shape.

Nothing is made up: a stage without a list says *not recorded*, a reason that the import lacks
says so too, and chunks are the results that its lists name, no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from core.errors import ModelError
from core.interchange import passages
from core.interchange.names import UNNAMED, file_name, page_of, source_of, span_of
from core.interchange.recorded import Hit, RankedList, Recorded, Source
from core.records import Chunk, chunk_id
from core.settings import STAGES
from core.tokens import TokenCounter, WordCounter, wordpiece
from core.trace import (
    ADDED,
    DROPPED,
    EVIDENCE,
    KEPT,
    NOT_RECORDED,
    NOTHING_ARRIVED,
    DocumentInfo,
    Entry,
    Ledger,
    StageRecord,
    Trace,
)

IMPORTED = "imported"
"""The mode of an imported trace."""

ONLY_NAMED = (
    "Chunks are the results that the import names, numbered in its order; of the rest of its "
    "documents nothing is known."
)
NO_REASON = "is not on this stage's list; the import gives no reason"
CARRIED = "is not on this stage's list, but on a later one"
APPEARED = "is on no earlier list"


def to_trace(
    recorded: Recorded, *, pages_from_zero: bool | None = None, counter: TokenCounter | None = None
) -> Trace:
    """The trace of a recorded run.

    Args:
        pages_from_zero: how results count the key ``page``; None leaves it unread.
        counter: counts tokens here; the embedded model's, or words where it is not installed.
            The import's own counts, if any, are of another tokenizer.
    """
    counter = counter or _counter()
    hits = _hits(recorded.lists)
    documents, names = _documents(recorded, hits, pages_from_zero)
    chunks = _chunks(hits, names, pages_from_zero, counter)
    flow = _Flow(recorded.lists, names)
    records = {rank.stage: flow.record(i) for i, rank in enumerate(recorded.lists)}
    stages = [records.get(name) for name in STAGES]
    by_id = {c.id: c for c in chunks}
    last = [by_id[c] for c in flow.alive]
    end = passages.placed(last, recorded, listed="prompt" in records)
    if end.record is not None:
        stages[-1] = end.record
    prompt = "\n\n".join(recorded.prompts)
    selected = passages.selected(
        end, {d.id: d.name for d in documents}, {c: flow.scores.get(c) for c in by_id}
    )
    return Trace(
        question=recorded.question,
        mode=IMPORTED,
        settings=dict(recorded.settings),
        outcome=EVIDENCE if selected else NOTHING_ARRIVED,
        models=dict(recorded.models),
        documents=documents,
        stages=_filled(stages),
        chunks=chunks,
        selected=selected,
        prompt=prompt,
        ledger=_ledger(recorded, prompt, sum(p.tokens for p in selected), counter),
        warnings=(
            ONLY_NAMED,
            *end.warnings,
            *recorded.warnings,
        ),
        origin=recorded.pipeline or "another pipeline",
        foreign_ids={own: there for there, own in names.items()},
    )


def _counter() -> TokenCounter:
    try:
        return wordpiece()
    except ModelError:
        return WordCounter()


def _hits(lists: Iterable[RankedList]) -> dict[str, Hit]:
    """Every result once, by the other pipeline's id, with the first text that a list gives it."""
    found: dict[str, Hit] = {}
    for ranked in lists:
        for hit in (*ranked.hits, *(d.hit for d in ranked.dropped)):
            held = found.get(hit.id)
            if held is None or not held.text and hit.text:
                metadata = {**(held.metadata if held else {}), **hit.metadata}
                found[hit.id] = Hit(hit.id, hit.text, metadata=metadata)
            elif not source_of(held.metadata) and hit.metadata:
                found[hit.id] = Hit(hit.id, held.text, metadata={**held.metadata, **hit.metadata})
    return found


def _documents(
    recorded: Recorded, hits: Mapping[str, Hit], from_zero: bool | None
) -> tuple[tuple[DocumentInfo, ...], dict[str, str]]:
    """The documents, and the chunk id of each result: in document order where that is known."""
    known = {s.key: s for s in recorded.sources} | {s.name: s for s in recorded.sources}
    grouped: dict[Source, list[Hit]] = {s: [] for s in recorded.sources}
    for hit in hits.values():
        key = source_of(hit.metadata)
        source = known.get(key) or Source(key, file_name(key) if key else UNNAMED)
        grouped.setdefault(source, []).append(hit)
    infos, names = [], {}
    for source, members in grouped.items():
        own = _document_id(recorded.pipeline, source.key)
        starts = [span_of(h.metadata, len(h.text)) for h in members]
        if all(end > start for start, end in starts):
            members = [h for _, h in sorted(zip(starts, members, strict=True), key=lambda p: p[0])]
        names |= {h.id: chunk_id(own, i) for i, h in enumerate(members)}
        pages = max((page_of(h.metadata, from_zero) for h in members), default=0)
        infos.append(
            DocumentInfo(
                id=own,
                name=source.name,
                title=source.title or source.name,
                chunks=len(members),
                characters=0,
                pages=source.pages or pages,
                date=source.date,
            )
        )
    return tuple(infos), names


def _document_id(pipeline: str, key: str) -> str:
    """Sixteen hex digits, as those of this pipeline's documents, and never the same."""
    named = f"imported\0{pipeline}\0{key}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).hexdigest()[:16]


def _chunks(
    hits: Mapping[str, Hit],
    names: Mapping[str, str],
    from_zero: bool | None,
    counter: TokenCounter,
) -> tuple[Chunk, ...]:
    tokens = counter.count_many([h.text for h in hits.values()])
    made = []
    for hit, count in zip(hits.values(), tokens, strict=True):
        own = names[hit.id]
        document, _, ordinal = own.rpartition(":")
        start, end = span_of(hit.metadata, len(hit.text))
        page = page_of(hit.metadata, from_zero)
        made.append(
            Chunk(
                id=own,
                document_id=document,
                ordinal=int(ordinal),
                start=start,
                end=end,
                text=hit.text,
                tokens=count,
                pages=(page, page) if page else (),
            )
        )
    return tuple(sorted(made, key=lambda c: c.id))


class _Flow:
    """The lists one after the other: what each kept, added and lost.

    ``alive`` are the chunks that are still on their way, best first; ``scores`` the last score
    of each. A chunk that a list leaves out and a later one holds was not lost.
    """

    def __init__(self, lists: Sequence[RankedList], names: Mapping[str, str]) -> None:
        self._lists, self._names = lists, names
        self._last = {names[h.id]: i for i, ranked in enumerate(lists) for h in ranked.hits}
        self.alive: list[str] = []
        self.scores: dict[str, float | None] = {}

    def record(self, at: int) -> StageRecord:
        """The record of list ``at``; to be asked for in order, once each."""
        ranked, names = self._lists[at], self._names
        listed = {names[h.id]: h for h in ranked.hits}
        before = set(self.alive)
        kept = [c for c in listed if c in before or not at]
        added = [c for c in listed if c not in before and at]
        carried = [c for c in self.alive if c not in listed and self._last[c] > at]
        said = {names[d.hit.id]: d for d in ranked.dropped}
        gone = [c for c in self.alive if c not in listed and self._last[c] < at]
        lost = dict.fromkeys([*gone, *(c for c in said if self._last.get(c, -1) < at)])
        entries = [
            Entry(
                c,
                ADDED if c in added else KEPT,
                rank,
                hit.score,
                dict(hit.scores),
                APPEARED if c in added else "",
            )
            for rank, (c, hit) in enumerate(listed.items(), 1)
        ]
        entries += [Entry(c, KEPT, reason=CARRIED) for c in carried]
        for c in lost:
            drop = said.get(c)
            entries.append(
                Entry(
                    c,
                    DROPPED,
                    score=drop.hit.score if drop else None,
                    scores=dict(drop.hit.scores) if drop else {},
                    reason=(drop.reason if drop else "") or NO_REASON,
                    cause=names.get(drop.cause, "") if drop else "",
                )
            )
        self.scores |= {c: h.score for c, h in listed.items() if h.score is not None}
        self.alive = [*listed, *carried]
        entered = len(kept) + len(carried) + len(lost)
        final = ranked.hits[-1] if ranked.hits else None
        return StageRecord(
            ranked.stage,
            settings=dict(ranked.settings),
            seconds=ranked.seconds,
            model=ranked.model,
            how=ranked.how or ranked.title,
            entered=max(entered, ranked.entered or 0) if not at else entered,
            passed=len(self.alive),
            kept=(*kept, *carried),
            added=tuple(added),
            dropped=tuple(lost),
            entries=tuple(entries),
            warnings=ranked.warnings,
            last_kept=names[final.id] if final else "",
            cut_score=final.score if final else None,
        )


def _filled(stages: Sequence[StageRecord | None]) -> tuple[StageRecord, ...]:
    """All stages of the pipeline: where there is no record, everything is passed on."""
    out: list[StageRecord] = []
    for name, record in zip(STAGES, stages, strict=True):
        if record is None:
            held = (*out[-1].kept, *out[-1].added) if out else ()
            record = StageRecord(
                name,
                ran=False,
                how=NOT_RECORDED,
                entered=len(held),
                passed=len(held),
                kept=held,
            )
        out.append(record)
    return tuple(out)


def _ledger(recorded: Recorded, prompt: str, evidence: int, counter: TokenCounter) -> Ledger:
    """What can be counted here: passages, and the prompt where it is recorded."""
    if not prompt:
        return Ledger(counter.name, evidence=evidence, total=evidence)
    question = counter.count(recorded.question) if recorded.question in prompt else 0
    total = counter.count(prompt)
    return Ledger(counter.name, question=question, evidence=evidence, total=max(total, evidence))
