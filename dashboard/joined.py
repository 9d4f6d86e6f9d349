"""A trace whose chunks go by the names that they share with those of another trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from core.compare_traces import NO_SUCH, Pair
from core.fates import Fate
from core.trace import DocumentInfo, Trace
from dashboard.lookup import Lookup


def shared_names(pairs: Iterable[Pair]) -> tuple[dict[str, str], dict[str, str]]:
    """For each of two traces the name of each chunk by its id; the same for joined chunks."""
    ones, twos = {}, {}
    for number, pair in enumerate(pairs):
        name = f"chunk:{number:06d}"
        if pair.a:
            ones[pair.a] = name
        if pair.b:
            twos[pair.b] = name
    return ones, twos


class JoinedLookup(Lookup):
    """A lookup that is asked by shared names. Only what figures of several traces ask is here."""

    unknown = "no chunk of this text, or none that the trace names"
    unknown_stage = NO_SUCH

    def __init__(self, trace: Trace, names: Mapping[str, str]) -> None:
        super().__init__(trace)
        self._names = names
        self._own = {name: own for own, name in names.items()}
        self._plain = Lookup(trace)
        self.chunks = {names[c.id]: c for c in trace.chunks}

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {self._names[c]: n for c, n in self._plain.numbers.items()}

    @cached_property
    def passage_ranks(self) -> Mapping[str, int]:
        return {self._names[c]: rank for c, rank in self._plain.passage_ranks.items()}

    def known(self, chunk: str) -> bool:
        return chunk in self._own

    def named(self, chunk: str) -> str:
        return self._plain.named(self._own[chunk]) if chunk in self._own else chunk

    def document(self, chunk: str) -> DocumentInfo:
        return self._plain.document(self._own[chunk])

    def fate(self, chunk: str) -> Fate:
        return self._plain.fate(self._own[chunk])

    def reason(self, chunk: str) -> str:
        return self._plain.reason(self._own[chunk])
