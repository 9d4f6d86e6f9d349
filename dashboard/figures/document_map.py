"""The document map: where in its document each chunk stands, and how it fared at each stage.

A strip a document, a row a stage, a cell a chunk. Cells are heat maps, which a browser draws
as pictures. Those cannot be clicked in Streamlit, so each strip carries a trace of empty
texts at its cells: they draw nothing, answer the pointer, and carry chunk ids.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import plotly.graph_objects as go

from core.trace import Trace
from core.words import counted
from dashboard.figures.bins import Bins
from dashboard.figures.hover import Hovers
from dashboard.figures.overlay import strip_traces
from dashboard.figures.rows import MapRow, map_rows
from dashboard.figures.shelves import NARROW, Choice, Slot, choose
from dashboard.figures.stack import Band, Stack, Subplot, bands, nth
from dashboard.figures.strip import Strip
from dashboard.figures.text import clipped, escaped, shortened
from dashboard.figures.ticks import ticks
from dashboard.lookup import Lookup
from dashboard.palette import palette

MOST_COLUMNS = 1_200
"""Columns of all shelves together: what a browser answers to the pointer for without delay."""

MOST_NAMES = 8
"""Documents named among those that are not shown."""


def document_map(
    trace: Trace,
    *,
    document_ids: Sequence[str] | None = None,
    selected: str = "",
    evidence: Collection[str] = (),
    theme: str = "light",
    width_bins: int = 400,
    focus: tuple[str, int, int] | None = None,
) -> go.Figure:
    """The map of one trace.

    Args:
        document_ids: the documents to show, in this order; None chooses those that have a
            candidate, best first. :func:`map_notes` names the others.
        selected: id of the chunk to outline through all rows.
        evidence: ids of the chunks that should have been found: outlined too.
        theme: "light" or "dark".
        width_bins: most columns a strip; a longer document gets columns of several chunks,
            which show their best chunk (:func:`map_notes` says so).
        focus: (document id, first ordinal, last ordinal): this stretch alone, in detail.

    Returns:
        A figure whose points carry a chunk id as ``customdata``: of a column of several
        chunks, the one that is shown. Its height follows from its rows.
    """
    lookup, colours = Lookup(trace), palette(theme)
    rows = map_rows(lookup)
    choice = choose(lookup, [focus[0]] if focus else document_ids, selected, evidence)
    stack = bands(rows, len(choice.shelves))
    frame = Stack(colours, rows, stack, len(choice.shelves))
    most = _most(choice, width_bins)
    hovers, data, number = Hovers(lookup), [], 0
    for at, shelf in enumerate(choice.shelves):
        subplots, counts = [], [0] * len(rows)
        for slot in shelf:
            number += 1
            strip = _strip(slot, rows, stack, focus, most)
            data += _on_axes(
                strip_traces(lookup, strip, hovers, colours, theme, selected, evidence), number
            )
            counts = [n + m for n, m in zip(counts, strip.counts(), strict=True)]
            subplots.append(_subplot(number, slot, strip, lookup))
        frame.add(at, subplots, counts)
    _name_once(data)
    # The same documents keep their zoom while knobs and the selection change.
    shown = "|".join(s.place.document.id for shelf in choice.shelves for s in shelf)
    return go.Figure(data=data, layout=frame.layout(uirevision=shown or trace.corpus))


def _most(choice: Choice, width_bins: int) -> int:
    """Columns that a strip may have."""
    return max(20, min(width_bins, MOST_COLUMNS // max(1, len(choice.shelves))))


def _strip(
    slot: Slot,
    rows: Sequence[MapRow],
    stack: Sequence[Band],
    focus: tuple[str, int, int] | None,
    most: int,
) -> Strip:
    first, stop = 0, slot.place.document.chunks
    if focus:
        first = min(max(0, focus[1]), max(0, stop - 1))
        stop = min(stop, max(first + 1, focus[2] + 1))
    return Strip.of(slot.place, first, stop, rows, stack, most)


def _on_axes(drawn: Sequence[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    axes = {"xaxis": f"x{nth(number)}", "yaxis": f"y{nth(number)}"}
    return [item | axes for item in drawn]


def _name_once(data: Sequence[dict[str, Any]]) -> None:
    """One legend entry a kind, however many strips have it."""
    named: set[str] = set()
    for item in data:
        if item.get("showlegend"):
            item["showlegend"] = item["name"] not in named
            named.add(item["name"])


def _subplot(number: int, slot: Slot, strip: Strip, lookup: Lookup) -> Subplot:
    share = slot.right - slot.left
    most = round(11 * share) if share > 0.25 else 1
    at = ticks(lookup, strip.place, *strip.span, most=most, gap=0.08 / share)
    if slot.right < 1:  # the next document's first label needs the room
        low, high = strip.span
        at = at.until(low + (high - low) * (1 - 0.05 / share))
    room = round(share * NARROW)
    return Subplot(number, slot.left, slot.right, strip.span, _header(strip, room), at)


def _header(strip: Strip, room: int) -> str:
    """The document's name and size."""
    document = strip.place.document
    said = {"chunks": counted(document.chunks, "chunk")}
    if strip.span != (0, document.chunks):
        first, stop = strip.span
        said["chunks"] = f"chunks {first + 1:,} to {stop:,} of {document.chunks:,}"
    elif document.pages:
        said["pages"] = counted(document.pages, "page")
    name = shortened(document.name, max(8, min(44, room)))
    for least in ("pages", "chunks"):
        if len(name) + sum(len(s) + 3 for s in said.values()) > room:
            said.pop(least, None)
    return "  ".join([f"<b>{escaped(name)}</b>", " · ".join(said.values())]).rstrip()


def map_notes(
    trace: Trace,
    *,
    document_ids: Sequence[str] | None = None,
    selected: str = "",
    evidence: Collection[str] = (),
    width_bins: int = 400,
) -> list[str]:
    """Sentences, in plain text, on what a map of these arguments cannot show: chunks that
    share a column with a better one, and documents that are left out."""
    choice = choose(Lookup(trace), document_ids, selected, evidence)
    others = choice.others
    most = _most(choice, width_bins)
    out = []
    for slot in (slot for shelf in choice.shelves for slot in shelf):
        document = slot.place.document
        widest = Bins.over(0, document.chunks, most).widest
        if widest > 1:
            name = clipped(document.name, 44)
            out.append(f"Each column of {name} is the best of up to {widest} chunks.")
    more = [(p.document.name, n) for p, n in others if n]
    without = [p.document.name for p, n in others if not n]
    if more:
        named = _named([f"{clipped(name, 32)} ({n})" for name, n in more])
        out.append(f"{counted(len(more), 'more document')} with candidates: {named}.")
    if without:
        named = _named([clipped(name, 32) for name in without])
        out.append(f"{counted(len(without), 'document')} without a candidate: {named}.")
    return out


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
