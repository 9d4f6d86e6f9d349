"""Document ↔ JSON: for the pipe from the child process, and for the cache on disk."""

from __future__ import annotations

from typing import Any

from core.records import (
    Access,
    Document,
    ExtractionReport,
    Heading,
    Page,
    PageReport,
    Span,
)


def document_to_json(document: Document) -> dict[str, Any]:
    """A dictionary of JSON values. ``document_from_json`` gives an equal document back."""
    report = document.report
    return {
        "id": document.id,
        "name": document.name,
        "title": document.title,
        "text": document.text,
        "pages": [[p.number, p.start, p.end] for p in document.pages],
        "headings": [[h.start, h.level, h.text] for h in document.headings],
        "unranked": [[s.start, s.end, s.kind] for s in document.unranked],
        "access": {
            "tenant": document.access.tenant,
            "roles": list(document.access.roles),
            "labels": list(document.access.labels),
        },
        "date": document.date,
        "priority": document.priority,
        "report": {
            "media_type": report.media_type,
            "encoding": report.encoding,
            "seconds": report.seconds,
            "pages": [[p.number, p.characters, p.images, list(p.warnings)] for p in report.pages],
            "warnings": list(report.warnings),
        },
    }


def document_from_json(value: dict[str, Any]) -> Document:
    """The document. Raises KeyError, TypeError or ValueError for what is none."""
    report, access = value["report"], value["access"]
    return Document(
        id=value["id"],
        name=value["name"],
        title=value["title"],
        text=value["text"],
        pages=tuple(Page(*page) for page in value["pages"]),
        headings=tuple(Heading(*heading) for heading in value["headings"]),
        unranked=tuple(Span(*span) for span in value["unranked"]),
        access=Access(access["tenant"], tuple(access["roles"]), tuple(access["labels"])),
        date=value["date"],
        priority=value["priority"],
        report=ExtractionReport(
            media_type=report["media_type"],
            encoding=report["encoding"],
            seconds=report["seconds"],
            pages=tuple(
                PageReport(number, characters, images, tuple(warnings))
                for number, characters, images, warnings in report["pages"]
            ),
            warnings=tuple(report["warnings"]),
        ),
    )
