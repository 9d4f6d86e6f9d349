"""From a file of another pipeline, or of this one, to traces."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import TraceFormatError
from core.interchange import openinference, own, ranked_lists, spans
from core.interchange.assemble import to_trace
from core.interchange.ranges import no_number
from core.interchange.recorded import Recorded
from core.plain import parse
from core.text_files import read_text
from core.tokens import TokenCounter
from core.trace import Trace

LARGEST = 100 * 2**20
"""Bytes of a file that is read."""

OWN, LISTS, SPANS = "trace", "ranked lists", "spans"

_FORMS = (
    "Choose a saved trace, ranked lists as docs/import.md describes them, or spans of "
    "OpenTelemetry as JSON."
)


@dataclass(frozen=True, slots=True)
class Imported:
    """A trace of a file. ``form`` says what the file held: a trace, ranked lists or spans."""

    name: str
    trace: Trace
    form: str


def read_traces(text: str, *, counter: TokenCounter | None = None) -> tuple[Imported, ...]:
    """Every trace in a text, in its order; at least one.

    Args:
        counter: counts the tokens of imported passages; see
            :func:`core.interchange.assemble.to_trace`.

    Raises:
        TraceFormatError: it is none of the forms, or one of them with a mistake in it: the place,
            what is wrong there, and what to do.
    """
    try:
        return _read(_parsed(text), text, counter)
    except RecursionError:
        raise TraceFormatError("the file", "is nested too deeply", _FORMS) from None


def load_traces(path: str | Path, *, counter: TokenCounter | None = None) -> tuple[Imported, ...]:
    """:func:`read_traces` of a file, whose name stands in its errors.

    Raises:
        TraceFormatError: also where the file cannot be read.
    """
    path = Path(path)
    if os.path.isfile(path) and path.stat().st_size > LARGEST:
        raise TraceFormatError(path.name, "is larger than 100 MB", "Export fewer traces.")
    text = read_text(path, TraceFormatError)
    try:
        return read_traces(text, counter=counter)
    except TraceFormatError as error:
        place = f"{path.name}, {error.culprit}"
        raise TraceFormatError(place, error.problem, error.remedy) from None


def _parsed(text: str) -> Any:
    """The JSON of a file, or a list of what its lines hold."""
    try:
        return parse(text)
    except ValueError as error:
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) < 2 or not all(line.lstrip()[:1] == "{" for _, line in lines[:2]):
            raise _no_json(text, error, "") from None
    out = []
    for n, line in lines:
        try:
            out.append(parse(line))
        except ValueError as error:
            raise _no_json(line, error, f"line {n}") from None
    return out


def _no_json(text: str, error: ValueError, line: str) -> TraceFormatError:
    """What is wrong with a text that is not JSON; a score of NaN, as scripts write it, by place."""
    if place := no_number(text):
        named = ", ".join(filter(None, (line, place)))
        remedy = "Write a number, or null where there is none."
        return TraceFormatError(named, "is NaN or infinite, which is no number", remedy)
    return TraceFormatError(line or "the file", f"is not JSON ({error})", _FORMS)


def _read(data: Any, text: str, counter: TokenCounter | None) -> tuple[Imported, ...]:
    if isinstance(data, dict) and "schema" in data and "stages" in data:
        trace = Trace.from_json(text)
        own.check(trace)
        return (Imported(named(trace), trace, OWN),)
    if ranked_lists.looks_like(data):
        return _made(ranked_lists.read(data), LISTS, counter)
    if spans.looks_like(data):
        return _made(openinference.read(spans.read(data)), SPANS, counter)
    raise TraceFormatError("the file", "is JSON, but holds no trace", _FORMS)


def _made(
    runs: Sequence[Recorded], form: str, counter: TokenCounter | None
) -> tuple[Imported, ...]:
    out = []
    for run in runs:
        from_zero = False if form == LISTS else _pages_from_zero(run)
        trace = to_trace(run, pages_from_zero=from_zero, counter=counter)
        out.append(Imported(run.name or named(trace), trace, form))
    return tuple(out)


def _pages_from_zero(run: Recorded) -> bool | None:
    """True where some result is on page 0; else it cannot be told how pages are counted."""
    hits = (h for ranked in run.lists for h in ranked.hits)
    return True if any(h.metadata.get("page") == 0 for h in hits) else None


def named(trace: Trace, most: int = 60) -> str:
    """What a trace is called where nothing else names it: its mode or pipeline, and question."""
    who = trace.origin or trace.mode
    asked = " ".join(trace.question.split())
    asked = asked if len(asked) <= most else asked[: most - 1] + "…"
    return f"{who}: {asked}"
