"""The rows of the document map: which chunks stand in each, with what score and mark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.ranking import min_max
from core.trace import ADDED, DROPPED, KEPT, NOT_IN_MODE, NOT_RECORDED, Entry, StageRecord
from dashboard.lookup import STAGE_TITLES, Lookup

FILTERS = ("relevance", "dedup", "diversity")
"""Stages that share one row: each only takes chunks away."""


@dataclass(frozen=True)
class Cells:
    """Chunks of one row, aligned arrays in the order of the corpus.

    Attributes:
        rows: int64[n], places in the corpus, ascending.
        scores: float64[n] as the stage gave them, NaN for none.
        levels: float64[n] in [0, 1], the colour; NaN for none.
        ranks: int64[n] from 1, 0 for none.
    """

    rows: np.ndarray
    scores: np.ndarray
    levels: np.ndarray
    ranks: np.ndarray

    @classmethod
    def of(
        cls,
        rows: Iterable[int],
        scores: Sequence[float | None],
        ranks: Sequence[int | None],
        levels: Sequence[float] | None = None,
    ) -> Cells:
        """Sorted by place; levels are min-max over the row where not given."""
        places = np.fromiter(rows, dtype=np.int64)
        values = np.array([np.nan if s is None else s for s in scores], dtype=np.float64)
        shades = min_max(values) if levels is None else np.array(levels, dtype=np.float64)
        numbers = np.array([r or 0 for r in ranks], dtype=np.int64)
        order = np.argsort(places, kind="stable")
        return cls(places[order], values[order], shades[order], numbers[order])

    def between(self, first: int, stop: int) -> Cells:
        """Those of corpus rows ``first`` to ``stop`` (exclusive)."""
        a, b = np.searchsorted(self.rows, [first, stop])
        return Cells(self.rows[a:b], self.scores[a:b], self.levels[a:b], self.ranks[a:b])

    def __len__(self) -> int:
        return len(self.rows)


NOTHING = Cells.of((), (), ())


@dataclass(frozen=True, slots=True)
class Mark:
    """A chunk that was lost in this row, at ``stage``; or, in the windows' row, an anchor."""

    row: int
    stage: str
    entry: Entry


@dataclass(frozen=True)
class MapRow:
    """One row of the map. With ``absent``, a few words on why there is nothing in it.

    ``unit`` names the score in its cells; ``of`` is how many chunks were ranked with it.
    """

    name: str
    title: str
    cells: Cells = NOTHING
    marks: tuple[Mark, ...] = ()
    absent: str = ""
    unit: str = "score"
    of: int = 0
    reach: tuple[tuple[int, int], ...] = field(default=())


def map_rows(lookup: Lookup) -> tuple[MapRow, ...]:
    """The eight rows of a trace, first stage to prompt."""
    first = _first_stage(lookup)
    one, two = _rerank(lookup, "rerank_1"), _rerank(lookup, "rerank_2")
    last = _Carried()
    for row in (first, one, two):
        last.update(row)
    return (
        _whole_corpus(lookup, "bm25", "BM25", "BM25 score"),
        _whole_corpus(lookup, "dense", "Dense", "cosine"),
        first,
        one,
        _windows(lookup),
        two,
        _filters(lookup, last),
        _prompt(lookup, last),
    )


def _whole_corpus(lookup: Lookup, name: str, title: str, unit: str) -> MapRow:
    scores = lookup.scores(name).astype(np.float64)
    if not len(scores):
        first = lookup.stage("first_stage")
        failed = name == "dense" and first is not None and first.degraded
        absent = NOT_RECORDED if lookup.trace.origin else NOT_IN_MODE
        return MapRow(name, title, absent=first.degraded if failed else absent)
    cells = Cells(np.arange(len(scores)), scores, min_max(scores), lookup.corpus_ranks(name))
    return MapRow(name, title, cells, unit=unit, of=len(scores))


def _entries(record: StageRecord, lookup: Lookup, fates: tuple[str, ...]) -> list[Entry]:
    return [e for e in record.entries if e.fate in fates and lookup.known(e.chunk_id)]


def _cells(lookup: Lookup, entries: Sequence[Entry]) -> Cells:
    rows = lookup.rows(e.chunk_id for e in entries)
    return Cells.of(rows, [e.score for e in entries], [e.rank for e in entries])


def _first_stage(lookup: Lookup) -> MapRow:
    record, title = lookup.stage("first_stage"), STAGE_TITLES["first_stage"]
    if record is None or not record.ran:
        return MapRow("first_stage", title, absent=_absence(record))
    cells = _cells(lookup, _entries(record, lookup, (KEPT,)))
    unit = "fused score" if len(lookup.scores("dense")) else "BM25 score"
    if lookup.trace.origin:
        unit = "score"
    return MapRow("first_stage", title, cells, unit=unit, of=len(cells))


def _absence(record: StageRecord | None) -> str:
    return NOT_IN_MODE if record is None else record.absence


def _rerank(lookup: Lookup, name: str) -> MapRow:
    record, title = lookup.stage(name), STAGE_TITLES[name]
    if record is None or not record.ran:
        return MapRow(name, title, absent=_absence(record))
    if record.degraded:
        return MapRow(name, title, absent=f"no scores: {record.degraded}")
    cells = _cells(lookup, _entries(record, lookup, (KEPT, ADDED)))
    marks = tuple(_lost(lookup, name))  # imported reranks keep the best only
    return MapRow(name, title, cells, marks, unit=f"{title.lower()} score", of=len(cells))


def _windows(lookup: Lookup) -> MapRow:
    """Chunks that joined, the anchors that brought them, and how far each anchor reached."""
    record, title = lookup.stage("extend"), STAGE_TITLES["extend"]
    if record is None or not record.ran:
        return MapRow("extend", title, absent=_absence(record))
    added = _entries(record, lookup, (ADDED,))
    brought = {e.anchor for e in added}
    anchors, reach = [], []
    for e in _entries(record, lookup, (KEPT,)):
        radius = int(e.scores.get("radius") or 0)
        if radius or e.chunk_id in brought:
            row = lookup.row(e.chunk_id)
            place = lookup.place_of(row)
            anchors.append(Mark(row, "anchor", e))
            reach.append((max(place.first, row - radius), min(place.stop - 1, row + radius)))
    rows = lookup.rows(e.chunk_id for e in added)
    cells = Cells.of(rows, [None] * len(added), [None] * len(added))
    return MapRow("extend", title, cells, tuple(anchors), reach=tuple(reach))


class _Carried:
    """The last score that each chunk was given, with its colour: what later rows show."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[float, float]] = {}
        self.unit = "score"

    def update(self, row: MapRow) -> None:
        if row.absent:
            return
        self.unit = row.unit
        cells = row.cells
        for place, score, level in zip(cells.rows, cells.scores, cells.levels, strict=True):
            self._held[int(place)] = (float(score), float(level))

    def cells(self, rows: np.ndarray, ranks: Sequence[int | None]) -> Cells:
        held = [self._held.get(int(r), (np.nan, np.nan)) for r in rows]
        return Cells.of(rows, [h[0] for h in held], ranks, [h[1] for h in held])


def _lost(lookup: Lookup, stage: str) -> list[Mark]:
    record = lookup.stage(stage)
    if record is None:
        return []
    dropped = _entries(record, lookup, (DROPPED,))
    return [Mark(lookup.row(e.chunk_id), stage, e) for e in dropped]


def _filters(lookup: Lookup, last: _Carried) -> MapRow:
    """What is left after relevance, duplicates and diversity, and what each of them took."""
    marks = [mark for stage in FILTERS for mark in _lost(lookup, stage)]
    if lookup.trace.origin and not any(lookup.ran(stage) for stage in FILTERS):
        return MapRow("filters", "Filters", absent=NOT_RECORDED)
    record = lookup.stage("diversity")
    kept = [c for c in record.kept if lookup.known(c)] if record else []
    cells = last.cells(lookup.rows(kept), range(1, len(kept) + 1))
    return MapRow("filters", "Filters", cells, tuple(marks), unit=last.unit, of=len(kept))


def _prompt(lookup: Lookup, last: _Carried) -> MapRow:
    """The passages, and what the budget cut."""
    chosen = [p.chunk_id for p in lookup.trace.selected if lookup.known(p.chunk_id)]
    ranks = [lookup.passage_ranks[c] for c in chosen]
    cells = last.cells(lookup.rows(chosen), ranks)
    marks = (*_lost(lookup, "budget"), *_lost(lookup, "prompt"))
    return MapRow("prompt", "In the prompt", cells, marks, unit=last.unit, of=len(chosen))
