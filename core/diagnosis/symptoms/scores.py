"""Faults of the scores: one that drowns the others, and rerankers that order nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from core.diagnosis.naming import listed
from core.diagnosis.symptoms.fault import Fault
from core.trace import DROPPED, StageRecord, Trace
from core.words import counted

LEAST = 8
"""Candidates. Of fewer, two orders agree by chance."""

ALONE, AGAINST = 0.98, 0.5
"""A score decides alone if the order agrees with it this much, and with no other more than that."""

_LABELS = {"bm25": "BM25", "dense": "the dense score", "maxsim": "MaxSim", "terms": "term coverage"}


def scale_mixing(trace: Trace) -> Iterator[Fault]:
    """The order follows one component alone, though others were meant to have their say."""
    record = _ordering(trace)
    if record is None:
        return
    parts = _components(record)
    entries = [e for e in record.entries if e.rank is not None and e.fate != DROPPED]
    if len(parts) < 2 or len(entries) < LEAST:
        return
    order = np.array([-e.rank for e in entries], dtype=np.float64)
    agreement = {}
    for part, (column, _) in parts.items():
        values = [e.scores.get(column) for e in entries]
        if None not in values and np.ptp(values) > 1e-12:  # equal scores have no say anywhere
            agreement[part] = spearman(order, np.array(values))
    if len(agreement) < 2:
        return
    first, *others = sorted(agreement, key=agreement.get, reverse=True)
    if agreement[first] < ALONE or agreement[others[0]] > AGAINST:
        return
    against = listed([f"{_label(p)} ({agreement[p]:.2f})" for p in others])
    yield Fault(
        "scale_mixing",
        "One score decides the order alone",
        f"In {record.name} the order of {len(entries)} chunks follows {_label(first)} "
        f"(rank correlation {agreement[first]:.2f}), and not {against}: it drowns the others, as "
        "scores do that are added on different scales.",
        {p: float(a) for p, a in agreement.items()},
        parts[first][1],
    )


def _label(part: str) -> str:
    return _LABELS.get(part, part)


def _ordering(trace: Trace) -> StageRecord | None:
    """The last stage that gave the order that the prompt was filled by."""
    for name in ("rerank_2", "rerank_1", "first_stage"):
        record = trace.stage(name)
        if record.ran and not record.degraded and record.entries:
            return record
    return None


def _components(record: StageRecord) -> Mapping[str, tuple[str, str]]:
    """Each score that takes part in a stage's order: its column in the entries, and its knob."""
    settings = record.settings
    if record.name == "first_stage":
        fusion, share = settings.get("fusion"), settings.get("fusion_bm25", 0.5)
        if fusion == "rrf" or (fusion == "weighted" and 0 < share < 1):
            knob = "fusion_bm25" if fusion == "weighted" else "fusion"
            return {"bm25": ("bm25", knob), "dense": ("dense", knob)}
        return {}
    weights = {k.removeprefix("weight_"): v for k, v in settings.items() if k.startswith("weight_")}
    return {p: (f"{record.name}_{p}", f"weight_{p}") for p, weight in weights.items() if weight > 0}


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """The rank correlation of two lists, in [−1, 1]; ties share their mean rank."""
    a, b = _mean_ranks(a), _mean_ranks(b)
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[which]


def idle_reranker(trace: Trace) -> Iterator[Fault]:
    """A reranker whose scores are all equal, or not numbers, or that did not run at all."""
    for name in ("rerank_1", "rerank_2"):
        record = trace.stage(name)
        if record.degraded:
            yield Fault(
                "no_rerank",
                "A rerank was left out",
                f"{name} did not do its part ({record.degraded.rstrip('.')}).",
                knob="mode",
            )
            continue
        scores = [e.scores[name] for e in record.entries if name in e.scores]
        missing = sum(s is None for s in scores)
        numbers = [s for s in scores if s is not None]
        if missing:
            yield Fault(
                "scores_missing",
                "The reranker gave scores that are not numbers",
                f"In {name}, {counted(missing, 'score')} of {len(scores):,} "
                f"{'is' if missing == 1 else 'are'} not a number ({record.model}): these chunks "
                "were ranked last, whatever they say.",
                {"missing": missing, "scored": len(scores)},
                "mode",
                tuple(e.chunk_id for e in record.entries if e.scores.get(name, 0.0) is None),
            )
        if len(numbers) > 1 and max(numbers) - min(numbers) <= 1e-12:
            yield Fault(
                "equal_scores",
                "The reranker ordered nothing",
                f"In {name} all {len(numbers):,} scores are {numbers[0]:g} ({record.model}): the "
                "order is the one that breaks ties, not the reranker's.",
                {"scored": len(numbers), "score": numbers[0]},
                "mode",
            )
