"""What a near-duplicate says that the chunk it repeats does not: what dedup must not lose.

The second article names the symptom: an answer that misses an exception, because the
sentence that held it looked like a duplicate of the rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NEGATIONS = frozenset(
    "not no never none nor neither without except unless cannot excluded excluding exclude "
    "excludes unavailable prohibited forbidden however only exempt exempted nothing nobody "
    "nicht kein keine ohne außer ne pas sans sauf no sin salvo non senza".split()
)
"""Words that turn a rule round or limit it (English, with the commonest of four others)."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_VALUE = re.compile(r"\S*\d\S*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n•\-–—]|[\"“(])\s*$")


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a chunk, and those among them that can make an exception."""

    words: frozenset[str]
    negations: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]

    def adds_to(self, kept: Wording) -> str:
        """What this wording has that ``kept`` lacks, in words for a person; "" for nothing."""
        for what, mine, theirs in (
            ("the negation", self.negations, kept.negations),
            ("the value", self.values, kept.values),
            ("the name", self.names, kept.words),
        ):
            new = sorted(mine - theirs)
            if new:
                return f"{what} {', '.join(new[:3])}"
        return ""


def wording(text: str) -> Wording:
    """Reads a text for its words, negations, values (numbers, dates, versions) and names."""
    words, negations, names = set(), set(), set()
    for match in _WORD.finditer(text):
        word = match.group()
        folded = word.casefold().replace("’", "'")
        words.add(folded)
        if folded in NEGATIONS or folded.endswith("n't"):
            negations.add(folded)
        elif word[0].isupper() and not _SENTENCE_START.search(text, 0, match.start()):
            names.add(folded)
    values = {v.strip(".,;:()[]\"'“”’!?").casefold() for v in _VALUE.findall(text)}
    return Wording(frozenset(words), frozenset(negations), frozenset(values), frozenset(names))
