"""Which sentences of an answer cite which passages. No streamlit."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

_CITATION = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")
_SENTENCE = re.compile(r"(?<=[.!?…])(?:\s*\[\d[\d,;\s]*\])*\s+|\n+")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence: the passage numbers that it cites, and what is wrong with them."""

    text: str
    numbers: tuple[int, ...]
    problem: str = ""


def claims(answer: str, known: Collection[int]) -> list[Claim]:
    """The sentences of an answer, each with its citations.

    A citation after the full stop belongs to the sentence before it. A number that is no
    passage of the prompt is a problem; so is a sentence that cites nothing.
    """
    found = []
    for text in _sentences(answer):
        numbers = tuple(
            dict.fromkeys(
                int(n) for group in _CITATION.findall(text) for n in re.split(r"[,;]", group)
            )
        )
        unknown = [n for n in numbers if n not in known]
        problem = ""
        if unknown:
            problem = "no passage " + ", ".join(f"[{n}]" for n in unknown) + " in the prompt"
        elif not numbers:
            problem = "cites nothing"
        found.append(Claim(text, numbers, problem))
    return found


def _sentences(answer: str) -> list[str]:
    ends = [0, *(m.end() for m in _SENTENCE.finditer(answer)), len(answer)]
    parts = (answer[a:b].strip() for a, b in pairwise(ends))
    return [p for p in parts if re.search(r"\w", p)]
