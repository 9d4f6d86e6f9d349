"""What comes nearest to a passage that stands in no document, and what to do then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from core.diagnosis.matching import LEAST_RUN, Words
from core.index.analyse import STOPWORDS
from core.records import Document

LEAST = 0.4
"""The share of a passage's words that the nearest text has at least; less is not near."""

ALIKE = 0.75
"""How alike two words are that could be one in two spellings, by difflib's ratio."""

QUOTED = 160
"""Characters of the nearest text that are quoted, at most."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The text that comes nearest: where it stands, and how many of the passage's different words it has.

    ``page`` counts from 1 and is None where a document has no pages. ``shared`` is 0 where only
    the spelling of a single word is near.
    """

    document: str
    page: int | None
    text: str
    shared: int
    words: int


def nearest_text(documents: Iterable[tuple[Document, Words]], passage: Words) -> Nearest | None:
    """The stretch, as long as the passage, with most of its different words; None if none is near.

    Of a passage of one word the nearest spelling. Words count once each, and stopwords only where
    there are no others, so that a stretch full of "the" is not near.
    """
    wanted = set(passage.words) - STOPWORDS or set(passage.words)
    if len(wanted) == 1:
        return _spelling(documents, passage)
    best: tuple[int, Document, Words, int] | None = None
    for document, words in documents:
        shared, at = _densest(words, wanted, len(passage.words))
        if shared and (best is None or shared > best[0]):
            best = shared, document, words, at
    if best is None or best[0] < 2 or best[0] < LEAST * len(wanted):
        return None
    shared, document, words, at = best
    last = min(at + len(passage.words), len(words.spans)) - 1
    start, end = words.spans[at][0], words.spans[last][1]
    return _at(document, start, end, shared, len(wanted))


def _densest(words: Words, wanted: set[str], length: int) -> tuple[int, int]:
    """How many different wanted words the best window of so many words holds, and its first."""
    hits = sorted((at, word) for word in wanted for at in words.places.get(word, ()))
    held: dict[str, int] = {}
    best, first, begin = 0, 0, 0
    for at, word in hits:
        held[word] = held.get(word, 0) + 1
        while hits[begin][0] <= at - length:
            gone = hits[begin][1]
            held[gone] -= 1
            if not held[gone]:
                del held[gone]
            begin += 1
        if len(held) > best:
            best, first = len(held), hits[begin][0]
    return best, first


def _spelling(documents: Iterable[tuple[Document, Words]], passage: Words) -> Nearest | None:
    word = max(passage.words, key=len)
    for document, words in documents:
        close = get_close_matches(word, list(words.places), n=1, cutoff=ALIKE)
        if close:
            start, end = words.spans[words.places[close[0]][0]]
            return _at(document, start, end, 0, 1)
    return None


def _at(document: Document, start: int, end: int, shared: int, words: int) -> Nearest:
    text = " ".join(document.text[start:end].split())
    text = text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"
    page = next((p.number for p in document.pages if p.start <= start < p.end), None)
    return Nearest(document.name, page, text, shared, words)


def in_words(nearest: Nearest) -> str:
    """Where the nearest text stands and how near it is, as a sentence."""
    place = nearest.document + (f", page {nearest.page}" if nearest.page is not None else "")
    if not nearest.shared:
        return f"The nearest word is “{nearest.text}” in {place}: perhaps another spelling of it."
    return (
        f"The nearest text has {nearest.shared} of its {nearest.words} words and stands in "
        f"{place}: “{nearest.text}”."
    )


def remedy(found: bool, silent: bool) -> str:
    """What to do about a passage that was not found.

    Args:
        found: something near was. silent: a page without good text could hold it.
    """
    steps = []
    if found:
        steps.append("if that is what is meant, paste it as it stands there")
    else:
        steps.append(f"paste {LEAST_RUN} words or more in a row exactly as the document has them")
    if silent:
        steps.append(
            "read those pages with OCR (--ocr, or ocrmypdf on the file) and add the file again"
        )
    steps.append("if the document that holds it is not among these, add it")
    said = "; ".join(steps)
    return f"{said[0].upper()}{said[1:]}."
