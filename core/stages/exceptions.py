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

VALUE_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million half quarter once twice double first second third fourth fifth "
    "monday tuesday wednesday thursday friday saturday sunday weekdays weekends january february "
    "april june july august september october november december".split()
)
"""Numbers and dates that are written out. May and March are missing: they are verbs too."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_VALUE = re.compile(r"\S*\d\S*")
_OPENERS = frozenset('.!?:;\n•-–—"“(')


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a chunk, and those among them that can make an exception."""

    words: frozenset[str]
    negations: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]

    def adds_to(self, kept: Wording) -> str:
        """What this wording says that ``kept`` does not, in words for a person; "" for nothing.

        A rule beside its own negation counts: neither can stand for the other.
        """
        for what, mine, theirs in (
            ("the negation", self.negations, kept.negations),
            ("the value", self.values, kept.values),
            ("the name", self.names, kept.words),
        ):
            new = sorted(mine - theirs)
            if new:
                return f"{what} {', '.join(new[:3])}"
        turned = sorted(kept.negations - self.negations)
        return f"the rule without {', '.join(turned[:3])}" if turned else ""


def wording(text: str) -> Wording:
    """Reads a text for its words, negations, values (numbers, dates, versions) and names."""
    words, negations, spelled, names = set(), set(), set(), set()
    for match in _WORD.finditer(text):
        word = match.group()
        folded = word.casefold().replace("’", "'")
        words.add(folded)
        if folded in NEGATIONS or folded.endswith("n't"):
            negations.add(folded)
        elif folded in VALUE_WORDS:
            spelled.add(folded)
        elif word[0].isupper() and not _opens_sentence(text, match.start()):
            names.add(folded)
    values = {v.strip(".,;:()[]\"'“”’!?").casefold() for v in _VALUE.findall(text)} | spelled
    return Wording(frozenset(words), frozenset(negations), frozenset(values), frozenset(names))


def _opens_sentence(text: str, at: int) -> bool:
    """Whether a capital at ``at`` may be there for its place alone: in a sentence, line or quote."""
    while at and text[at - 1] != "\n" and text[at - 1].isspace():
        at -= 1
    return not at or text[at - 1] in _OPENERS
