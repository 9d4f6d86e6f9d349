"""Chunkscope's retrieval pipeline. Names load when they are first used, and nothing before."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Document": "core.records",
    "Chunk": "core.records",
    "Principal": "core.records",
    "Settings": "core.settings",
    "parse_settings": "core.settings",
    "MODES": "core.modes",
    "Trace": "core.trace",
    "Index": "core.index.index",
    "build_index": "core.index.build",
    "Pipeline": "core.pipeline",
    "targets_of_passage": "core.diagnosis",
    "why": "core.diagnosis",
    "open_documents": "core.session",
    "embedded_pipeline": "core.session",
    "profile_pipeline": "core.session",
    "ChunkscopeError": "core.errors",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
