"""Which chunk of one trace is which of another: by id, else by text.

Ids of this pipeline follow from what the documents say and how they are cut, so they join where
a document was cut alike for both traces. Ids of another pipeline join within that pipeline. Between
two systems a chunk is known by its text, line breaks aside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.records import Chunk
from core.settings import knobs
from core.trace import Trace

CUTTING = tuple(k.name for k in knobs() if k.group == "documents")
"""The knobs that say how documents are cut into chunks."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One chunk by its id in each trace; "" where a trace has none such. ``by`` is id or text."""

    a: str
    b: str
    by: str = ""


def join(a: Trace, b: Trace) -> tuple[Pair, ...]:
    """A pair for every chunk that a stage of either trace names, each chunk in one pair."""
    pairs = _by_id(a, b)
    done_a, done_b = {p.a for p in pairs}, {p.b for p in pairs}
    rest_a = [c for c in a.chunks if c.id not in done_a]
    rest_b = [c for c in b.chunks if c.id not in done_b]
    by_text = _by_text(rest_a, rest_b, _names(a), _names(b))
    done_a, done_b = {p.a for p in by_text}, {p.b for p in by_text}
    alone = [Pair(c.id, "") for c in rest_a if c.id not in done_a]
    alone += [Pair("", c.id) for c in rest_b if c.id not in done_b]
    return (*pairs, *by_text, *alone)


def _by_id(a: Trace, b: Trace) -> list[Pair]:
    if a.origin or b.origin:
        if a.origin != b.origin or not _named(a):
            return []
        theirs = {there: here for here, there in b.foreign_ids.items()}
        return [
            Pair(c.id, theirs[there], "id")
            for c in a.chunks
            if (there := a.foreign_ids.get(c.id, "")) in theirs
        ]
    shared = cut_alike(a, b)
    named = dict.fromkeys(c.id for t in (a, b) for c in t.chunks if c.document_id in shared)
    return [Pair(c, c, "id") for c in named]


def _named(trace: Trace) -> bool:
    """Whether an import says which pipeline it is of: ids of two strangers are not compared."""
    return trace.origin != "another pipeline"


def cut_alike(a: Trace, b: Trace) -> frozenset[str]:
    """The documents that both traces have, cut into the same chunks."""
    if any(a.settings.get(k) != b.settings.get(k) for k in CUTTING):
        return frozenset()
    theirs = {d.id: d.chunks for d in b.documents}
    shared = {d.id for d in a.documents if theirs.get(d.id) == d.chunks}
    held = {c.id: (c.start, c.end) for c in b.chunks}
    other = {
        c.document_id for c in a.chunks if held.get(c.id, (c.start, c.end)) != (c.start, c.end)
    }
    return frozenset(shared - other)


def _names(trace: Trace) -> Mapping[str, str]:
    return {d.id: d.name for d in trace.documents}


def _by_text(
    rest_a: Iterable[Chunk],
    rest_b: Iterable[Chunk],
    names_a: Mapping[str, str],
    names_b: Mapping[str, str],
) -> list[Pair]:
    """Chunks of one text; where several say the same, those of documents of one name first."""
    theirs: dict[str, list[Chunk]] = {}
    for c in rest_b:
        if c.text.strip():
            theirs.setdefault(text_key(c.text), []).append(c)
    pairs, waiting = [], []
    for c in rest_a:
        same = theirs.get(text_key(c.text), []) if c.text.strip() else []
        name = names_a.get(c.document_id)
        found = next((o for o in same if names_b.get(o.document_id) == name), None)
        if found is not None:
            same.remove(found)
            pairs.append(Pair(c.id, found.id, "text"))
        elif same:
            waiting.append(c)
    for c in waiting:
        if same := theirs[text_key(c.text)]:
            pairs.append(Pair(c.id, same.pop(0).id, "text"))
    return pairs


def text_key(text: str) -> str:
    """A hash of a text's words, in which line breaks do not matter."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()
