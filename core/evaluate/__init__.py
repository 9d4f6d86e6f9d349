"""The yardstick: how much of the evidence reaches the prompt, and where the rest was lost.

:mod:`core.evaluate.run` says exactly what is measured.
"""

from __future__ import annotations

from core.evaluate.cover import covered, evidence_chunks, within_budget
from core.evaluate.lost import lost, lost_questions
from core.evaluate.records import Asked, Evaluation, Row
from core.evaluate.run import BUDGETS, RANKED, YARDSTICK, evaluate

__all__ = [
    "BUDGETS",
    "RANKED",
    "YARDSTICK",
    "Asked",
    "Evaluation",
    "Row",
    "covered",
    "evaluate",
    "evidence_chunks",
    "lost",
    "lost_questions",
    "within_budget",
]
