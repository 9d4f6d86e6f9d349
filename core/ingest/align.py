"""Where the characters of a cleaned stretch come from, found by walking along both texts.

Cleaning leaves characters out (zero-width ones, soft hyphens, spaces), writes some anew
(ligatures, bullets) and never puts letters in another order, so that one walk from left to right
finds each character's origin whatever steps the cleaning took. What no known repair explains is
matched by its longest common runs, and the rest as a whole: no letter goes without a place.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from core.alignment import Alignment, Segment
from core.ingest.clean import NUL_MARK, written_anew

# A hyphen at a line's end goes when the word is put together again.
_HYPHENS = "-‐"
_UNKNOWN = "\ufffd"


class _Run(NamedTuple):
    """A segment in the making; ``copied`` where both sides are the same characters."""

    clean_start: int
    clean_end: int
    raw_start: int
    raw_end: int
    copied: bool


class Aligner:
    """Collects what maps to what, in any order, and joins what goes on without a break."""

    def __init__(self) -> None:
        # As :class:`_Run`, and faster to make: a book has a run for each piece of a line.
        self._runs: list[tuple[int, int, int, int, bool]] = []

    def copy(self, raw_at: int, clean_at: int, length: int) -> None:
        """``length`` characters are the same on both sides."""
        if length:
            run = (clean_at, clean_at + length, raw_at, raw_at + length, True)
            self._runs.append(run)

    def whole(self, raw_at: int, raw_length: int, clean_at: int, clean_length: int) -> None:
        """A stretch was written anew. Nothing is mapped where one side is empty."""
        if raw_length and clean_length:
            clean_end, raw_end = clean_at + clean_length, raw_at + raw_length
            self._runs.append(_Run(clean_at, clean_end, raw_at, raw_end, False))

    def add(self, raw: str, raw_at: int, clean: str, clean_at: int) -> None:
        """``clean``, at ``clean_at`` in its text, was made of ``raw``, at ``raw_at`` in its."""
        for i, j, raw_length, clean_length, copied in _walk(raw, clean):
            if copied:
                self.copy(raw_at + i, clean_at + j, clean_length)
            else:
                self.whole(raw_at + i, raw_length, clean_at + j, clean_length)

    def alignment(self, raw: str, clean: str) -> Alignment:
        """The map between two whole texts; without segments where they are equal.

        White space between two stretches that stands on both sides is mapped too.
        """
        if raw == clean:
            return Alignment()
        merged: list[Segment] = []
        start = end = raw_start = raw_end = 0  # the segment that may still grow
        growing = False
        for run in sorted(self._runs):
            clean_at, clean_to, raw_at, raw_to, copied = run
            gap = clean_at - end
            if gap > 0 and raw_at - gap >= raw_end:
                blank = clean[end:clean_at]
                if blank.isspace() and raw.startswith(blank, raw_at - gap):
                    if growing and raw_at - gap == raw_end:
                        end, raw_end = clean_at, raw_at
                    else:
                        if end > start:
                            merged.append(Segment(start, end, raw_start, raw_end))
                        start, end, raw_start, raw_end = end, clean_at, raw_at - gap, raw_at
                        growing = True
            if copied and growing and clean_at == end and raw_at == raw_end:
                end, raw_end = clean_to, raw_to
                continue
            if end > start:
                merged.append(Segment(start, end, raw_start, raw_end))
            start, end, raw_start, raw_end, growing = run
        if end > start:
            merged.append(Segment(start, end, raw_start, raw_end))
        return Alignment(tuple(_apart(merged)))


def _apart(segments: list[Segment]) -> list[Segment]:
    """The segments without those whose raw side another one has: a line read twice is mapped
    once, rather than not at all."""
    taken: list[Segment] = []
    for segment in sorted(segments, key=lambda s: (s.raw_start, s.clean_start)):
        if not taken or segment.raw_start >= taken[-1].raw_end:
            taken.append(segment)
    return segments if len(taken) == len(segments) else sorted(taken)


_Step = tuple[int, int, int, int, bool]


def _walk(raw: str, clean: str) -> Iterator[_Step]:
    """(raw offset, clean offset, raw length, clean length, whether they are equal)."""
    if not clean:
        return
    if (at := raw.find(clean)) >= 0:  # nearly all lines: nothing changed, or blanks at the ends
        yield at, 0, len(clean), len(clean), True
        return
    i = j = 0
    while i < len(raw) and j < len(clean):
        if raw[i] == clean[j]:
            length = _common(raw, i, clean, j)
            yield i, j, length, length, True
            i, j = i + length, j + length
        elif anew := _anew(raw[i], clean, j):
            yield i, j, 1, anew, False
            i, j = i + 1, j + anew
        elif _dropped(raw[i]):
            i += 1
        elif clean[j].isspace():
            j += 1
        else:
            yield from _compared(raw, i, clean, j)
            return


def _common(raw: str, i: int, clean: str, j: int) -> int:
    most = min(len(raw) - i, len(clean) - j)
    length = 1
    while length < most and raw[i + length] == clean[j + length]:
        length += 1
    return length


def _anew(character: str, clean: str, j: int) -> int:
    """How many clean characters at ``j`` a raw one was written as; 0 for none."""
    written = written_anew(character)
    if written and written != character and clean.startswith(written, j):
        return len(written)
    blank = character.isspace() or character == "\u200b"
    if blank and clean[j].isspace():
        return 1
    # An unknown glyph whose font gave its sign away.
    return int(character == _UNKNOWN and unicodedata.category(clean[j])[0] in "SP")


def _dropped(character: str) -> bool:
    """Whether cleaning may leave a character out."""
    return (
        character.isspace()
        or character in _HYPHENS
        or character in (NUL_MARK, _UNKNOWN)
        or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn", "Cs")
    )


def _compared(raw: str, i: int, clean: str, j: int) -> Iterator[_Step]:
    """The rest of both, by longest common runs; what lies between these maps as a whole."""
    matcher = SequenceMatcher(None, raw[i:], clean[j:], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            yield i + a, j + c, b - a, d - c, kind == "equal"


def place_pieces(
    aligner: Aligner, pieces: Sequence[tuple[str, str, int]], text: str, start: int
) -> None:
    """Align a row: ``pieces`` are (drawn text, cleaned text, raw offset) from left to right,
    ``text`` is what was made of them, at ``start`` in the clean text."""
    at = 0
    for index, (drawn, cleaned, raw_at) in enumerate(pieces):
        found = text.find(cleaned, at)
        if found >= 0 and (inside := drawn.find(cleaned)) >= 0:  # nearly all of them
            aligner.copy(raw_at + inside, start + found, len(cleaned))
            at = found + len(cleaned)
            continue
        if found >= 0:
            stretch = cleaned
        elif index + 1 < len(pieces) and (stop := text.find(pieces[index + 1][1], at)) >= 0:
            found, stretch = at, text[at:stop]
        else:  # its last letters were changed when the next line was joined on
            found, stretch = at, text[at:]
        aligner.add(drawn, raw_at, stretch, start + found)
        at = found + len(stretch)
