"""The words in which a duplicate differs from the chunk that it was judged a duplicate of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.stages.exceptions import Wording, wording

NEGATION, VALUE, NAME, WORD = "negation", "value", "name", "word"
KINDS = (NEGATION, VALUE, NAME, WORD)
"""What a word can be, those that change what is said first."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A word and its kind: a "negation", a "value" (number, date, version), a "name", a "word"."""

    word: str
    kind: str

    @property
    def matters(self) -> bool:
        """Whether it can turn what is said into something else."""
        return self.kind != WORD


@dataclass(frozen=True, slots=True)
class Difference:
    """What a chunk has that its twin lacks (``only_here``), and the reverse."""

    only_here: tuple[Marked, ...]
    only_there: tuple[Marked, ...]

    @property
    def matters(self) -> bool:
        return any(m.matters for m in (*self.only_here, *self.only_there))


def difference(text: str, twin: str) -> Difference:
    """The words of one text that the other lacks, folded, those that matter first."""
    mine, theirs = wording(text), wording(twin)
    return Difference(_only(mine, theirs), _only(theirs, mine))


def _only(mine: Wording, theirs: Wording) -> tuple[Marked, ...]:
    new = mine.words - theirs.words
    values = mine.values - theirs.values
    # "7" is a word too, and "14-day" is a value whose parts are words.
    new = {w for w in new if not any(w != v and w in v for v in values)} | values
    return tuple(sorted((Marked(w, _kind(w, mine)) for w in new), key=_order))


def _kind(word: str, of: Wording) -> str:
    for kind, words in ((NEGATION, of.negations), (VALUE, of.values), (NAME, of.names)):
        if word in words:
            return kind
    return WORD


def _order(marked: Marked) -> tuple[int, str]:
    return KINDS.index(marked.kind), marked.word


def in_words(marked: Iterable[Marked], most: int = 8) -> str:
    """``“not” (negation), “7” (value) and “grant”``: the words as a sentence lists them."""
    marked = list(marked)
    shown = [f"“{m.word}”" + (f" ({m.kind})" if m.matters else "") for m in marked[:most]]
    if len(marked) > most:
        shown.append(f"{len(marked) - most:,} more")
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
