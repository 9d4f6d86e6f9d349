"""What a change does to a whole question set, and not to one question alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from core.diagnosis.replay import Point
from core.errors import Cancelled
from core.evaluate import covered
from core.index.index import Index
from core.pipeline import Pipeline
from core.questions import Question, locate
from core.records import Principal
from core.settings import Settings
from core.words import counted


@dataclass(frozen=True, slots=True)
class RecallPrice:
    """Mean share of the evidence in the prompt, in [0, 1], before a change and after it.

    ``better`` and ``worse`` are ids of the questions whose own share rose or fell.
    """

    before: float
    after: float
    questions: int
    better: tuple[str, ...]
    worse: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """``Recall over 12 questions from 70.0 % to 75.5 %: 2 get better, 1 gets worse.``"""
        said = f"Recall over {counted(self.questions, 'question')}"
        if not self.better and not self.worse:
            return f"{said} stays at {self.before:.1%}: none changes."
        better = f"{len(self.better) or 'none'} {'gets' if len(self.better) == 1 else 'get'} better"
        worse = f"{len(self.worse) or 'none'} {'gets' if len(self.worse) == 1 else 'get'} worse"
        moved = f"from {self.before:.1%} to {self.after:.1%}"
        if f"{self.before:.1%}" == f"{self.after:.1%}":
            moved = f"about the same, {self.after:.1%}"
        return f"{said} {moved}: {better}, {worse}."


def recall_prices(
    pipeline: Pipeline,
    index: Index,
    questions: Sequence[Question],
    settings: Settings,
    mode: str,
    changes: Sequence[Mapping[str, Any]],
    principal: Principal | None = None,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    turn: Callable[[], AbstractContextManager] = nullcontext,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[RecallPrice, ...]:
    """What each of ``changes`` does to recall over the questions whose evidence the documents hold.

    Nothing where no question has any. A run a question and change, and one more a question.

    Args:
        progress: called with questions done and questions in all.
        turn: entered for each question, so that other work has its turn between two.

    Raises:
        Cancelled: ``cancelled`` answered True.
    """
    here = Point(settings, mode)
    points = [here, *(here.moved(**one) for one in changes)]
    documents = index.restricted(principal).documents
    shares: dict[str, list[float]] = {}
    for done, question in enumerate(questions):
        progress(done, len(questions))
        if cancelled and cancelled():
            raise Cancelled
        evidence = locate(question, documents)
        if all(e.span is None for e in evidence):
            continue
        with turn():
            traces = [
                pipeline.run(
                    index, question.text, p.settings, p.mode, principal, cancelled=cancelled
                )
                for p in points
            ]
        own = [covered(evidence, trace.selected) for trace in traces]
        if None not in own:
            shares[question.id] = own
    progress(len(questions), len(questions))
    if not shares:
        return ()
    return tuple(_price(shares, column) for column in range(1, len(points)))


def _price(shares: Mapping[str, Sequence[float]], column: int) -> RecallPrice:
    """What one change does, of shares of each question: the first before, one each after."""
    return RecallPrice(
        before=sum(own[0] for own in shares.values()) / len(shares),
        after=sum(own[column] for own in shares.values()) / len(shares),
        questions=len(shares),
        better=tuple(q for q, own in shares.items() if own[column] > own[0]),
        worse=tuple(q for q, own in shares.items() if own[column] < own[0]),
    )


def recall_price(
    pipeline: Pipeline,
    index: Index,
    questions: Sequence[Question],
    settings: Settings,
    mode: str,
    changes: Mapping[str, Any],
    principal: Principal | None = None,
    **how: Any,
) -> RecallPrice | None:
    """:func:`recall_prices` of one change; None where no question has evidence here."""
    found = recall_prices(pipeline, index, questions, settings, mode, [changes], principal, **how)
    return found[0] if found else None
