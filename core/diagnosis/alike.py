"""Which values of a knob are bound to do the same: those between which nothing lies.

A threshold acts only where it passes a number that it is compared with. So of all its values
those between two such numbers are alike, and one run answers for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from core.diagnosis.replay import Point, Replay
from core.modes import Mode
from core.ranking import min_max
from core.stages.base import chunks_of, ordering_scores
from core.stages.extend import radius
from core.stages.overlaps import shared_words

Alike = Callable[[Any], Hashable]


def sameness(knob: str, replay: Replay, point: Point, mode: Mode) -> Alike | None:
    """What values of a knob have in common that do the same at a point; None where not known."""
    return _MEASURES[knob](replay, point, mode) if knob in _MEASURES else None


def _relevance(replay: Replay, point: Point, mode: Mode) -> Alike:
    candidates = replay.entering(point, "relevance").candidates
    judged = np.array([c.relevance for c in candidates if c.relevance is not None], np.float64)
    return lambda v: (v > 0, int(np.count_nonzero(judged >= v)))


def _dedup(replay: Replay, point: Point, mode: Mode) -> Alike:
    chunks = chunks_of(replay.run(mode), replay.entering(point, "dedup").candidates)
    if len(chunks) < 2:
        return lambda v: 0
    shared = shared_words(replay.index, chunks, point.settings.dedup_method)
    shared = np.unique(shared[np.tril_indices(len(chunks), -1)])
    return lambda v: int(np.count_nonzero(shared >= v))


def _windows(knob: str) -> Callable[[Replay, Point, Mode], Alike]:
    def measured(replay: Replay, point: Point, mode: Mode) -> Alike:
        scores = min_max(ordering_scores(replay.entering(point, "extend").candidates))

        def radii(value: Any) -> Hashable:
            threshold, most = (
                value if knob == own else getattr(point.settings, own)
                for own in ("extend_threshold", "max_radius")
            )
            return tuple(radius(x, threshold, most) for x in scores)

        return radii

    return measured


def _cap(replay: Replay, point: Point, mode: Mode) -> Alike:
    chunks = chunks_of(replay.run(mode), replay.entering(point, "diversity").candidates)
    most = max(Counter(c.document_id for c in chunks).values(), default=0)
    return lambda v: min(v, most)


_MEASURES = {
    "relevance_threshold": _relevance,
    "dedup_threshold": _dedup,
    "extend_threshold": _windows("extend_threshold"),
    "max_radius": _windows("max_radius"),
    "per_source_cap": _cap,
}
