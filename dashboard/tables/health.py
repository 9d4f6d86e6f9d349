"""What extraction did to a document, in words and numbers."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from core.ingest.health import BAD, DOUBTFUL, GOOD, page_health
from core.records import Document
from dashboard.palette import SEVERITIES


def health_line(document: Document) -> str:
    """How many pages are bad or doubtful; "" for a document without pages or with good ones."""
    found = Counter(page_health(p).severity for p in document.report.pages)
    said = [
        f"{SEVERITIES[kind].glyph} {found[kind]:,} {kind}"
        for kind in (BAD, DOUBTFUL)
        if found[kind]
    ]
    return ", ".join(said)


def pages_in_doubt(document: Document) -> list[int]:
    """The numbers of the pages that are bad or doubtful, in order."""
    return [p.number for p in document.report.pages if page_health(p).severity != GOOD]


def health_table(document: Document) -> pd.DataFrame:
    """A row for each thing that extraction did or met; columns "What", "Kind", "Count", "Unit"."""
    report = document.report
    rows: list[tuple[str, str, int, str]] = []
    rows += [("Repaired", c.kind, c.count, "characters") for c in report.repairs]
    rows += [("Not ranked", c.kind, c.count, "characters") for c in report.removed]
    for what, kind, value in (
        ("In the text", "filled-in form fields", sum(p.fields for p in report.pages)),
        ("In the text", "text boxes laid over the page", sum(p.text_boxes for p in report.pages)),
        ("Not in the text", "filled-in form fields", sum(p.fields_out for p in report.pages)),
        ("Not in the text", "notes (comments)", sum(p.notes_out for p in report.pages)),
    ):
        if value:
            rows.append((what, kind, value, "fields" if "fields" in kind else "notes"))
    return pd.DataFrame(rows, columns=["What", "Kind", "Count", "Unit"])


def facts_line(document: Document) -> str:
    """Encoding and seconds, in words."""
    report = document.report
    said = []
    if report.encoding:
        sure = "" if report.encoding_sure >= 1 else f", {report.encoding_sure:.0%} sure"
        how = f" ({report.encoding_from}{sure})" if report.encoding_from or sure else ""
        said.append(f"read as {report.encoding}{how}")
    if report.repaired:
        said.append("the file was damaged and repaired")
    said.append(f"extracted in {report.seconds:.2f} s")
    return " · ".join(said)
