"""Gates for a build: what an evaluation has to reach, or the build fails.

``recall@1000=0.9`` holds for every mode, ``rerank_extend_rerank:recall@1000=90%`` for one.
What stands before the @ is recall, complete, before or assembled, with a budget behind it; or
a measure over chunks, as in ``nDCG@10=0.8``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import EvaluationError
from core.evaluate.ranked import MEASURES
from core.evaluate.summary import SHARES, Summary

_FORM = re.compile(
    r"(?:(?P<mode>\w+):)?(?P<what>\w+)(?:@(?P<at>\d+))?=(?P<least>[\d.]+)(?P<percent>%?)"
)
_HOW = "Write it as in recall@1000=0.9 or rerank_extend_rerank:recall@1000=90%."


@dataclass(frozen=True, slots=True)
class Gate:
    """The least that a figure may be, a share in [0, 1]. ``mode`` is empty for every mode."""

    text: str
    mode: str
    what: str
    key: str
    least: float

    def failures(self, summary: Summary) -> list[str]:
        """A sentence for each mode that falls short."""
        out = []
        for mode, f in summary.modes.items():
            figure = getattr(f, self.what)[self.key].mean
            if self.mode in ("", mode) and figure < self.least:
                what = self.key if self.what == "ranked" else f"{self.what}@{self.key}"
                out.append(f"{mode}: {what} is {figure:.2%}, below {self.least:.2%}")
        return out


def parse_gate(text: str, modes: Sequence[str], budgets: Sequence[int]) -> Gate:
    """A gate on one of ``modes`` and ``budgets``.

    Raises:
        EvaluationError: it is of another form, or names what is not measured.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise EvaluationError(text, "is no gate", _HOW)
    mode, what, at = match["mode"] or "", match["what"], match["at"]
    if mode and mode not in modes:
        raise EvaluationError(text, "names a mode that is not run", f"Run: {', '.join(modes)}.")
    try:
        least = float(match["least"]) / (100 if match["percent"] else 1)
    except ValueError:
        raise EvaluationError(text, f"{match['least']} is no number", _HOW) from None
    if not 0 <= least <= 1:
        raise EvaluationError(text, "asks for more than there is", "A share is from 0 to 1.")
    ranked = {m.lower(): m for m in MEASURES}
    if what in SHARES and at is not None:
        if int(at) not in budgets:
            given = ", ".join(map(str, budgets))
            raise EvaluationError(text, "names a budget that is not measured", f"Budgets: {given}.")
        return Gate(text, mode, what, str(int(at)), least)
    key = ranked.get((f"{what}@{at}" if at else what).lower())
    if key is None:
        known = [*(f"{s}@BUDGET" for s in SHARES), *MEASURES]
        raise EvaluationError(text, "names no figure", f"Figures: {', '.join(known)}.")
    return Gate(text, mode, "ranked", key, least)
