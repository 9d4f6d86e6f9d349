"""Files in, documents out: bytes → :class:`~core.records.Document`.

``ingest(sources_from_paths(paths))`` reads what it can and names what it cannot. Parsing
runs in a child process with limits, so that no file can take the program down with it.
How far a page's text can be trusted is said by ``page_health``, ``page_problem`` and
``unextracted_pages``.

The way of a file, module by module::

    source      paths → sources, and who may read them
    run         each source to its outcome, from the cache or
    child       … through a process with limits (worker its other end, frames and codec the wire)
    extract     one file: detect what it is, then decode and markdown, or
    pdf         … pages to one text:
      raw_pages   a page's lines (lines, clean, gaps, tex_math), without what nobody sees
                  (unseen, visibility), with recognised text where asked for (ocr); turned
      margins     running headers and footers
      layout      lines to rows and paragraphs (rows, columns)
      assemble    paragraphs to text (hyphens)
      as_drawn    the map back, and every line's place (align)
      page_report what there is to say of each page; health says how bad that is

Beside it, ``picture`` draws a page, in the same process.
"""

from __future__ import annotations

from core.ingest.health import page_health, page_problem, unextracted_pages
from core.ingest.limits import Limits
from core.ingest.run import DuplicateDocument, Ingested, ingest
from core.ingest.source import Source, sources_from_paths

__all__ = [
    "DuplicateDocument",
    "Ingested",
    "Limits",
    "Source",
    "ingest",
    "page_health",
    "page_problem",
    "sources_from_paths",
    "unextracted_pages",
]
