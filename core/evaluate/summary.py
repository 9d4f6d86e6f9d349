"""An evaluation's figures: a mode's recall with its interval, its losses, its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from core.errors import EvaluationError
from core.evaluate.bootstrap import Figure, figures
from core.evaluate.losses import lost_questions
from core.evaluate.ranked import MEASURES, ranked_measures
from core.evaluate.records import Evaluation, Row

SHARES = ("recall", "complete", "before", "assembled")


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of one stage over the questions."""

    median: float
    p95: float


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """One mode. ``recall``, ``complete``, ``before``, ``assembled`` and ``tokens`` are by budget.

    ``lost`` is budget → stage → how many pieces of evidence, ``repeated`` budget → how many of them
    stand word for word in another chunk that was shown. ``latency`` is by stage, and "all"
    together. ``seconds`` is what its stages took over all questions.
    """

    mode: str
    recall: Mapping[str, Figure]
    complete: Mapping[str, Figure]
    before: Mapping[str, Figure]
    assembled: Mapping[str, Figure]
    ranked: Mapping[str, Figure]
    lost: Mapping[str, Mapping[str, int]]
    repeated: Mapping[str, int]
    tokens: Mapping[str, float]
    tokens_read: float
    latency: Mapping[str, Latency]
    seconds: float
    outcomes: Mapping[str, int]
    degraded: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more a mode finds than another, question by question, at a budget."""

    budget: int
    mode: str
    against: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures, over the questions that have a row in every mode."""

    questions: int
    modes: Mapping[str, ModeFigures]
    differences: tuple[Difference, ...]

    def best(self, budget: int) -> str:
        """The mode of the highest recall; of equal ones the first."""
        return max(self.modes, key=lambda m: self.modes[m].recall[str(budget)].mean)

    def as_good(self, budget: int) -> tuple[str, ...]:
        """The best mode, and those whose difference from it is inside its interval."""
        best = self.best(budget)
        apart = {
            m
            for d in self.differences
            if d.budget == budget and best in (d.mode, d.against) and d.figure.differs
            for m in (d.mode, d.against)
        }
        return tuple(m for m in self.modes if m == best or m not in apart)


def summarise(evaluation: Evaluation) -> Summary:
    """The figures of an evaluation, whether finished or not.

    Raises:
        EvaluationError: no question has a row in every mode.
    """
    if not evaluation.common:
        why = {a.skipped for a in evaluation.asked if a.skipped}
        raise EvaluationError(
            "the evaluation", "has measured no question", f"Skipped: {'; '.join(sorted(why))}."
            if why
            else "It was stopped too early.",
        )  # fmt: skip
    # In one order whatever that of the file: draws go by place.
    asked = sorted(evaluation.common, key=lambda a: a.id)
    rows = {m: [evaluation.by_mode[m][a.id] for a in asked] for m in evaluation.modes}
    columns = {m: _columns(r, evaluation.budgets) for m, r in rows.items()}
    pairs = [
        (b, m, other) for m, other in combinations(evaluation.modes, 2) for b in evaluation.budgets
    ]
    names = [(m, *key) for m in rows for key in columns[m]]
    values = [columns[m][what, by] for m, what, by in names]
    values += [columns[m]["recall", str(b)] - columns[o]["recall", str(b)] for b, m, o in pairs]
    made = figures(np.column_stack(values))
    by_name = dict(zip(names, made, strict=False))
    return Summary(
        questions=len(evaluation.common),
        modes={m: _mode(evaluation, m, rows[m], by_name) for m in evaluation.modes},
        differences=tuple(
            Difference(b, m, other, figure)
            for (b, m, other), figure in zip(pairs, made[len(names) :], strict=True)
        ),
    )


def share(row: Row, what: str, budget: int | str) -> float:
    """A row's recall, completeness and so on at a budget."""
    return (
        float(row.complete(int(budget))) if what == "complete" else getattr(row, what)[str(budget)]
    )


def _columns(rows: Sequence[Row], budgets: Sequence[int]) -> dict[tuple[str, str], np.ndarray]:
    out = {
        (what, str(b)): np.array([share(r, what, b) for r in rows])
        for what in SHARES
        for b in budgets
    }
    ranked = ranked_measures(rows)
    return out | {("ranked", name): ranked[:, at] for at, name in enumerate(MEASURES)}


def _mode(
    evaluation: Evaluation, mode: str, rows: Sequence[Row], figure: Mapping[tuple, Figure]
) -> ModeFigures:
    budgets = [str(b) for b in evaluation.budgets]

    def by(what: str, keys: Sequence[str] = budgets) -> dict[str, Figure]:
        return {key: figure[mode, what, key] for key in keys}

    stages = dict.fromkeys(s for r in rows for s in r.seconds)
    whole = [sum(r.seconds.values()) for r in rows]
    return ModeFigures(
        mode=mode,
        recall=by("recall"),
        complete=by("complete"),
        before=by("before"),
        assembled=by("assembled"),
        ranked=by("ranked", MEASURES),
        lost={
            str(b): {
                stage: sum(map(len, pieces.values()))
                for stage, pieces in lost_questions(evaluation, mode, b).items()
            }
            for b in evaluation.budgets
        },
        repeated={b: sum(len(r.repeated.get(b, ())) for r in rows) for b in budgets},
        tokens={b: float(np.mean([r.tokens[b] for r in rows])) for b in budgets},
        tokens_read=float(np.mean([r.tokens_read for r in rows])),
        latency={
            "all": _latency(whole),
            **{s: _latency([r.seconds.get(s, 0.0) for r in rows]) for s in stages},
        },
        seconds=float(sum(whole)),
        outcomes=dict(Counter(r.outcome for r in rows)),
        degraded=dict(Counter(f"{s}: {why}" for r in rows for s, why in r.degraded.items())),
    )


def _latency(seconds: Sequence[float]) -> Latency:
    return Latency(float(np.median(seconds)), float(np.quantile(seconds, 0.95)))


def summary_json(evaluation: Evaluation, summary: Summary) -> dict[str, Any]:
    """What ``chunkscope eval --json`` prints, as JSON's own types."""
    largest = str(max(evaluation.budgets))
    return {
        "questions": summary.questions,
        "finished": evaluation.finished,
        "scope": evaluation.scope,
        "budgets": list(evaluation.budgets),
        "settings": dict(evaluation.settings),
        "corpus": evaluation.corpus,
        "models": dict(evaluation.models),
        "seconds": evaluation.seconds,
        "modes": {m: _mode_json(evaluation, f, largest) for m, f in summary.modes.items()},
        "best": {str(b): list(summary.as_good(b)) for b in evaluation.budgets},
        "differences": [
            {
                "budget": d.budget,
                "mode": d.mode,
                "against": d.against,
                "difference": d.figure.mean,
                "interval": [d.figure.low, d.figure.high],
                "differs": d.figure.differs,
            }
            for d in summary.differences
        ],
        "unfound": [
            {
                "question": a.id,
                "document": a.document,
                "reference": i,
                "quote": a.references[i].quote,
            }
            for a in evaluation.asked
            for i in a.unfound
        ],
        "skipped": [{"question": a.id, "why": a.skipped} for a in evaluation.asked if a.skipped],
    }


def _mode_json(evaluation: Evaluation, f: ModeFigures, largest: str) -> dict[str, Any]:
    return {
        "recall": {b: v.mean for b, v in f.recall.items()},
        "complete": {b: v.mean for b, v in f.complete.items()},
        "interval": {b: [v.low, v.high] for b, v in f.recall.items()},
        "complete_interval": {b: [v.low, v.high] for b, v in f.complete.items()},
        "before": {b: v.mean for b, v in f.before.items()},
        "assembled": {b: v.mean for b, v in f.assembled.items()},
        "lost": dict(f.lost[largest]),
        "lost_at": {b: dict(stages) for b, stages in f.lost.items()},
        "repeated": dict(f.repeated),
        "lost_questions": {
            stage: list(pieces)
            for stage, pieces in lost_questions(evaluation, f.mode, int(largest)).items()
            if pieces
        },
        "ranked": {name: v.mean for name, v in f.ranked.items()},
        "tokens": dict(f.tokens),
        "tokens_read": f.tokens_read,
        "seconds": f.seconds,
        "latency": {s: {"median": v.median, "p95": v.p95} for s, v in f.latency.items()},
        "outcomes": dict(f.outcomes),
        "degraded": dict(f.degraded),
    }  # fmt: skip
