"""The numbers of a trace of Chunkscope's own that comes from a file: ranges, which types cannot say.

A file can have been written by a script, or by hand, and a figure drawn from a rank of -3 or a
page before the first would be believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from core.errors import TraceFormatError
from core.records import Chunk
from core.trace import ADDED, DROPPED, KEPT, Passage, StageRecord, Trace

_AGAIN = "Save the trace again, or put the number right."


def check(trace: Trace) -> None:
    """TraceFormatError, with the record and its field, where a number is out of its range."""
    for place, problem in _faults(trace):
        raise TraceFormatError(place, problem, _AGAIN)


def _faults(trace: Trace) -> Iterator[tuple[str, str]]:
    for i, document in enumerate(trace.documents):
        counts = {"characters": document.characters, "pages": document.pages}
        yield from _below(f"documents[{i}]", counts, "a count is at least 0")
    for i, chunk in enumerate(trace.chunks):
        yield from _stretch(f"chunks[{i}]", chunk)
    for i, stage in enumerate(trace.stages):
        yield from _stage(f"stages[{i}]", stage)
    for i, passage in enumerate(trace.selected):
        yield from _stretch(f"selected[{i}]", passage)
        if passage.number < 1:
            yield f"selected[{i}].number", f"is {passage.number}, and citations count from 1"
    ledger = {f.name: getattr(trace.ledger, f.name) for f in fields(trace.ledger)}
    counts = {name: value for name, value in ledger.items() if name != "counter"}
    yield from _below("ledger", counts, "tokens are at least 0")


def _stretch(place: str, held: Chunk | Passage) -> Iterator[tuple[str, str]]:
    yield from _below(place, {"start": held.start}, "characters count from 0")
    if held.end < held.start:
        yield f"{place}.end", f"is {held.end}, before start, which is {held.start}"
    yield from _below(place, {"tokens": held.tokens}, "tokens are at least 0")
    if held.pages and min(held.pages) < 1:
        yield f"{place}.pages", f"names page {min(held.pages)}, and pages count from 1"
    if held.pages and (len(held.pages) != 2 or held.pages[0] > held.pages[1]):
        yield f"{place}.pages", "is not a first page and a last one"


def _stage(place: str, stage: StageRecord) -> Iterator[tuple[str, str]]:
    counts = {name: getattr(stage, name) for name in ("entered", "passed", "tokens_read")}
    yield from _below(place, {"seconds": stage.seconds}, "a time is at least 0")
    yield from _below(place, counts, "a count is at least 0")
    for i, entry in enumerate(stage.entries):
        at = f"{place}.entries[{i}]"
        if entry.fate not in (KEPT, ADDED, DROPPED):
            yield f"{at}.fate", f"is {entry.fate!r:.40}, which is none"
        if entry.rank is not None and entry.rank < 1:
            yield f"{at}.rank", f"is {entry.rank}, and ranks count from 1"
        if entry.relevance is not None and not 0 <= entry.relevance <= 1:
            yield f"{at}.relevance", f"is {entry.relevance}, and a probability is 0 to 1"


def _below(place: str, values: dict[str, float], rule: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if value < 0:
            yield f"{place}.{name}", f"is {value}, and {rule}"
