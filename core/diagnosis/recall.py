"""What a change does to a whole question set, and not to one question alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.grid import MODE
from core.errors import Cancelled
from core.evaluate import covered
from core.index.index import Index
from core.pipeline import Pipeline
from core.questions import Question, locate
from core.records import Principal
from core.settings import Settings


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


def recall_price(
    pipeline: Pipeline,
    index: Index,
    questions: Sequence[Question],
    settings: Settings,
    mode: str,
    changes: dict[str, Any],
    principal: Principal | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> RecallPrice | None:
    """What ``changes`` do to recall over the questions whose evidence the documents hold.

    None where no question has any. Two runs a question.

    Raises:
        Cancelled: ``cancelled`` answered True.
    """
    knobs = {k: v for k, v in changes.items() if k != MODE}
    after = settings.changed(**knobs), changes.get(MODE, mode)
    documents = index.restricted(principal).documents
    shares: dict[str, tuple[float, float]] = {}
    for question in questions:
        if cancelled and cancelled():
            raise Cancelled
        evidence = locate(question, documents)
        pair = []
        for s, m in ((settings, mode), after):
            if all(e.span is None for e in evidence):
                break
            trace = pipeline.run(index, question.text, s, m, principal, cancelled=cancelled)
            pair.append(covered(evidence, trace.selected))
        if len(pair) == 2 and None not in pair:
            shares[question.id] = (pair[0], pair[1])
    if not shares:
        return None
    return RecallPrice(
        before=sum(b for b, _ in shares.values()) / len(shares),
        after=sum(a for _, a in shares.values()) / len(shares),
        questions=len(shares),
        better=tuple(q for q, (b, a) in shares.items() if a > b),
        worse=tuple(q for q, (b, a) in shares.items() if a < b),
    )
