"""An evaluation beside an earlier one: what got better, what worse, question by question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import EvaluationError
from core.evaluate.bootstrap import Figure, figures
from core.evaluate.records import Evaluation

_EQUAL = 1e-9
"""Shares that differ by less are the same share."""


@dataclass(frozen=True, slots=True)
class Change:
    """One question's recall then and now."""

    question: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Line:
    """One mode at one budget. ``figure`` is the mean of now less then, question by question.

    ``better`` and ``worse`` are sorted by how much, most first.
    """

    mode: str
    budget: int
    figure: Figure
    better: tuple[Change, ...]
    worse: tuple[Change, ...]

    @property
    def is_worse(self) -> bool:
        """Whether recall fell by more than chance explains: its whole interval is below 0."""
        return self.figure.high < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What both evaluations have: their modes, budgets and questions.

    ``only_now`` and ``only_then`` are ids of questions that one of them lacks, or asks
    differently. ``changed`` names what else is not the same: knob → (then, now), and the
    documents, models, scope.
    """

    questions: int
    lines: tuple[Line, ...]
    only_now: tuple[str, ...]
    only_then: tuple[str, ...]
    changed: Mapping[str, tuple[Any, ...]]

    @property
    def is_worse(self) -> bool:
        return any(line.is_worse for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """As JSON's own types."""

        def changes(rows: tuple[Change, ...]) -> list[dict[str, Any]]:
            return [{"question": c.question, "before": c.before, "after": c.after} for c in rows]

        return {
            "questions": self.questions,
            "only_now": list(self.only_now),
            "only_then": list(self.only_then),
            "changed": {k: list(v) for k, v in self.changed.items()},
            "lines": [
                {
                    "mode": x.mode,
                    "budget": x.budget,
                    "difference": x.figure.mean,
                    "interval": [x.figure.low, x.figure.high],
                    "worse_than_chance": x.is_worse,
                    "better": changes(x.better),
                    "worse": changes(x.worse),
                }
                for x in self.lines
            ],
        }


def compare(evaluation: Evaluation, baseline: Evaluation) -> Comparison:
    """``evaluation`` beside ``baseline``, over what both measured.

    Raises:
        EvaluationError: they have no mode, no budget or no question in common.
    """
    then = {a.id: a.digest for a in baseline.common}
    now = {a.id: a.digest for a in evaluation.common}
    both = sorted(i for i, digest in now.items() if then.get(i) == digest)
    modes = [m for m in evaluation.modes if m in baseline.modes]
    budgets = [b for b in evaluation.budgets if b in baseline.budgets]
    for what, shared in (("mode", modes), ("budget", budgets), ("question", both)):
        if not shared:
            raise EvaluationError(
                "the baseline",
                f"has no {what} in common with this evaluation",
                f"Compare with one that measured a {what} of this one.",
            )
    pairs = [(m, b) for m in modes for b in budgets]
    before = [[baseline.by_mode[m][i].recall[str(b)] for i in both] for m, b in pairs]
    after = [[evaluation.by_mode[m][i].recall[str(b)] for i in both] for m, b in pairs]
    moved = np.array(after) - np.array(before)
    moved[np.abs(moved) < _EQUAL] = 0.0
    made = figures(moved.T)
    lines = [
        Line(m, b, figure, *_changes(both, then_, now_))
        for (m, b), figure, then_, now_ in zip(pairs, made, before, after, strict=True)
    ]
    return Comparison(
        questions=len(both),
        lines=tuple(lines),
        only_now=tuple(i for i in now if i not in both),
        only_then=tuple(i for i in then if i not in both),
        changed=changed_between(evaluation, baseline),
    )


def _changes(
    ids: list[str], before: list[float], after: list[float]
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    rows = [Change(*row) for row in zip(ids, before, after, strict=True)]
    rows.sort(key=lambda c: -abs(c.after - c.before))
    return (
        tuple(c for c in rows if c.after - c.before > _EQUAL),
        tuple(c for c in rows if c.before - c.after > _EQUAL),
    )


def changed_between(now: Evaluation, then: Evaluation) -> dict[str, tuple[Any, ...]]:
    """What else than questions, modes and budgets is not the same: name → (then, now)."""
    knobs = sorted(now.settings.keys() | then.settings.keys())
    changed = {
        k: (then.settings.get(k), now.settings.get(k))
        for k in knobs
        if then.settings.get(k) != now.settings.get(k) and k != "evidence_budget"
    }
    if then.corpus != now.corpus:
        changed["documents"] = (then.corpus, now.corpus)
    if then.scope != now.scope:
        changed["scope"] = (then.scope, now.scope)
    for kind in sorted(now.models.keys() | then.models.keys()):
        if then.models.get(kind) != now.models.get(kind):
            changed[kind] = (then.models.get(kind), now.models.get(kind))
    return changed
