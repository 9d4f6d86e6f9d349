"""One file's bytes → one Document. Runs in the child process (and nothing here minds where)."""

from __future__ import annotations

import time
from collections.abc import Mapping
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
    Document,
    ExtractionReport,
    Heading,
    Page,
    PageReport,
    Span,
    document_id,
)

# Part of every cache key: raise it whenever the same bytes would give another document.
EXTRACTOR_VERSION = "3"


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
    metadata: Mapping[str, Any] = field(default_factory=dict)
    page_reports: tuple[PageReport, ...] = ()
    warnings: tuple[str, ...] = ()


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
    if not found.text.strip():
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
        access=known.access,
        date=date,
        priority=known.priority,
        report=ExtractionReport(
            media_type=MEDIA_TYPES[kind],
            encoding=found.encoding,
            seconds=time.perf_counter() - started,
            pages=found.page_reports,
            warnings=(*warnings, *found.warnings, *known.warnings),
        ),
    )


def read_text(name: str, data: bytes, markdown: bool) -> Extracted:
    """Text or Markdown. The text is the file's, unchanged, so that offsets in it hold."""
    decoded = decode(name, data)
    front = read_front_matter(name, decoded.text)
    body = front.body
    headings: tuple[Heading, ...] = ()
    if markdown:
        from core.ingest.markdown import markdown_headings

        headings = markdown_headings(decoded.text, body)
    if not decoded.text[body:].strip():
        raise DocumentError(name, "the file holds no text", "Remove it, or add its text.")
    return Extracted(
        text=decoded.text,
        title=next((heading.text for heading in headings if heading.level == 1), ""),
        encoding=decoded.encoding,
        headings=headings,
        unranked=(Span(0, body, "front matter"),) if body else (),
        metadata=front.values,
        warnings=(*decoded.warnings, *front.warnings),
    )
