"""The whole answer to "why is this missing?": verdict, proposals and faults, as text or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.naming import listed
from core.diagnosis.proposals import SECONDS, Proposal, Proposals, propose
from core.diagnosis.recall import RecallPrice, recall_prices
from core.diagnosis.symptoms import Fault, faults
from core.diagnosis.targets import Target
from core.diagnosis.verdicts import TITLES, ChunkVerdict, Verdict, verdict
from core.fates import PROMPT
from core.index.index import Index
from core.pipeline import Pipeline
from core.plain import plain
from core.questions import Question
from core.records import Principal
from core.settings import STAGES, parse_settings
from core.trace import OUTCOMES, Trace
from core.words import counted

QUICK = 3.0
"""Seconds. A run that took longer is not run again to see whether its citations are stable."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a target, what brings it back, and what else the trace shows.

    ``elsewhere`` are verdicts on other places where the passage stands; the one that came
    furthest is ``verdict``. ``recall`` is what each proposal does to a question set, in their
    order: empty where none of its questions has evidence in these documents, None without a set.
    """

    trace: Trace
    verdict: Verdict
    elsewhere: tuple[Verdict, ...]
    proposals: Proposals
    faults: tuple[Fault, ...]
    recall: tuple[RecallPrice, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types; the keys that scripts rely on."""
        target = self.verdict.target
        return {
            "question": self.trace.question,
            "mode": self.trace.mode,
            "outcome": self.trace.outcome,
            "target": {
                "kind": target.kind,
                "asked": target.asked,
                "found": target.share if target.pieces else 0.0,
                "missing": list(target.missing),
                "problem": target.problem,
                "pages_without_text": plain(target.silent),
            },
            "verdict": _whole(self.verdict),
            "verdicts": [_chunk(c) for c in self.verdict.chunks],
            "elsewhere": [
                _whole(v) | {"chunk_ids": list(v.target.chunk_ids)} for v in self.elsewhere
            ],
            "proposals": [
                _proposal(p) | ({"recall": plain(r) | {"sentence": r.sentence}} if r else {})
                for p, r in self._priced()
            ],
            "search": {
                "sentence": self.proposals.sentence,
                "complete": self.proposals.complete,
                "seconds": self.proposals.seconds,
                "tried": plain(self.proposals.tried),
            },
            "faults": plain(self.faults),
        }

    def _priced(self) -> Iterator[tuple[Proposal, RecallPrice | None]]:
        """Each proposal, with what it does to recall where that is known."""
        found = self.proposals.proposals
        return zip(found, self.recall or [None] * len(found), strict=True)

    def text(self) -> str:
        """The same for a person at a terminal."""
        lines = [f"{self.trace.mode}: {OUTCOMES[self.trace.outcome]}", "", self.verdict.sentence]
        missing = self.verdict.target.missing
        if missing and self.verdict.target.pieces:
            lines.append("Not found: " + "; ".join(" ".join(m.split()) for m in missing))
        if len(self.verdict.chunks) > 1:
            lines += [f"  {c.sentence}" for c in self.verdict.chunks]
        if self.elsewhere:
            lines.append(places(self.elsewhere))
            lines += [f"  {v.sentence}" for v in self.elsewhere[:PLACES]]
        if self.verdict.chunks:
            lines += ["", "What brings it back", f"  {self.proposals.sentence}"]
            for proposal, recall in self._priced():
                lines.append(f"  {proposal.sentence}" + (f" {recall.sentence}" if recall else ""))
            if self.recall == () and self.proposals.proposals:
                lines.append("  Recall: no question of the set has evidence in these documents.")
        if self.faults:
            lines += ["", "What else the trace shows"]
            lines += [f"  {f.title}: {f.sentence}" for f in self.faults]
        return "\n".join(lines)


PLACES = 5
"""Other places of the same text that are told one by one; of more, how each ended is counted."""


def places(others: Sequence[Verdict]) -> str:
    """Where else a passage stands, as a sentence: how many places, and what became of them."""
    count = counted(len(others), "other place")
    ends = Counter("in the prompt" if v.arrived else f"lost at {TITLES[v.stage]}" for v in others)
    if len(others) == 1:
        return f"The same text stands in {count}:"
    ended = listed([f"{n:,} {end}" for end, n in ends.most_common()])
    first = "" if len(others) <= PLACES else f" The first {PLACES}:"
    return f"The same text stands in {count}: {ended}.{first}"


def _whole(said: Verdict) -> dict[str, Any]:
    return {"stage": said.stage, "arrived": said.arrived, "sentence": said.sentence}


def _chunk(said: ChunkVerdict) -> dict[str, Any]:
    where = said.standing
    ranks = {
        "bm25": where.bm25_rank if where else None,
        "dense": where.dense_rank if where else None,
        "fused": where.fused_rank if where else None,
        "of": where.total if where else None,
    }
    return {
        "chunk_id": said.chunk_id,
        "name": said.name,
        "stage": said.stage,
        "reason": said.reason,
        "cause": said.cause,
        "margin": said.margin,
        "sentence": said.sentence,
        "shown": said.shown,
        "ranks": ranks,
        "has": list(where.has) if where else [],
        "lacks": list(where.lacks) if where else [],
        "facts": plain(said.facts) if said.facts else {},
    }


def _proposal(proposal: Proposal) -> dict[str, Any]:
    return plain(proposal) | {"sentence": proposal.sentence}


def why(
    pipeline: Pipeline,
    index: Index,
    trace: Trace,
    targets: Sequence[Target],
    *,
    viewer: Principal | None | str = "asker",
    seconds: float = SECONDS,
    questions: Sequence[Question] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Answer:
    """Everything about a target; of several places where a passage stands, the best placed one.

    Args:
        targets: one, or every place that :func:`targets_of_passage` found.
        viewer: as for :func:`verdict`. seconds: as for :func:`propose`.
        questions: a set; what each proposal does to recall over it is worked out, which takes
            a run a question and proposal.

    Raises:
        Cancelled: ``cancelled`` answered True.
    """
    best, *others = verdicts(trace, index, targets, viewer=viewer)
    found = propose(pipeline, index, trace, best.target, seconds=seconds, cancelled=cancelled)
    recall = None
    if questions is not None:
        recall = (
            recall_prices(
                pipeline,
                index,
                questions,
                parse_settings(trace.settings),
                trace.mode,
                [p.changes for p in found.proposals],
                trace.principal,
                cancelled=cancelled,
            )
            if found.proposals
            else ()
        )
    again = pipeline if sum(s.seconds for s in trace.stages) < QUICK else None
    return Answer(
        trace=trace,
        verdict=best,
        elsewhere=tuple(others),
        proposals=found,
        faults=faults(trace, index, again, cancelled=cancelled),
        recall=recall,
    )


def verdicts(
    trace: Trace,
    index: Index,
    targets: Sequence[Target],
    *,
    viewer: Principal | None | str = "asker",
) -> tuple[Verdict, ...]:
    """A verdict a place where a passage stands: the one that came furthest, then the others.

    Args:
        targets: one at least. viewer: as for :func:`verdict`.
    """
    said = [verdict(trace, index, t, viewer=viewer) for t in targets]
    best = max(range(len(said)), key=lambda i: (said[i].arrived, _far(said[i].stage), -i))
    return (said[best], *(v for i, v in enumerate(said) if i != best))


def _far(stage: str) -> int:
    return len(STAGES) if stage == PROMPT else STAGES.index(stage) if stage in STAGES else -1
