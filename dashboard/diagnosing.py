"""What the Missing page looks for, and the jobs that find out why it is missing.

Everything is looked up in the index as the view's principal sees it, so a document that they
may not read is to them, here as everywhere, a document that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.diagnosis import (
    QUICK,
    Fault,
    Proposal,
    Proposals,
    RecallPrice,
    Target,
    Verdict,
    propose,
    recall_prices,
    target_of_chunk,
    target_of_evidence,
    targets_of_passage,
    verdict,
    verdicts,
)
from core.diagnosis import faults as faults_of
from core.diagnosis.naming import chunk_name
from core.index.index import Index
from core.questions import locate
from core.settings import parse_settings
from core.trace import Trace
from dashboard import cache, state, tour, work
from dashboard.jobs import SEARCH, Job
from dashboard.link import CHUNK, View
from dashboard.models import ModelChoice
from dashboard.question_sets import QuestionSet

PASSAGE = "passage"
"""What :func:`chosen` says where a pasted text is looked for."""

QUOTED = 600
"""Characters of what is looked for that a report repeats."""

RECALL, ROWS = "recall_", 40
"""Under what name, with the number of its row, a proposal's recall is asked for; and how many."""

SECONDS, LONGER = 5.0, 40.0
"""How long changes are searched for; and when the person asks for more."""


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the expected evidence: what it is called, and what has to arrive."""

    title: str
    target: Target


@dataclass(frozen=True, slots=True)
class Found:
    """A verdict, those on other places of the same text, and the changes, once they are known."""

    verdict: Verdict
    elsewhere: tuple[Verdict, ...]
    proposals: Proposals | None = None


def items(view: View, index: Index) -> tuple[Item, ...]:
    """The expected evidence of this view: the chunks marked by hand, or the tour's own pieces."""
    marked = [c for c in view.evidence if index.holds(c)]
    if marked:
        return tuple(
            Item(chunk_name(index, c), _quoting(index, target_of_chunk(index, c))) for c in marked
        )
    stop = tour.stop_for(work.stops(), view)
    if stop is None:
        return ()
    found = locate(stop.question, index.documents)
    return tuple(
        Item(
            _called(e.reference.quote, e.reference.page, n),
            _quoting(index, target_of_evidence(index, e)),
        )
        for n, e in enumerate(found, 1)
    )


def _quoting(index: Index, target: Target) -> Target:
    """The target with its own words for what was asked, in place of an id or a span."""
    if not target.pieces:
        return target
    first, last = target.pieces[0], target.pieces[-1]
    words = index.document(first.document_id).text[first.start : last.end]
    return replace(target, asked=words if len(words) <= QUOTED else words[:QUOTED] + "…")


def _called(quote: str, page: int | None, number: int) -> str:
    words = " ".join(quote.split())
    if words:
        return f"“{words if len(words) <= 70 else words[:69] + '…'}”"
    return f"page {page}" if page is not None else f"piece {number}"


def chosen(view: View, found: Sequence[Item], trace: Trace) -> str:
    """What is looked for: :data:`PASSAGE`, :data:`CHUNK`, the number of an item, or nothing.

    Where the view does not say, the passage, the selected chunk, and the first item that did
    not arrive, whichever there is first.
    """
    if view.why == CHUNK and view.chunk:
        return CHUNK
    if view.why.isdecimal() and 1 <= int(view.why) <= len(found):
        return str(int(view.why))
    if view.passage.strip():
        return PASSAGE
    if view.chunk:
        return CHUNK
    lost = [n for n, item in enumerate(found, 1) if not item.target.reached(trace.selected)]
    return str(lost[0]) if lost else "1" if found else ""


def answer(view: View, index: Index, trace: Trace, what: str, seconds: float = SECONDS) -> Job:
    """The verdict, then the changes, under way or done; its results are :class:`Found`.

    ``what`` is not empty, and one of the answers of :func:`chosen`.
    """
    named = {PASSAGE: view.passage, CHUNK: view.chunk}.get(what, view.evidence)
    return state.board().ask(
        "why",
        (work.trace_key(view), what, named, seconds),
        lambda job: _answer(
            view.models, index, trace, lambda: targets(view, index, what), seconds, job
        ),
        label="Looking for it",
        patience=work.PATIENCE,
    )


def targets(view: View, index: Index, what: str) -> tuple[Target, ...]:
    """Where what is looked for stands, a target a place."""
    if what == PASSAGE:
        return targets_of_passage(index, view.passage)
    if what == CHUNK:
        return (_quoting(index, target_of_chunk(index, view.chunk)),)
    return (items(view, index)[int(what) - 1].target,)


def _answer(
    models: ModelChoice,
    index: Index,
    trace: Trace,
    find: Callable[[], tuple[Target, ...]],
    seconds: float,
    job: Job,
) -> Found:
    best, *others = verdicts(trace, index, find())
    found = Found(best, tuple(others))
    job.part = found
    job.progress(0, 0, "Trying other settings")
    with SEARCH.turn(job):
        proposals = propose(
            cache.models(models).pipeline,
            index,
            trace,
            best.target,
            seconds=seconds,
            cancelled=job.cancelled,
        )
    return replace(found, proposals=proposals)


def recall(view: View, index: Index, trace: Trace, number: int, proposal: Proposal, by: QuestionSet) -> Job:  # fmt: skip
    """What the proposal in this place does to recall over a question set, under way or done.

    Its result is a :class:`RecallPrice`, or None where no question has evidence here.
    """
    return state.board().ask(
        f"{RECALL}{number}",
        recall_key(view, proposal, by),
        lambda job: _recall(view, index, trace, proposal, by, job),
        label="Asking the questions",
        patience=work.SHORT_PATIENCE,
    )


def recall_key(view: View, proposal: Proposal, by: QuestionSet) -> tuple:
    """What decides a proposal's price in recall."""
    return (work.trace_key(view), tuple(sorted(proposal.changes.items())), by.key)


def _recall(
    view: View, index: Index, trace: Trace, proposal: Proposal, by: QuestionSet, job: Job
) -> RecallPrice | None:
    pipeline = cache.models(view.models).pipeline
    found = recall_prices(
        pipeline,
        index,
        by.questions,
        parse_settings(trace.settings),
        trace.mode,
        [proposal.changes],
        trace.principal,
        progress=lambda done, total: job.progress(done, total, "", f"{done:,} of {total:,}"),
        turn=lambda: SEARCH.turn(job),
        cancelled=job.cancelled,
    )
    return found[0] if found else None


def faults(view: View, index: Index, trace: Trace) -> Job:
    """The faults that the trace shows, those that take a second run last."""
    return state.board().ask(
        "faults",
        (work.trace_key(view),),
        lambda job: _faults(view.models, index, trace, job),
        label="Looking at the trace",
        patience=work.SHORT_PATIENCE,
    )


def _faults(models: ModelChoice, index: Index, trace: Trace, job: Job) -> tuple[Fault, ...]:
    found = faults_of(trace, index)
    job.part = found
    if sum(s.seconds for s in trace.stages) >= QUICK:
        return found
    job.progress(0, 0, "Asking again, to see whether the citations stay the same")
    with SEARCH.turn(job):
        return faults_of(trace, index, cache.models(models).pipeline, cancelled=job.cancelled)


def let_go(view: View) -> None:
    """Stops what is still being searched for another view than this."""
    for name in ("why", "faults", *(f"{RECALL}{n}" for n in range(1, ROWS + 1))):
        job = state.board().current(name)
        if job is not None and not job.finished and job.key[0] != work.trace_key(view):
            state.board().forget(name)


def verdicts_on(view: View, index: Index, trace: Trace) -> list[Verdict]:
    """A verdict on each piece of the expected evidence."""
    return [verdict(trace, index, item.target) for item in items(view, index)]
