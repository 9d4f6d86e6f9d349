"""Document ↔ JSON: for the pipe from the child process, and for the cache on disk."""

from __future__ import annotations

from typing import Any

from core.plain import build, plain
from core.records import Document


def document_to_json(document: Document) -> dict[str, Any]:
    """A dictionary of JSON values. ``document_from_json`` gives an equal document back."""
    return plain(document)


def document_from_json(value: dict[str, Any]) -> Document:
    """The document. Raises TypeError or ValueError for what is none."""
    return build(Document, value)
