"""Which stretches of a PDF's text are rows of a table, and what their columns are called.

A chunk that begins among them would be figures without names. Its heading path says what the
header row does, and the text stays as the page has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.ingest.assemble import PlacedRow
from core.records import Span


def tables_of(rows: Sequence[PlacedRow]) -> tuple[Span, ...]:
    """Rows of tables below their header rows, whose text is the span's kind."""
    spans: list[Span] = []
    before = ""
    for placed in rows:
        header = placed.row.header
        if header and header == before:
            spans[-1] = Span(spans[-1].start, placed.end, header)
        elif header:
            spans.append(Span(placed.start, placed.end, header))
        before = header
    return tuple(span for span in spans if span.start < span.end)
