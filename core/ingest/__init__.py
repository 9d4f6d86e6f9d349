"""Files in, documents out: bytes → :class:`~core.records.Document`.

``ingest(sources_from_paths(paths))`` reads what it can and names what it cannot. Parsing
runs in a child process with limits, so that no file can take the program down with it.
"""

from __future__ import annotations

from core.ingest.limits import Limits
from core.ingest.run import DuplicateDocument, Ingested, ingest
from core.ingest.source import Source, sources_from_paths

__all__ = ["DuplicateDocument", "Ingested", "Limits", "Source", "ingest", "sources_from_paths"]
