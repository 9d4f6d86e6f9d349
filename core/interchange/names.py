"""What other pipelines call their stages, sources, pages and offsets."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.settings import STAGES

STAGE_NAMES: Mapping[str, tuple[str, ...]] = {
    "first_stage": ("retrieve", "retriever", "retrieval", "search", "hybrid", "fusion"),
    "rerank_1": ("rerank", "reranker", "reranking"),
    "extend": ("expand", "expansion", "window", "windows", "neighbours", "neighbors"),
    "relevance": ("filter", "threshold", "cutoff", "similarity_cutoff"),
    "dedup": ("deduplicate", "deduplication", "duplicates"),
    "diversity": ("mmr", "diversify"),
    "budget": ("truncate", "top_n", "token_budget"),
    "order": ("reorder", "sort", "long_context_reorder"),
    "prompt": ("context", "assemble", "assembly", "selected"),
}
"""Other names that a list may have, by the stage that they stand for."""

_ALIASES = {alias: stage for stage, aliases in STAGE_NAMES.items() for alias in aliases}

_SOURCES = (
    "source",
    "file_path",
    "file_name",
    "filename",
    "document",
    "document_id",
    "url",
    "title",
)
STARTS = ("start", "start_index", "start_char_idx")
ENDS = ("end", "end_index", "end_char_idx")
PAGES = ("page_label", "page_number")
UNNAMED = "(no source recorded)"


def stage_called(name: str) -> str:
    """The stage that a list of that name stands for; empty where none is known."""
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    return plain if plain in STAGES[1:] else _ALIASES.get(plain, "")


def source_of(metadata: Mapping[str, Any]) -> str:
    """The document that a result's metadata name; empty where they name none."""
    for key in _SOURCES:
        value = metadata.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def file_name(source: str) -> str:
    """The last part of a path or address; the whole where there is no such part."""
    return re.split(r"[/\\]", source.rstrip("/\\"))[-1] or source


def span_of(metadata: Mapping[str, Any], length: int) -> tuple[int, int]:
    """Where a result stands in its document's characters; (0, 0) where that is not recorded."""
    start = _first_whole(metadata, STARTS)
    if start is None:
        return 0, 0
    end = _first_whole(metadata, ENDS)
    end = start + length if end is None else end
    return (start, end) if end >= start else (0, 0)


def _first_whole(metadata: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    found = (whole_of(metadata.get(k)) for k in keys)
    return next((n for n in found if n is not None), None)


def page_of(metadata: Mapping[str, Any], from_zero: bool | None) -> int:
    """The page of a result, from 1; 0 where it is not recorded.

    ``page`` counts from 0 in some loaders and from 1 in others: ``from_zero`` says which, and
    None that it cannot be told, in which case that key is not read.
    """
    for key in PAGES:
        value = metadata.get(key)
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
            value = int(value.strip()[:9])
        if page := whole_of(value):
            return page
    page = whole_of(metadata.get("page"))
    if from_zero is not None and page is not None and page >= (0 if from_zero else 1):
        return page + from_zero
    return 0


def whole_of(value: Any) -> int | None:
    """The whole number that an offset or a page could be; None where it is none. A data frame
    writes those of a column with gaps as 3.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**53 else None


def number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def known_names() -> Iterable[str]:
    """What a person may call a stage, the pipeline's own names first."""
    return [*STAGES[1:], *sorted(_ALIASES)]
