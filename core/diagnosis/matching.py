"""A pasted passage found in a text, whatever its white space, case, accents, quotes or hyphens.

Text and passage are compared by their letters and digits alone. What is not found whole is
found by its longest runs of words, and the result says how much of it that is.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")

SHORT = 12
"""Letters. A passage of fewer must begin and end with whole words: "art" is not in "start"."""

SEED = 3
"""Words in a row that two texts must share before they are compared any further."""

LEAST_RUN, LEAST_SHARE = 4, 0.3
"""A passage counts as found in part from a run of so many words, and such a share of them."""

GAP = 8
"""Two runs so few words apart in the text are one stretch."""

FAR = 6
"""Words. Only a run of so many counts that stands far from the longest one."""


@dataclass(frozen=True, slots=True)
class Match:
    """Where a passage stands: characters ``stretches`` of the text, half-open.

    ``share`` in (0, 1] is how much of it stands there, by words; ``missing`` are the parts of
    the passage that do not, as the passage has them.
    """

    stretches: tuple[tuple[int, int], ...]
    share: float = 1.0
    missing: tuple[str, ...] = ()


class Words:
    """A text's words, folded, with their places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans = [m.span() for m in _WORD.finditer(text)]
        self.words = [_fold(text[s:e]) for s, e in self.spans]

    @cached_property
    def squeezed(self) -> str:
        """All words without anything between them."""
        return "".join(self.words)

    @cached_property
    def _offsets(self) -> list[int]:
        out, at = [], 0
        for word in self.words:
            out.append(at)
            at += len(word)
        return out

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Each word's positions among the words."""
        out: dict[str, list[int]] = {}
        for at, word in enumerate(self.words):
            out.setdefault(word, []).append(at)
        return out

    def find(self, passage: Words) -> list[tuple[int, int]]:
        """Every place, in characters, where all of ``passage`` stands, first to last."""
        wanted, found, at = passage.squeezed, [], -1
        while wanted and (at := self.squeezed.find(wanted, at + 1)) >= 0:
            first = bisect_right(self._offsets, at) - 1
            last = bisect_right(self._offsets, at + len(wanted) - 1) - 1
            before = at - self._offsets[first]
            after = self._offsets[last] + len(self.words[last]) - at - len(wanted)
            if len(wanted) >= SHORT or not (before or after):
                start, end = self.spans[first][0], self.spans[last][1]
                # Folding can change a word's length: then the whole word is taken.
                start += before if self._as_long(first) else 0
                end -= after if self._as_long(last) else 0
                found.append((start, end))
        return found

    def _as_long(self, word: int) -> bool:
        start, end = self.spans[word]
        return end - start == len(self.words[word])


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c)).casefold()


def matches(text: Words, passage: Words) -> list[Match]:
    """Where ``passage`` stands whole, each place a match; else the one place that has most of it."""
    if whole := text.find(passage):
        return [Match((place,)) for place in whole]
    runs = _best_runs(_runs(text, passage), len(passage.words))
    if not runs:
        return []
    found = sum(length for _, _, length in runs)
    longest = max(length for _, _, length in runs)
    share = found / len(passage.words)
    if longest < LEAST_RUN or share < LEAST_SHARE:
        return []
    return [Match(_stretches(text, runs), share, _missing(passage, runs))]


Run = tuple[int, int, int]
"""Word of the passage, word of the text, words in a row that are equal."""


def _runs(text: Words, passage: Words) -> list[Run]:
    """Every run of ``SEED`` or more words that the two share, as long as it goes."""
    done: set[tuple[int, int]] = set()
    runs = []
    mine, theirs = passage.words, text.words
    for i in range(len(mine) - SEED + 1):
        seed = mine[i : i + SEED]
        rarest = min(range(SEED), key=lambda k: len(text.places.get(seed[k], ())))
        for at in text.places.get(seed[rarest], ()):
            j = at - rarest
            if j < 0 or (i, j) in done or theirs[j : j + SEED] != seed:
                continue
            length = SEED
            while (
                i + length < len(mine)
                and j + length < len(theirs)
                and mine[i + length] == theirs[j + length]
            ):
                length += 1
            done.update((i + k, j + k) for k in range(length))
            runs.append((i, j, length))
    return runs


def _best_runs(runs: Sequence[Run], size: int) -> list[Run]:
    """The longest run, and the others of the passage in its order: short ones only around it."""
    chosen: list[Run] = []
    for i, j, length in sorted(runs, key=lambda run: (-run[2], run[0], run[1])):
        far = chosen and abs((j - i) - (chosen[0][1] - chosen[0][0])) > size + GAP
        if far and length < FAR:
            continue
        if all(
            (i + length <= a and j + length <= b) or (a + n <= i and b + n <= j)
            for a, b, n in chosen
        ):
            chosen.append((i, j, length))
    return sorted(chosen)


def _stretches(text: Words, runs: Sequence[Run]) -> tuple[tuple[int, int], ...]:
    out: list[list[int]] = []
    last = -GAP - 1
    for _, j, length in runs:
        start, end = text.spans[j][0], text.spans[j + length - 1][1]
        if out and j - last <= GAP:
            out[-1][1] = end
        else:
            out.append([start, end])
        last = j + length
    return tuple((start, end) for start, end in out)


def _missing(passage: Words, runs: Sequence[Run]) -> tuple[str, ...]:
    out, at = [], 0
    for i, _, length in (*runs, (len(passage.words), 0, 0)):
        if i > at:
            out.append(passage.text[passage.spans[at][0] : passage.spans[i - 1][1]])
        at = i + length
    return tuple(out)
