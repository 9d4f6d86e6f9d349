"""Files in, documents out: bytes → :class:`~core.records.Document`.

``ingest(sources_from_paths(paths))`` reads what it can and names what it cannot. Parsing
runs in a child process with limits, so that no file can take the program down with it.
How far a page's text can be trusted is said by ``page_health``, ``page_problem`` and
``unextracted_pages``.
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
