"""Ingest: many sources, each to its document or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import Cancelled, DocumentError
from core.ingest import cache as kept
from core.ingest.child import Child
from core.ingest.limits import DEFAULT_LIMITS, Limits
from core.ingest.ocr import require
from core.ingest.source import Source
from core.records import Document


class DuplicateDocument(DocumentError):
    """The same content and access as another file's, which is indexed once, under its name.

    A notice more than a failure: nothing is lost by it.
    """


@dataclass(frozen=True)
class Ingested:
    """One source's outcome: either ``document`` or ``error`` is set."""

    name: str
    document: Document | None = None
    error: DocumentError | None = None


def ingest(
    sources: Sequence[Source],
    limits: Limits = DEFAULT_LIMITS,
    *,
    cache: Path | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> list[Ingested]:
    """Every source's outcome, sorted by name. A bad file never keeps the others from loading.

    ``progress(done, total, name)`` is called before each file and once at the end, with an
    empty name. Raises Cancelled soon after ``cancelled()`` turns true. With ``cache``, a
    folder, what was extracted before is taken from there; files opened by a password never
    are. Of sources with equal content and access the first by name has the document, and each
    other a ``DuplicateDocument`` error. Safe to call from several threads at once. Raises
    DocumentError where text recognition is asked for (``limits.ocr``) and not installed.
    """
    if limits.ocr:
        require(limits.ocr_language)
    ordered = sorted(sources, key=lambda source: source.name)
    outcomes: list[Ingested] = []
    first_with: dict[str, str] = {}
    with Child(limits) as child:
        for done, source in enumerate(ordered):
            if cancelled is not None and cancelled():
                raise Cancelled
            if progress is not None:
                progress(done, len(ordered), source.name)
            outcome = _one(source, limits, cache, child, cancelled)
            if outcome.document is not None:
                if (twin := first_with.get(outcome.document.id)) is not None:
                    outcome = Ingested(source.name, error=_duplicate(source.name, twin))
                else:
                    first_with[outcome.document.id] = source.name
            outcomes.append(outcome)
    if progress is not None:
        progress(len(ordered), len(ordered), "")
    return outcomes


def _one(
    source: Source,
    limits: Limits,
    cache: Path | None,
    child: Child,
    cancelled: Callable[[], bool] | None,
) -> Ingested:
    if source.error is not None:
        return Ingested(source.name, error=source.error)
    key = ""
    if cache is not None and source.password is None:
        key = kept.cache_key(source, limits)
        if (document := kept.load(cache, key)) is not None:
            return Ingested(source.name, document)
    try:
        document = child.read(source, cancelled)
    except DocumentError as error:
        return Ingested(source.name, error=error)
    if key:
        kept.save(cache, key, document)
    return Ingested(source.name, document)


def _duplicate(name: str, twin: str) -> DuplicateDocument:
    problem = f"it has the same content as {twin}, and is indexed once, under that name"
    return DuplicateDocument(name, problem, "One of the two can be removed.")
