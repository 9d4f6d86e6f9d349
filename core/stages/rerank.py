"""Stages 3 and 5, rerank: one protocol, joined by chunk id, degraded openly.

A reranker that is missing, fails or runs out of time leaves the order as it was, and the
record says so: there is never a rerank score that no reranker gave.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.errors import Cancelled
from core.models.protocols import Reranker, Reranking, RerankRequest
from core.ranking import descending
from core.records import Candidate
from core.settings import Settings
from core.stages.base import Run, State, chunks_of, entry, number, passed_on
from core.stages.limits import Clock, OutOfTime, recalled
from core.trace import KEPT, StageRecord


def rerank_1(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """The first round, over the first stage's candidates."""
    return _rerank("rerank_1", run.mode.rerank_1, state, settings, run)


def rerank_2(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """The second round, over the candidates and their windows."""
    return _rerank("rerank_2", run.mode.rerank_2, state, settings, run)


def _rerank(
    name: str, kind: str, state: State, settings: Settings, run: Run
) -> tuple[State, StageRecord]:
    knobs = settings.of_groups("rerank") if kind == "context" else {}
    if not kind:
        return passed_on(name, state, {}, ran=False)
    if not state.candidates:
        return passed_on(name, state, knobs)
    given = answered(kind, state, settings, run)
    if isinstance(given, str):
        return _degraded(name, state, knobs, given)
    ordered, answer = given
    return _joined(name, ordered, answer, state, knobs, run.rerankers[kind])


def answered(
    kind: str, state: State, settings: Settings, run: Run
) -> tuple[tuple[Candidate, ...], Reranking] | str:
    """The candidates in document order and what the reranker says of them; or why it says nothing.

    Raises:
        Cancelled: the person stopped the work.
    """
    reranker = run.rerankers.get(kind)
    if reranker is None:
        return f"no {kind} reranker is loaded"
    ordered = tuple(sorted(state.candidates, key=lambda c: run.index.row(c.chunk_id)))
    clock = Clock(settings.rerank_seconds, run.cancelled)
    try:
        request = _request(reranker, ordered, state, settings, run, clock)
        with recalled(reranker, request, run.kept_scores):
            answer = _checked(reranker.rerank(request), len(ordered))
        clock.check()
    except Cancelled:
        raise
    except OutOfTime as error:
        return f"{reranker.name} {error}"
    except Exception as error:  # noqa: BLE001  whatever a model throws, the trace goes on
        return f"{reranker.name} failed: {error}"
    return ordered, answer


def _request(
    reranker: Reranker,
    ordered: tuple[Candidate, ...],
    state: State,
    settings: Settings,
    run: Run,
    clock: Clock,
) -> RerankRequest:
    rows = np.array([run.index.row(c.chunk_id) for c in ordered])
    place = {c.chunk_id: i for i, c in enumerate(ordered)}
    query = state.query
    return RerankRequest(
        question=run.question,
        query=query.states,
        chunks=chunks_of(run, ordered),
        retrieval_order=np.array([place[c.chunk_id] for c in state.candidates]),
        bm25=query.bm25[rows],
        dense=None if query.dense is None else query.dense[rows],
        coverage=query.coverage[rows],
        token_weights=query.token_weights,
        states=(lambda which: run.index.states(rows[list(which)]))
        if run.index.has_states
        else None,
        settings=settings,
        memo=run.memo(reranker.fingerprint),
        cancelled=clock.stop,
    )


def _checked(answer: Reranking, expected: int) -> Reranking:
    """The answer with every array a float64[expected], NaN where there is no finite number.

    Raises:
        ValueError: more or fewer numbers than chunks, not one score, or a relevance that is
            not in [0, 1], on which no threshold could be set.
    """

    def numbers(what: str, values: object) -> np.ndarray:
        array = np.array(values, dtype=np.float64)
        if array.shape != (expected,):
            got = len(array) if array.ndim == 1 else f"an array {array.shape} of"
            raise ValueError(f"it gave {got} {what} for {expected} chunks")
        array[~np.isfinite(array)] = np.nan
        return array

    scores = numbers("scores", answer.scores)
    if np.isnan(scores).all():
        raise ValueError("not one of its scores is a number")
    relevance = None
    if answer.relevance is not None:
        relevance = numbers("relevances", answer.relevance)
        if ((relevance < 0) | (relevance > 1)).any():
            raise ValueError("its relevance is not a probability")
    return replace(
        answer,
        scores=scores,
        raw=numbers("raw scores", answer.raw),
        relevance=relevance,
        parts={k: numbers(f"scores {k}", v) for k, v in answer.parts.items()},
        truncated=None
        if answer.truncated is None
        else np.nan_to_num(numbers("lengths", answer.truncated)),
    )


def _degraded(name: str, state: State, knobs: dict, why: str) -> tuple[State, StageRecord]:
    """The order stays; chunks that only a window brought follow, since nothing scored them."""
    state, record = passed_on(
        name, state, knobs, degraded=f"{why.rstrip('.')}: the order before it stays"
    )
    entries = tuple(
        entry(c, KEPT, rank, reason="not reranked") for rank, c in enumerate(state.candidates, 1)
    )
    return state, replace(record, entries=entries)


def _joined(
    name: str,
    ordered: tuple[Candidate, ...],
    answer: Reranking,
    state: State,
    knobs: dict,
    reranker: Reranker,
) -> tuple[State, StageRecord]:
    names = [name, f"{name}_raw", *(f"{name}_{part}" for part in answer.parts)]
    rows = np.column_stack([answer.scores, answer.raw, *answer.parts.values()])
    named = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    relevances = [None] * len(rows) if answer.relevance is None else answer.relevance.tolist()
    finite = np.isfinite(rows).all(axis=1).tolist()
    remarks, scored, entries = _remarks(answer), [], []
    for rank, i in enumerate(descending(answer.scores).tolist(), 1):
        candidate = ordered[i].scored(named[i], name, relevance=relevances[i])
        scores = named[i] if finite[i] else {k: number(v) for k, v in named[i].items()}
        scored.append(candidate)
        entries.append(entry(candidate, KEPT, rank, scores=scores, reason=remarks.get(i, "")))
    candidates = tuple(scored)
    ids = tuple(c.chunk_id for c in candidates)
    record = StageRecord(
        name=name,
        settings=knobs,
        model=reranker.name,
        how=answer.how,
        entered=len(ids),
        passed=len(ids),
        kept=ids,
        entries=tuple(entries),
        warnings=answer.warnings + _warnings(answer),
        tokens_read=answer.tokens_read,
        last_kept=ids[-1],
        cut_score=number(candidates[-1].score),
    )
    return replace(state, candidates=candidates), record


def _remarks(answer: Reranking) -> dict[int, str]:
    """What is to be said of some of the chunks, by their position."""
    cut = [] if answer.truncated is None else np.flatnonzero(answer.truncated).tolist()
    said = {i: f"{int(answer.truncated[i])} tokens at its end were not read" for i in cut}
    none = np.flatnonzero(~np.isfinite(answer.scores)).tolist()
    return said | dict.fromkeys(none, "the reranker gave no number: ranked last")


def _warnings(answer: Reranking) -> tuple[str, ...]:
    out = []
    finite = answer.scores[np.isfinite(answer.scores)]
    if len(finite) < len(answer.scores):
        out.append(f"{len(answer.scores) - len(finite)} scores are not numbers; ranked last.")
    if len(finite) > 1 and np.ptp(finite) <= 1e-12:
        out.append("Every chunk got the same score: this rerank ordered nothing.")
    if answer.truncated is not None and (cut := int((answer.truncated > 0).sum())):
        out.append(f"{cut} chunks were longer than the model reads; their ends were not read.")
    return tuple(out)
