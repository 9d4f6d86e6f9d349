"""What a near-duplicate says that the chunk it repeats does not: what dedup must not lose.

The second article names the symptom: an answer that misses an exception, because the
sentence that held it looked like a duplicate of the rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NEGATIONS = frozenset(
    # Folded, as the words are that they are compared with: außer becomes ausser.
    "not no never none nor neither without except unless cannot excluded excluding exclude "
    "excludes unavailable prohibited forbidden however only exempt exempted nothing nobody "
    "nicht kein keine ohne außer ne pas sans sauf no sin salvo non senza".casefold().split()
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
_JOINED = re.compile(r"['’]?\w")
_DIGIT = re.compile(r"\d")
_SHORT_NOT = re.compile(r"['’][tT]")
_AROUND = ".,;:()[]\"'“”’!?"
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
        added = [
            f"the {what}{'s' * (len(new) > 1)} {', '.join(new[:3])}"
            for what, mine, theirs in (
                ("value", self.values, kept.values),
                ("negation", self.negations, kept.negations),
                ("name", self.names, kept.words),
            )
            if (new := sorted(mine - theirs))
        ]
        turned = sorted(kept.negations - self.negations)
        if not added and turned:
            added = [f"the rule without {', '.join(turned[:3])}"]
        return " and ".join(added)


def wording(text: str) -> Wording:
    """Reads a text for its words, negations, values (numbers, dates, versions) and names."""
    written = set(_WORD.findall(text))
    words = frozenset(map(_folded, written))
    negations = words & NEGATIONS
    if _SHORT_NOT.search(text):
        negations |= {word for word in words if word.endswith("n't")}
    spelled = words & VALUE_WORDS
    values = {v.strip(_AROUND).casefold() for v in set(text.split()) if _DIGIT.search(v)}
    names = {_folded(w) for w in written if w[0].isupper() and _stands_within(w, text)}
    return Wording(words, negations, spelled | values, names - negations - spelled)


def _folded(word: str) -> str:
    return word.casefold().replace("’", "'")


def _stands_within(word: str, text: str) -> bool:
    """Whether a capitalised word stands somewhere where its place alone asks for no capital."""
    at = text.find(word)
    while at >= 0:
        whole = not _joined(text[max(0, at - 2) : at][::-1]) and not _joined(
            text[at + len(word) : at + len(word) + 2]
        )
        if whole and not _opens_sentence(text, at):
            return True
        at = text.find(word, at + 1)
    return False


def _joined(beside: str) -> bool:
    """Whether what stands beside a word, read away from it, belongs to the same word."""
    return bool(_JOINED.match(beside))


def _opens_sentence(text: str, at: int) -> bool:
    """Whether a capital at ``at`` may be there for its place alone: in a sentence, line or quote."""
    while at and text[at - 1] != "\n" and text[at - 1].isspace():
        at -= 1
    return not at or text[at - 1] in _OPENERS
