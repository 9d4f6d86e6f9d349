"""The yardstick: how much of the evidence reaches the prompt, and where the rest was lost.

:mod:`core.evaluate.run` says exactly what is measured. Names load when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "BUDGETS": "run",
    "RANKED": "run",
    "YARDSTICK": "run",
    "Asked": "records",
    "Comparison": "comparison",
    "Evaluation": "records",
    "Row": "records",
    "Summary": "summary",
    "append_question": "files",
    "compare": "comparison",
    "covered": "cover",
    "evaluate": "run",
    "evidence_chunks": "cover",
    "load_evaluation": "files",
    "lost": "losses",
    "lost_questions": "losses",
    "questions_jsonl": "files",
    "save_evaluation": "files",
    "summarise": "summary",
    "summary_json": "summary",
    "within_budget": "cover",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core.evaluate' has no attribute {name!r}")
    return getattr(import_module(f"core.evaluate.{_HOMES[name]}"), name)
