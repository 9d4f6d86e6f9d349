"""The window that came nearest to a chunk and did not reach it."""

from __future__ import annotations

from dataclasses import dataclass

from core.index.index import Index
from core.trace import KEPT, Trace


@dataclass(frozen=True, slots=True)
class MissedWindow:
    """A window around ``anchor`` that stopped ``short_by`` chunks before the chunk.

    ``score`` is the anchor's window score in [0, 1] and ``radius`` what it gave; the chunk
    is ``distance`` away, which is the radius that it would need. ``needed_score`` is the
    score that a radius of ``distance`` takes more than; None where no score gives it, because
    ``max_radius`` is smaller. ``stopped`` says that the context limit cut the window.
    """

    anchor: str
    score: float | None
    radius: int
    distance: int
    short_by: int
    needed_score: float | None
    max_radius: int
    threshold: float
    stopped: bool = False


def missed_window(trace: Trace, index: Index, chunk_id: str) -> MissedWindow | None:
    """The window that stopped fewest chunks short; None without windows in the chunk's document."""
    record = trace.stage("extend")
    if not record.ran or "max_radius" not in record.settings:
        return None
    most, threshold = record.settings["max_radius"], record.settings["extend_threshold"]
    wanted = index.chunk(chunk_id)
    found: list[MissedWindow] = []
    for e in record.entries:
        anchor = index.chunk(e.chunk_id) if e.fate == KEPT else None
        if anchor is None or anchor.document_id != wanted.document_id:
            continue
        wide, distance = int(e.scores["radius"]), abs(wanted.ordinal - anchor.ordinal)
        found.append(
            MissedWindow(
                anchor=anchor.id,
                score=e.scores["window_score"],
                radius=wide,
                distance=distance,
                short_by=max(0, distance - wide),
                needed_score=score_for_radius(distance, threshold, most),
                max_radius=most,
                threshold=threshold,
                stopped=distance <= wide,
            )
        )
    return min(found, key=lambda w: (w.short_by, w.distance, -(w.score or 0)), default=None)


def score_for_radius(wide: int, threshold: float, max_radius: int) -> float | None:
    """The score above which a window is ``wide`` or wider; None where none is.

    The inverse of :func:`core.stages.extend.radius`: ``t + (1 − t)·(wide − 1)/max_radius``.
    """
    if not 1 <= wide <= max_radius:
        return None
    return threshold + (1 - threshold) * (wide - 1) / max_radius
