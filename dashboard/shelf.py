"""The documents of one browser session. Frozen: a change makes a new shelf. No streamlit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from core.records import Document, Principal
from dashboard.originals import Original


@dataclass(frozen=True, slots=True)
class Shelf:
    """Documents by name, and a sentence for each file that could not join them."""

    documents: tuple[Document, ...] = ()
    problems: tuple[str, ...] = ()
    originals: Mapping[str, Original] = field(default_factory=dict, repr=False)
    """The files behind PDFs, by document id, for drawing their pages."""

    def adding(
        self,
        documents: Iterable[Document],
        problems: Iterable[str] = (),
        originals: Mapping[str, Original] = MappingProxyType({}),
    ) -> Shelf:
        """This shelf with more documents.

        A file that has the name and the access of one here takes its place; a file whose
        content and access are here already is not listed twice.
        """
        kept = {d.id: d for d in self.documents}
        said = list(problems)
        for new in documents:
            twin = kept.get(new.id)
            if twin is not None and twin.name != new.name:
                said.append(f"{new.name}: holds the same text as {twin.name}, which stays.")
                continue
            for old in [d for d in kept.values() if d.name == new.name and d.access == new.access]:
                del kept[old.id]
            kept[new.id] = new
        ordered = tuple(sorted(kept.values(), key=lambda d: (d.name, d.id)))
        return Shelf(ordered, tuple(said), _of(ordered, {**self.originals, **originals}))

    def without(self, ids: Collection[str]) -> Shelf:
        """This shelf with some documents taken off it."""
        left = tuple(d for d in self.documents if d.id not in ids)
        return replace(self, documents=left, originals=_of(left, self.originals))

    def seen_by(self, principal: Principal | None) -> tuple[Document, ...]:
        """The documents that the principal may read; all of them for the owner (None)."""
        if principal is None:
            return self.documents
        return tuple(d for d in self.documents if principal.may_read(d.access))

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of everything that a result can show of these documents.

        Names and titles take part beside the content ids: two sessions that hold one text
        under two names must not be given each other's.
        """
        content = [(d.id, d.name, d.title) for d in self.documents]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _of(documents: Iterable[Document], originals: Mapping[str, Original]) -> Mapping[str, Original]:
    return {d.id: originals[d.id] for d in documents if d.id in originals}
