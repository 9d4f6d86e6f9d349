"""Extracted documents on disk, under a hash of all that decides them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
from pathlib import Path

from core.ingest.child import plain_metadata
from core.ingest.codec import document_from_json, document_to_json
from core.ingest.extract import EXTRACTOR_VERSION
from core.ingest.limits import Limits
from core.ingest.source import Source
from core.records import Document


def cache_key(source: Source, limits: Limits) -> str:
    """Hex digits from the bytes, the name (its suffix and stem have a say), the metadata, the
    limits and the extractor's version."""
    known = json.dumps(
        [
            EXTRACTOR_VERSION,
            source.name,
            plain_metadata(source.metadata),
            dataclasses.asdict(limits),
        ],
        sort_keys=True,
    )
    digest = hashlib.sha256(known.encode("utf-8", "surrogatepass"))
    digest.update(b"\0")
    digest.update(source.data)
    return digest.hexdigest()


def load(folder: Path, key: str) -> Document | None:
    """The document kept under ``key``; None where there is none or it is damaged."""
    try:
        record = json.loads((folder / f"{key}.json").read_bytes())
        if record["key"] != key or record["digest"] != _digest(record["document"]):
            return None
        return document_from_json(record["document"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(folder: Path, key: str, document: Document) -> None:
    """Keep the document. An unwritable folder is no error: it only means no cache.

    Written beside its place and moved there, so that no reader sees half a file.
    """
    content = document_to_json(document)
    record = {"key": key, "digest": _digest(content), "document": content}
    temporary = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".writing-")
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(record).encode("ascii"))
        os.replace(temporary, folder / f"{key}.json")
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
