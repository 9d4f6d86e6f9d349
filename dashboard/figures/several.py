"""What figures of several traces share: their chunks, documents and colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.modes import MODES
from core.trace import Trace
from core.words import counted
from dashboard.figures.text import clipped, escaped
from dashboard.joined import JoinedLookup
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
    chunks: frozenset[str]

    def holds(self, chunk: str) -> bool:
        return chunk in self.chunks


class Several:
    """Traces of one question, by key. Figures of the same traces get the same colours.

    ``joined`` gives for a key the name that each chunk of that trace shares with the others,
    where traces do not name their chunks alike; documents are then told apart by their name.
    """

    def __init__(
        self,
        traces: Mapping[str, Trace],
        joined: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.keys = list(traces)
        self.lookups: list[Lookup] = [
            JoinedLookup(trace, joined[key]) if joined else Lookup(trace)
            for key, trace in traces.items()
        ]
        self._by_name = joined is not None

    def title(self, lookup: Lookup) -> str:
        """What the trace of a lookup is called."""
        at = next(i for i, held in enumerate(self.lookups) if held is lookup)
        return mode_title(self.keys[at])

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
        members: dict[str, list[str]] = {}
        names: dict[str, str] = {}
        for chunk in self.chunks:
            document = self.home(chunk).document(chunk)
            key = document.name if self._by_name else document.id
            members.setdefault(key, []).append(chunk)
            names[key] = escaped(clipped(document.name, 32))
        order = sorted(members, key=lambda d: (-len(members[d]), d))
        most = len(colours.documents)
        groups = [
            Group(names[d], shade, frozenset(members[d]))
            for d, shade in zip(order[:most], colours.documents, strict=False)
        ]
        if rest := order[most:]:
            others = frozenset(c for d in rest for c in members[d])
            groups.append(Group(counted(len(rest), "other document"), colours.other, others))
        return groups

    def home(self, chunk: str) -> Lookup:
        """A trace that holds the chunk's text."""
        return next((lk for lk in self.lookups if chunk in lk.chunks), self.lookups[0])
