"""Which documents the map shows, and where: long ones a strip each, short ones side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from core.trace import ADDED, KEPT
from dashboard.lookup import Lookup, Place

MOST_SHELVES = 5
CAPACITY = 72
"""Chunks that stand on one shelf; a longer document has a shelf to itself."""

NARROW = 106
"""Characters that fit the width of a usual page."""

SHORTEST, LONGEST = 9, 16
"""Characters of its name for which a document has room at least, however few chunks it has."""

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
    shelves: list[list[Place]] = []
    for place in places:
        for shelf in shelves:
            if sum(map(_weight, shelf)) + _weight(place) <= CAPACITY:
                shelf.append(place)
                break
        else:
            shelves.append([place])
    return [_slots(shelf) for shelf in shelves]


def _least(place: Place) -> float:
    """Share of the width that a document's name needs."""
    return max(SHORTEST, min(LONGEST, len(place.document.name) + 1)) / NARROW


def _weight(place: Place) -> int:
    """Chunks of a shelf that a document takes: its own, or those that its name covers."""
    return max(ceil(_least(place) * CAPACITY), min(CAPACITY, place.document.chunks))


def _slots(shelf: Sequence[Place]) -> tuple[Slot, ...]:
    slots, left = [], 0.0
    for place, width in zip(shelf, _widths(shelf), strict=True):
        slots.append(Slot(place, left, min(1.0, left + width)))
        left += width + BETWEEN
    return tuple(slots)


def _widths(shelf: Sequence[Place]) -> list[float]:
    """The share of each document: by its chunks, all alike, but never less than its name needs."""
    room = 1 - BETWEEN * (len(shelf) - 1)
    chunks = [max(1, min(CAPACITY, p.document.chunks)) for p in shelf]
    least = [_least(p) for p in shelf]
    narrow: set[int] = set()
    while True:
        wide = [i for i in range(len(shelf)) if i not in narrow]
        left = room - sum(least[i] for i in narrow)
        # Half a shelf of short documents is not stretched: their cells would be slabs.
        unit = min(2 * room / CAPACITY, left / max(1, sum(chunks[i] for i in wide)))
        short = {i for i in wide if chunks[i] * unit < least[i]}
        if not short:
            break
        narrow |= short
    widths = [least[i] if i in narrow else chunks[i] * unit for i in range(len(shelf))]
    return [w * min(1.0, room / sum(widths)) for w in widths]


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
