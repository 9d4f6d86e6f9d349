"""What flows through Chunkscope: documents, chunks and candidates.

Every record is frozen. Offsets are characters of ``Document.text`` (Python string
indices), half-open, and pages are counted from 1, as a person reads them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from core.alignment import Alignment


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a document's text, and what they are."""

    start: int
    end: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its number (from 1) and the characters that it holds."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at ``start``; ``level`` 1 is the outermost."""

    start: int
    level: int
    text: str


class Box(NamedTuple):
    """Where a line of clean text, characters ``start`` to ``end``, stands on its page.

    In points, x to the right and y downwards from the top left corner of the page as it is
    shown (rotated and cropped as the file asks), to a tenth of a point.
    """

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read a document.

    An empty ``tenant`` belongs to everyone. With ``roles``, a principal needs one of
    them; with ``labels`` (data policy), a principal must be cleared for all of them.
    """

    tenant: str = ""
    roles: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. ``None`` in its place means the owner of the files, who sees all of them."""

    tenant: str = ""
    roles: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def may_read(self, access: Access) -> bool:
        """Whether ``access`` admits this principal."""
        return (
            access.tenant in ("", self.tenant)
            and (not access.roles or bool(set(access.roles) & set(self.roles)))
            and set(access.labels) <= set(self.labels)
        )


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are of a kind, which is named in words for a person."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class PageReport:
    """What extraction saw on one page.

    ``characters`` counts those that are not blank, ``unknown`` those among them that stand as
    U+FFFD; ``private`` and ``control`` characters were left out and are not among them.
    ``covered`` is the share of the page under its largest picture, ``width`` and ``height`` are
    the page's as it is shown, in points. ``recognised``: the text comes from text recognition,
    the file's own, or the one asked for, whose language is ``ocr``. ``repairs`` count characters, lines' ends aside;
    ``removed`` counts characters that are shown and not ranked. Filled-in ``fields`` and
    ``text_boxes`` (free-text annotations) stand in the text where the page shows them;
    ``fields_out`` and ``notes_out`` (comments) are not in the text.
    """

    number: int
    characters: int
    images: int = 0
    warnings: tuple[str, ...] = ()
    unknown: int = 0
    private: int = 0
    control: int = 0
    covered: float = 0.0
    drawings: bool = False
    unreadable: bool = False
    recognised: bool = False
    ocr: str = ""
    uncertain: bool = False
    repairs: tuple[Count, ...] = ()
    removed: tuple[Count, ...] = ()
    fields: int = 0
    fields_out: int = 0
    text_boxes: int = 0
    notes_out: int = 0
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """How a document's text came about. ``warnings`` are sentences for a person.

    ``encoding_from`` says how a text's encoding is known, ``encoding_sure`` how far, in [0, 1].
    ``repaired``: the file was damaged. ``repairs`` and ``removed`` are those of the whole
    document; of Markdown, what was removed is in the raw text alone (addresses, tags) or shown
    and not ranked (front matter, comments).
    """

    media_type: str = "text/plain"
    encoding: str = ""
    seconds: float = 0.0
    pages: tuple[PageReport, ...] = ()
    warnings: tuple[str, ...] = ()
    encoding_from: str = ""
    encoding_sure: float = 1.0
    repaired: bool = False
    repairs: tuple[Count, ...] = ()
    removed: tuple[Count, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document's clean text, and all that is known of it.

    ``unranked`` spans (front matter, running headers) stay in the text but in no chunk.
    ``raw`` is the text before cleaning: a text file's own, a PDF's lines in drawing order with a
    form feed between pages. It is empty, and ``alignment`` without segments, where it equals
    ``text``; :attr:`original` is it in either case. ``boxes`` say where a PDF's lines stand, in
    the order of the text. ``tables`` are rows below a table's header row; their kind is what it
    says.
    ``id`` is derived from content and metadata (:func:`document_id`), never from the name.
    """

    id: str
    name: str
    title: str
    text: str
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    unranked: tuple[Span, ...] = ()
    access: Access = Access()
    date: str = ""
    priority: int = 0
    report: ExtractionReport = ExtractionReport()
    raw: str = ""
    alignment: Alignment = Alignment()
    boxes: tuple[Box, ...] = ()
    tables: tuple[Span, ...] = ()

    @property
    def original(self) -> str:
        """The text before cleaning, which ``alignment`` maps ``text`` to."""
        return self.raw or self.text


def document_id(
    text: str,
    pages: tuple[Page, ...] = (),
    access: Access = Access(),
    date: str = "",
    priority: int = 0,
) -> str:
    """Sixteen hex digits from what the document says and who may read it.

    Metadata takes part so that one text given to two tenants makes two documents.
    """
    content = [
        text,
        [(p.number, p.start, p.end) for p in pages],
        [access.tenant, sorted(access.roles), sorted(access.labels)],
        date,
        priority,
    ]
    packed = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(packed.encode("ascii")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of one document. Law: ``text == document.text[start:end]``.

    ``tokens`` counts the text alone, by the index's token counter. ``pages`` is
    (first, last) from 1, or () where the document has no pages. ``headings`` is the
    path from the outermost heading to the innermost.
    """

    id: str
    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    tokens: int
    pages: tuple[int, ...] = ()
    headings: tuple[str, ...] = ()


def chunk_id(document: str, ordinal: int) -> str:
    """The id of a document's chunk: sorts like (document, ordinal)."""
    return f"{document}:{ordinal:06d}"


NO_SCORES: Mapping[str, float] = {}
"""Nobody may write to it: every record without scores shares it."""


class Candidate(NamedTuple):
    """A chunk on its way to the prompt, with every score that it was given, by name.

    ``score`` is the one that orders now; ``relevance`` is a calibrated probability in
    [0, 1], or None before a reranker gave one. ``anchor`` and ``offset`` say which
    candidate's window brought the chunk in, and how many chunks away it stands.
    """

    chunk_id: str
    score: float | None = None
    scores: Mapping[str, float] = NO_SCORES
    relevance: float | None = None
    anchor: str = ""
    offset: int = 0

    def scored(
        self, scores: Mapping[str, float], orders: str, relevance: float | None = None
    ) -> Candidate:
        """This candidate with more named scores; the one named ``orders`` now orders it.

        Raises:
            ValueError: a score of that name is already given; none is ever overwritten.
        """
        if not self.scores.keys().isdisjoint(scores):
            taken = ", ".join(sorted(self.scores.keys() & scores.keys()))
            raise ValueError(f"{taken} of {self.chunk_id} is already given")
        named = {**self.scores, **scores}
        return Candidate(self.chunk_id, scores[orders], named, relevance, self.anchor, self.offset)
