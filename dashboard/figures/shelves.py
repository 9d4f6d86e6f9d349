"""Which documents the map shows, and where: long ones a strip each, short ones side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from core.trace import ADDED, KEPT
from dashboard.lookup import Lookup, Place

MOST_SHELVES = 5
CAPACITY = 72
"""Chunks that stand on one shelf; a longer document has a shelf to itself."""

LEAST = 14
"""A document takes the room of so many chunks at least: that of its name."""

BETWEEN = 0.012
"""Share of the width between two documents."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A document's part of a shelf, in shares of the plot's width."""

    place: Place
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Shelves of documents, best first; the other documents with their number of candidates."""

    shelves: tuple[tuple[Slot, ...], ...]
    others: tuple[tuple[Place, int], ...]


def choose(
    lookup: Lookup,
    document_ids: Sequence[str] | None,
    selected: str,
    evidence: Collection[str],
    most: int = MOST_SHELVES,
) -> Choice:
    """The documents to show.

    Args:
        document_ids: exactly these, in this order. None: those with a candidate, by best
            passage, then best candidate, on at most ``most`` shelves; and those that hold
            the selected chunk or expected evidence, on further ones if need be.
    """
    candidates, places = _candidates(lookup), lookup.places
    if document_ids is not None:
        wanted = [places[d] for d in dict.fromkeys(document_ids) if d in places]
        shelves = packed(wanted)
    else:
        # Chosen and expected documents come last if they have no candidate, so that a click
        # never moves the others.
        forced = {c.rpartition(":")[0] for c in (*evidence, selected) if c and lookup.known(c)}
        order = [d for d in _by_success(lookup, candidates) if d in candidates or d in forced]
        all_shelves = packed(places[d] for d in order)
        shelves = [
            shelf
            for i, shelf in enumerate(all_shelves)
            if i < most or any(slot.place.document.id in forced for slot in shelf)
        ]
    shown = {slot.place.document.id for shelf in shelves for slot in shelf}
    others = [(p, candidates[d]) for d, p in places.items() if d not in shown]
    others.sort(key=lambda pair: -pair[1])
    return Choice(tuple(shelves), tuple(others))


def packed(places: Iterable[Place]) -> list[tuple[Slot, ...]]:
    """Each document on the first shelf with room for it; widths follow the chunk counts."""
    shelves: list[list[tuple[Place, int]]] = []
    for place in places:
        weight = max(LEAST, min(CAPACITY, place.document.chunks))
        for shelf in shelves:
            if sum(w for _, w in shelf) + weight <= CAPACITY:
                shelf.append((place, weight))
                break
        else:
            shelves.append([(place, weight)])
    return [_slots(shelf) for shelf in shelves]


def _slots(shelf: Sequence[tuple[Place, int]]) -> tuple[Slot, ...]:
    # Half a shelf of short documents is not stretched: their cells would be slabs.
    room = 1 - BETWEEN * (len(shelf) - 1)
    unit = room / max(CAPACITY // 2, sum(weight for _, weight in shelf))
    slots, left = [], 0.0
    for place, weight in shelf:
        slots.append(Slot(place, left, min(1.0, left + weight * unit)))
        left += weight * unit + BETWEEN
    return tuple(slots)


def _candidates(lookup: Lookup) -> Counter[str]:
    """Document id → how many of its chunks were candidates or joined through a window."""
    found = {
        e.chunk_id
        for stage, fates in (("first_stage", (KEPT,)), ("extend", (ADDED,)))
        for e in lookup.entries.get(stage, {}).values()
        if e.fate in fates
    }
    return Counter(c.rpartition(":")[0] for c in found)


def _by_success(lookup: Lookup, candidates: Counter[str]) -> list[str]:
    """Document ids: by best passage, then best candidate, then as the trace has them."""
    worst = lookup.total + 1
    passages: dict[str, int] = {}
    for chunk, rank in lookup.passage_ranks.items():
        document = chunk.rpartition(":")[0]
        passages[document] = min(passages.get(document, worst), rank)
    found: dict[str, int] = {}
    for chunk, entry in lookup.entries.get("first_stage", {}).items():
        document = chunk.rpartition(":")[0]
        found[document] = min(found.get(document, worst), entry.rank or worst)
    return sorted(
        lookup.places,
        key=lambda d: (passages.get(d, worst), found.get(d, worst), d not in candidates),
    )
