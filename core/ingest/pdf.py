"""PDF bytes → text, pages and headings, by PyMuPDF.

Each page's lines as drawn (``raw_pages.py``) → what repeats at their edges (``margins.py``) and
what goes on from line to line (``layout.py``) → one text (``assemble.py``), and the map from it
back to what was drawn (``as_drawn.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from core.errors import DocumentError
from core.ingest.as_drawn import as_drawn
from core.ingest.assemble import Aside, PageContent, assemble
from core.ingest.bombs import oversized_stream
from core.ingest.extract import Extracted
from core.ingest.layout import UNCERTAIN, Layout, lay_out
from core.ingest.lean import lean
from core.ingest.limits import Limits
from core.ingest.lines import Line
from core.ingest.margins import FOOTER, HEADER, running_lines
from core.ingest.outline import headings_of
from core.ingest.page_report import laid_out, summary, totals, with_joined
from core.ingest.raw_pages import RawPage, no_memory, raw_pages
from core.ingest.tables import tables_of
from core.ingest.turned import read_last, set_otherwise
from core.ingest.visibility import INVISIBLE
from core.records import PageReport

if TYPE_CHECKING:
    import pymupdf

_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
# Titles that programs put in when nobody gave one.
_NO_TITLE = re.compile(
    r"^(?:untitled|title|document\d*|microsoft word\b.*|powerpoint presentation|slide \d+)$"
    r"|\.(?:docx?|odt|rtf|tex|dvi|indd|qxd|pptx?|xlsx?|pdf)$",
    re.IGNORECASE,
)
_RECOGNISE = "Turn on text recognition (OCR), or run it on the file first."
_AGAIN = "Save it again from its source, or fetch it again."
_ORDER_OF_ASIDE = {HEADER: 0, FOOTER: 1, INVISIBLE: 2}


@lean()
def read_pdf(name: str, data: bytes, password: str | None, limits: Limits) -> Extracted:
    """Raises DocumentError for what cannot be opened, is over a limit, or holds no text."""
    with opened(name, data, password) as document:
        count = _page_count(name, document)
        if oversized_stream(document, data):
            raise limits.expands(name)
        if count > limits.pages:
            raise limits.too_many_pages(name, count)
        if count == 0 and document.is_repaired:
            problem = "it is damaged or cut short, and none of its pages is left"
            raise DocumentError(name, problem, _AGAIN)
        if count == 0:
            problem = "it is a PDF without any pages"
            raise DocumentError(name, problem, "Save it again from its source.")
        raw = list(raw_pages(name, document, count, limits, len(data)))
        outline = _outline(document)
        title, date = _title(document), _date(document)
        damaged = bool(document.is_repaired)
    pages, contents = _laid_out(raw)
    assembled = assemble(contents)
    pages = with_joined(pages, assembled.joined)
    if not any(placed.row.text for placed in assembled.rows):
        raise DocumentError(name, *_why_no_text(raw, damaged))
    warnings = summary(pages)
    if damaged:
        warnings = (
            (
                "The file is damaged and was repaired: text may be missing. "
                "Look at the characters on each page."
            ),
            *warnings,
        )
    drawn = as_drawn([page.lines for page in raw], assembled)
    return Extracted(
        text=assembled.text,
        raw=drawn.raw,
        alignment=drawn.alignment,
        boxes=drawn.boxes,
        tables=tables_of(assembled.rows),
        title=title or _largest(raw[0]),
        date=date,
        pages=assembled.pages,
        headings=headings_of(outline, assembled.rows, assembled.pages),
        unranked=assembled.unranked,
        page_reports=pages,
        warnings=warnings,
        repaired=damaged,
        repairs=totals(page.repairs for page in pages),
    )


@contextmanager
def opened(name: str, data: bytes, password: str | None) -> Iterator[pymupdf.Document]:
    """The PDF, unlocked. Raises DocumentError where it cannot be opened."""
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(stream=data, filetype="pdf")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (MuPDF raises a dozen kinds)
        if no_memory(error):
            raise MemoryError from None
        problem = "it is a PDF too damaged to be opened"
        raise DocumentError(name, problem, _AGAIN) from None
    with document:
        if document.needs_pass:
            if not password:
                problem = "it needs a password"
                raise DocumentError(name, problem, "Give its password, or remove the file.")
            if not _unlocked(document, password):
                problem = "the password given does not open it"
                raise DocumentError(name, problem, "Check the password.")
        yield document


def _unlocked(document: pymupdf.Document, password: str) -> bool:
    try:
        return bool(document.authenticate(password))
    except (TypeError, ValueError):  # no password: a NUL or half a surrogate pair in it
        return False


def _page_count(name: str, document: pymupdf.Document) -> int:
    try:
        return document.page_count
    except Exception:  # noqa: BLE001 (MuPDF has walked the page tree, and did not get through)
        problem = "its page tree is broken: it does not hold the pages that it claims"
        raise DocumentError(name, problem, _AGAIN) from None


def _laid_out(raw: Sequence[RawPage]) -> tuple[tuple[PageReport, ...], list[PageContent]]:
    running = running_lines(
        [_visible(page) for page in raw],
        [page.height for page in raw],
    )
    reports, contents = [], []
    for page, found in zip(raw, running, strict=True):
        visible = _visible(page)
        body = [line for i, line in enumerate(visible) if line.text and i not in found]
        aside = [Aside(visible[i].text, kind, visible[i]) for i, kind in found.items()]
        hidden = [page.lines[i] for i in sorted(page.hidden)]
        aside += [Aside(line.text, INVISIBLE, line) for line in hidden]
        aside = [given for given in aside if given.text]
        aside.sort(key=lambda given: _ORDER_OF_ASIDE[given.kind])
        layout = lay_out(body)
        header = max((visible[i].y1 for i, kind in found.items() if kind == HEADER), default=0.0)
        in_margin = [rows[-1].y0 < header for rows in layout.paragraphs]
        contents.append(
            PageContent(
                page.number,
                layout.paragraphs,
                tuple(aside),
                # The first that is not, which is as many as there are before it.
                in_margin.index(False) if False in in_margin else 0,
            )
        )
        removed = [(a.text, a.kind) for a in aside]
        reports.append(laid_out(page.report, removed, layout.uncertain, _layout_warnings(layout)))
    return tuple(reports), contents


def _visible(page: RawPage) -> Sequence[Line]:
    if not page.hidden:
        return page.lines
    return [line for i, line in enumerate(page.lines) if i not in page.hidden]


def _layout_warnings(layout: Layout) -> tuple[str, ...]:
    warnings = (UNCERTAIN,) if layout.uncertain else ()
    warnings += set_otherwise(layout.direction)
    return warnings + ((read_last(layout.across),) if layout.across else ())


def _why_no_text(raw: Sequence[RawPage], damaged: bool) -> tuple[str, str]:
    pages = [page.report for page in raw]
    if any(page.characters for page in pages):
        if all(page.outside >= page.hidden for page in raw):
            problem = (
                "all of its text lies outside its pages, whose area (MediaBox, CropBox) is wrong"
            )
            return problem, _AGAIN
        problem = "all of its text is invisible (no ink, covered, off the page, or its colour)"
        return problem, "Look at the file: it may hide what it says."
    if any(page.images for page in pages):
        which = "its only page is a picture" if len(pages) == 1 else "its pages are pictures"
        return f"{which} without text", _RECOGNISE
    if all(page.unreadable for page in pages):
        return "it is damaged: none of its pages can be read", _AGAIN
    if damaged:
        return "it is damaged, and no text was left to read", _AGAIN
    if any(page.private for page in pages):
        return "its letters have no meaning outside their font (private use)", _RECOGNISE
    if any(page.drawings for page in pages):
        return "it holds drawings but no text", _RECOGNISE
    return "its pages are blank", "Remove it, or save it again from its source."


def _outline(document: Any) -> list[tuple[int, str, int]]:
    try:
        return [(level, title, page) for level, title, page in document.get_toc(simple=True)]
    except Exception:  # noqa: BLE001 (a broken outline takes nothing from the text)
        return []


def _title(document: Any) -> str:
    title = " ".join(((document.metadata or {}).get("title") or "").split())
    return "" if _NO_TITLE.search(title) or len(title) > 300 else title


def _date(document: Any) -> str:
    match = _DATE.match((document.metadata or {}).get("creationDate") or "")
    if not match:
        return ""
    from core.ingest.metadata import valid_date

    return valid_date("-".join(part for part in match.groups() if part))


def _largest(page: RawPage) -> str:
    """The largest type on the first page, if it stands out: what a reader takes for the title."""
    shown = [line for i, line in enumerate(page.lines) if i not in page.hidden and line.text]
    sizes = sorted({line.size for line in shown}, reverse=True)
    if len(sizes) < 2 or sizes[0] < 1.2 * sizes[-1]:
        return ""
    title = " ".join(line.text for line in shown if line.size == sizes[0])
    return title if 3 <= len(title) <= 200 and any(map(str.isalpha, title)) else ""
