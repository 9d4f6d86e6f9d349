"""What the document map says of a chunk under the pointer."""

from __future__ import annotations

import numpy as np

from core.words import counted
from dashboard.figures.rows import MapRow, Mark
from dashboard.figures.text import escaped, first_words, lines, number
from dashboard.lookup import Lookup
from dashboard.palette import fate_look


class Hovers:
    """Writes hover boxes for one trace; what is said of a chunk in every row is made once."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._endings: dict[str, str] = {}

    def cell(self, row: MapRow, chunk: str, score: float, rank: int, width: int = 1) -> str:
        """A cell of any row. ``width`` is the number of chunks that its column stands for."""
        said = [self._title(row.title, chunk)]
        if row.name == "extend":
            said.append(self._joined(chunk))
        else:
            said.append(self._score(row, score, rank))
        if width > 1:
            said.append(f"the best of {width} chunks in this column")
        return "<br>".join([*said, self._ending(chunk)])

    def mark(self, row: MapRow, mark: Mark, chunk: str, others: int = 0) -> str:
        """A lost chunk, or an anchor. ``others`` is how many like it share its column."""
        said = [self._title(row.title, chunk)]
        if mark.stage == "anchor":
            radius = int(mark.entry.scores.get("radius") or 0)
            share = mark.entry.scores.get("window_score")
            said.append(
                f"Anchor: opens a window of {counted(radius, 'chunk')} to each side "
                f"(score {number(share, 3)} of 1)"
            )
        if others:
            said.append(f"and {others:,} more like it in this column")
        return "<br>".join([*said, self._ending(chunk)])

    def _title(self, title: str, chunk: str) -> str:
        return f"<b>{title}</b> · {self._lookup.where(chunk)}"

    def _score(self, row: MapRow, score: float, rank: int) -> str:
        if row.name == "bm25" and score == 0:
            return "BM25 score 0: it holds no term of the question"
        shown = f"{row.unit} {number(score)}" if np.isfinite(score) else "no score"
        ranked = f"rank {rank:,} of {row.of:,}" if rank else ""
        return " · ".join(part for part in (shown, ranked) if part)

    def _joined(self, chunk: str) -> str:
        entry = self._lookup.entries.get("extend", {}).get(chunk)
        if entry is None or not entry.anchor:
            return "joined through a window"
        side = "after" if entry.offset > 0 else "before"
        anchor = self._lookup.where(entry.anchor) if self._lookup.known(entry.anchor) else ""
        return f"joined {counted(abs(entry.offset), 'chunk')} {side} its anchor, {anchor}"

    def _ending(self, chunk: str) -> str:
        """The fate, its reason and the first words, the same in every row."""
        if chunk not in self._endings:
            self._endings[chunk] = self._written(chunk)
        return self._endings[chunk]

    def _written(self, chunk: str) -> str:
        lookup = self._lookup
        fate = lookup.fate(chunk)
        look = fate_look(fate.stage)
        if fate.arrived:
            said = f"{look.glyph} in the prompt as [{lookup.numbers[chunk]}]"
        elif chunk in lookup.chunks:
            reason = lines(lookup.reason(chunk), 2, 56)
            said = f"{look.glyph} {escaped(look.label)}" + (f": {reason}" if reason else "")
        else:
            return f"{look.glyph} {look.label}"
        words = lines(first_words(lookup.chunks.get(chunk)), 3)
        return f"{said}<br>“{words}”" if words else said
