"""One file's bytes → one Document. Runs in the child process (and nothing here minds where)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from core.alignment import Alignment
from core.errors import DocumentError
from core.ingest.decode import decode
from core.ingest.detect import MARKDOWN, MEDIA_TYPES, PDF, detect
from core.ingest.front_matter import read_front_matter
from core.ingest.limits import DEFAULT_LIMITS, Limits
from core.ingest.metadata import understand
from core.records import (
    Box,
    Count,
    Document,
    ExtractionReport,
    Heading,
    Page,
    PageReport,
    Span,
    document_id,
)

FRONT_MATTER = "front matter"

# Part of every cache key: raise it whenever the same bytes would give another document.
EXTRACTOR_VERSION = "5"


@dataclass(frozen=True)
class Extracted:
    """What a reader found in a file, before it is known who may read it."""

    text: str
    title: str = ""
    date: str = ""
    encoding: str = ""
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    unranked: tuple[Span, ...] = ()
    raw: str = ""
    alignment: Alignment = Alignment()
    boxes: tuple[Box, ...] = ()
    tables: tuple[Span, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    page_reports: tuple[PageReport, ...] = ()
    warnings: tuple[str, ...] = ()
    encoding_from: str = ""
    encoding_sure: float = 1.0
    repaired: bool = False
    repairs: tuple[Count, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)  # characters in the raw text alone


def extract(
    name: str,
    data: bytes,
    metadata: Mapping[str, Any],
    password: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """The document, or a DocumentError that says why there is none."""
    started = time.perf_counter()
    kind, warnings = detect(name, data)
    if kind == PDF:
        from core.ingest.pdf import read_pdf

        found = read_pdf(name, data, password, limits)
    else:
        found = read_text(name, data, markdown=kind == MARKDOWN)
    if len(found.text) > limits.characters:
        raise limits.too_long(name)
    if not _says_something(found.text):
        raise DocumentError(name, "the file holds no text", "Remove it, or add its text.")
    known = understand(name, found.metadata, metadata)
    date = known.date or found.date
    return Document(
        id=document_id(found.text, found.pages, known.access, date, known.priority),
        name=name,
        title=known.title or found.title or PurePosixPath(name).stem or name,
        text=found.text,
        pages=found.pages,
        headings=found.headings,
        unranked=found.unranked,
        raw=found.raw,
        alignment=found.alignment,
        boxes=found.boxes,
        tables=found.tables,
        access=known.access,
        date=date,
        priority=known.priority,
        report=ExtractionReport(
            media_type=MEDIA_TYPES[kind],
            encoding=found.encoding,
            seconds=time.perf_counter() - started,
            pages=found.page_reports,
            warnings=(*warnings, *found.warnings, *known.warnings),
            encoding_from=found.encoding_from,
            encoding_sure=found.encoding_sure,
            repaired=found.repaired,
            repairs=found.repairs,
            removed=_removed(found),
        ),
    )


def read_text(name: str, data: bytes, markdown: bool) -> Extracted:
    """Text, which stays as the file holds it, or Markdown, which loses its marks."""
    from core.ingest.markdown import Markdown, read_markdown

    decoded = decode(name, data)
    raw = decoded.text
    front = read_front_matter(name, raw)
    body = front.body
    read = read_markdown(raw, body) if markdown else Markdown(raw, Alignment())
    unranked = ((Span(0, body, FRONT_MATTER),) if body else ()) + read.unranked
    if not _says_something(_ranked(read.text, unranked)):
        raise DocumentError(name, "the file holds no text", "Remove it, or add its text.")
    return Extracted(
        text=read.text,
        title=next((heading.text for heading in read.headings if heading.level == 1), ""),
        encoding=decoded.encoding,
        headings=read.headings,
        unranked=unranked,
        tables=read.tables,
        raw=raw if read.alignment else "",
        alignment=read.alignment,
        metadata=front.values,
        encoding_from=decoded.told_by,
        encoding_sure=decoded.sure,
        removed=read.removed,
        warnings=(*decoded.warnings, *front.warnings),
    )


def _says_something(text: str) -> bool:
    """Whether it has a character that can be seen: no blank, and no mark without a width."""
    return any(character.isprintable() and not character.isspace() for character in text)


def _removed(found: Extracted) -> tuple[Count, ...]:
    """The characters that are not ranked, in the text or out of it, by kind."""
    removed = Counter(found.removed)
    for span in found.unranked:
        removed[span.kind] += span.end - span.start
    return tuple(Count(kind, count) for kind, count in sorted(removed.items()))


def _ranked(text: str, unranked: Sequence[Span]) -> str:
    kept, at = [], 0
    for span in unranked:
        kept.append(text[at : span.start])
        at = span.end
    return "".join([*kept, text[at:]])
