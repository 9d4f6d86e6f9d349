"""How a passage stands in the prompt: its label, its text, and what lies between passages.

A label is ``[n] source#p3``: the citation number, the file, and the page; where a document
has no pages, ``#c12``, the chunk's ordinal from 1. Budget, order and prompt share this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.records import Chunk
from core.tokens import TokenCounter

SEPARATOR = "\n\n"

_BREAKING = re.compile(r"\s+")


def place(chunk: Chunk) -> str:
    """Where in its source a chunk stands: ``p3``, ``p3-4`` or ``c12``."""
    if not chunk.pages:
        return f"c{chunk.ordinal + 1}"
    first, last = chunk.pages
    return f"p{first}" if first == last else f"p{first}-{last}"


def label(number: int, source: str, where: str) -> str:
    """The citation label. A source's own line breaks must not forge another label."""
    return f"[{number}] {_BREAKING.sub(' ', source).strip()}#{where}"


def block(labels: Sequence[str], texts: Sequence[str]) -> str:
    """The evidence as the generator reads it."""
    return SEPARATOR.join(f"{a}\n{t.strip()}" for a, t in zip(labels, texts, strict=True))


class PassageCost:
    """Tokens that a passage takes in the prompt besides its text: label and separator.

    The number that a passage will get is not known while passages are chosen, so the
    dearest number of those that could be given is counted.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._around = counter.count(SEPARATOR)
        self._numbers: dict[int, int] = {}
        self._places: dict[tuple[str, str], int] = {}

    def labels(self, places: Sequence[tuple[str, str]]) -> list[int]:
        """Tokens of the label of each (source, place), and of what separates it from others."""
        new = [p for p in dict.fromkeys(places) if p not in self._places]
        rests = [label(1, source, where).partition("]")[2] for source, where in new]
        self._places.update(zip(new, self._counter.count_many(rests), strict=True))
        around = self._dearest_number(len(str(len(places)))) + self._around
        return [self._places[p] + around for p in places]

    def _dearest_number(self, digits: int) -> int:
        if digits not in self._numbers:
            numbers = [f"[{n}]" for n in range(1, 10**digits)]
            self._numbers[digits] = max(self._counter.count_many(numbers))
        return self._numbers[digits]
