"""What figures of several traces share: their chunks, documents and colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from core.modes import MODES
from core.trace import Trace
from dashboard.figures.text import clipped, count, escaped
from dashboard.lookup import Lookup
from dashboard.palette import Palette


def mode_title(key: str) -> str:
    """What a mode is called on the pages; any other key is its own title."""
    return MODES[key].title if key in MODES else escaped(clipped(key, 24))


@dataclass(frozen=True)
class Group:
    """Documents of one colour: one, or all those past the last colour."""

    name: str
    colour: str
    ids: frozenset[str]

    def holds(self, chunk: str) -> bool:
        return chunk.rpartition(":")[0] in self.ids


class Several:
    """Traces of one question, by key. Figures of the same traces get the same colours."""

    def __init__(self, traces: Mapping[str, Trace]) -> None:
        self.keys = list(traces)
        self.lookups = [Lookup(trace) for trace in traces.values()]

    @property
    def chunks(self) -> list[str]:
        """Chunks in some prompt: those with the best ranks first."""
        best: dict[str, list[int]] = {}
        for lookup in self.lookups:
            for chunk, rank in lookup.passage_ranks.items():
                best.setdefault(chunk, []).append(rank)
        return sorted(best, key=lambda c: (min(best[c]), -len(best[c]), c))

    def groups(self, colours: Palette) -> list[Group]:
        """A group for each document with a passage, those with most passages first."""
        counted = Counter(c.rpartition(":")[0] for c in self.chunks)
        order = sorted(counted, key=lambda d: (-counted[d], d))
        most = len(colours.documents)
        groups = [
            Group(self._name(d), shade, frozenset([d]))
            for d, shade in zip(order[:most], colours.documents, strict=False)
        ]
        if rest := order[most:]:
            groups.append(Group(count(len(rest), "other document"), colours.other, frozenset(rest)))
        return groups

    def _name(self, document: str) -> str:
        for lookup in self.lookups:
            if document in lookup.places:
                return escaped(clipped(lookup.places[document].document.name, 32))
        return document

    def home(self, chunk: str) -> Lookup:
        """A trace that holds the chunk's text."""
        return next((lk for lk in self.lookups if chunk in lk.chunks), self.lookups[0])
