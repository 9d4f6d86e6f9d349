"""Traces saved in this session, by name: kept while it lasts, and files take them further."""

from __future__ import annotations

from collections.abc import Mapping

from core.interchange import named, read_traces
from core.text_files import utf8
from core.trace import Trace
from dashboard import state

KEPT = "kept_traces"

MOST = 30
"""Traces that a session keeps: a large one takes some megabytes."""

LONGEST = 80


def kept() -> Mapping[str, Trace]:
    """The saved traces, in the order in which they were saved."""
    return state.session().setdefault(KEPT, {})


def full() -> bool:
    return len(kept()) >= MOST


def keep(name: str, trace: Trace) -> str:
    """Saves a trace; returns its name, which is another one where that name is taken.

    A trace that is saved already, under any name, keeps that name. Where there is no room, the
    oldest goes.
    """
    held = dict(kept())
    for taken, other in held.items():
        if other is trace or other == trace:
            return taken
    while len(held) >= MOST:
        del held[next(iter(held))]
    free = unique(name or named(trace), held)
    state.session()[KEPT] = held | {free: trace}
    return free


def rename(name: str, new: str) -> str:
    """Gives a saved trace another name, in its place; returns what it is called now."""
    held = kept()
    if name not in held or not new.strip() or " ".join(new.split())[:LONGEST] == name:
        return name
    free = unique(new, {k for k in held if k != name})
    state.session()[KEPT] = {free if k == name else k: v for k, v in held.items()}
    return free


def remove(name: str) -> None:
    state.session()[KEPT] = {k: v for k, v in kept().items() if k != name}


def unique(name: str, taken: Mapping[str, object] | set[str]) -> str:
    """A name on one line that is not taken: with a number behind it if need be."""
    name = " ".join(name.split())[:LONGEST] or "trace"
    free, n = name, 2
    while free in taken:
        free, n = f"{name} ({n})", n + 1
    return free


def take_in(file: str, data: bytes) -> list[str]:
    """Saves every trace of a file, at most :data:`MOST`; returns their names.

    Raises:
        TraceFormatError: see :func:`core.interchange.read_traces`.
        NotText: it is no text.
    """
    found = read_traces(utf8(data))
    if len(found) == 1:
        return [keep(file, found[0].trace)]
    return [keep(f"{file}: {one.name}", one.trace) for one in found[:MOST]]
