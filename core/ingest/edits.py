"""Changes to a text, each of which remembers where it was made.

A text is cleaned by a list of edits rather than by writing it anew: what no edit names stays as
it was, and so does its place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from core.alignment import Alignment
from core.ingest.align import Aligner


class Edit(NamedTuple):
    """Characters ``start`` to ``end`` become ``text``. ``kind`` says what was taken out, where
    it could have held words (an address, a comment); it is empty for mere signs."""

    start: int
    end: int
    text: str = ""
    kind: str = ""


class Edited:
    """A text after its edits. Of two that overlap, the one that begins first is made."""

    def __init__(self, raw: str, edits: Iterable[Edit]) -> None:
        self.edits: list[Edit] = []
        aligner = Aligner()
        pieces: list[str] = []
        self._raw_at: list[int] = []  # for each kept stretch, where it begins in raw …
        self._clean_at: list[int] = []  # … and in the edited text
        reached = length = 0

        def keep(until: int) -> None:
            nonlocal length
            self._raw_at.append(reached)
            self._clean_at.append(length)
            aligner.copy(reached, length, until - reached)
            pieces.append(raw[reached:until])
            length += until - reached

        for edit in sorted(edits):
            if edit.start < reached or edit.end <= edit.start:
                continue
            keep(edit.start)
            aligner.whole(edit.start, edit.end - edit.start, length, len(edit.text))
            pieces.append(edit.text)
            length += len(edit.text)
            reached = edit.end
            self.edits.append(edit)
        keep(len(raw))
        self.text = "".join(pieces)
        self.alignment: Alignment = aligner.alignment(raw, self.text)

    def at(self, offset: int) -> int:
        """Where a raw offset lies in the edited text; within an edit, where that one begins."""
        index = bisect_right(self._raw_at, offset) - 1
        place = self._clean_at[index] + offset - self._raw_at[index]
        if index < len(self.edits) and offset > (edit := self.edits[index]).start:
            return self._clean_at[index] + edit.start - self._raw_at[index]
        return place
