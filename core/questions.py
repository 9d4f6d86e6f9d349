"""Question sets: what is asked, of which document, and which stretches answer it.

JSONL or CSV with ``question``, ``document`` (its name) and ``references``: a list of
``{start, end}`` in characters of the document's text as the file holds it, ``{quote}`` or
``{page}``. The column names of the chunking-evaluation set (``corpus_id``, ``start_index``,
``end_index``) are read too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import QuestionSetError
from core.plain import parse
from core.records import Document, Span
from core.text_files import read_text

csv.field_size_limit(2**31 - 1)

_ONE_A_LINE = "Write one JSON object a line."
_AS_A_LIST = 'Write a list of objects, as in [{"quote": "…"}].'


@dataclass(frozen=True, slots=True)
class Reference:
    """One piece of evidence, as the set names it: a span, a quote or a page."""

    start: int | None = None
    end: int | None = None
    quote: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its evidence; ``more`` holds what else the set says (title, note, mode)."""

    id: str
    text: str
    document: str = ""
    references: tuple[Reference, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A reference found in its document; ``span`` is None where it could not be found."""

    reference: Reference
    document_id: str = ""
    span: Span | None = None


def load_questions(path: str | Path) -> tuple[Question, ...]:
    """The questions of a JSONL or CSV file.

    Raises:
        QuestionSetError: naming the line and what it lacks.
    """
    path = Path(path)
    questions, errors = parse_questions(path.name, read_text(path, QuestionSetError))
    if errors:
        raise errors[0]
    return questions


def parse_questions(
    name: str, text: str
) -> tuple[tuple[Question, ...], tuple[QuestionSetError, ...]]:
    """The questions of a file's text, and an error for each line that cannot be used.

    ``name`` is the file's; it is read as CSV where it ends in ``.csv``, else as JSONL. What
    stops the reader of CSV ends the questions there.
    """
    rows = (_csv_rows if name.lower().endswith(".csv") else _json_rows)(text)
    questions: list[Question] = []
    errors: list[QuestionSetError] = []
    while True:
        try:
            line, row = next(rows)
            where = f"{name}, line {line}"
            questions.append(_question(where, line, _parsed(where, row)))
        except StopIteration:
            return tuple(questions), tuple(errors)
        except csv.Error as error:
            at = f"{name}, after row {len(questions) + len(errors)}"
            errors.append(QuestionSetError(at, f"is not CSV ({error})", "Save it again as CSV."))
        except QuestionSetError as error:
            errors.append(error)


def _json_rows(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines(): a JSON string may hold U+2028 and its like as they are.
    return ((line, raw) for line, raw in enumerate(text.split("\n"), 1) if raw.strip())


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each row with the line on which it begins."""
    reader = csv.DictReader(io.StringIO(text))
    for row in reader:
        # A row whose cells hold line breaks ends some lines after the one it begins on.
        breaks = sum(v.count("\n") for v in row.values() if isinstance(v, str))
        yield reader.line_num - breaks, {k: v for k, v in row.items() if k}


def _parsed(where: str, row: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(row, str):
        return row
    try:
        found = parse(row)
    except ValueError as error:
        raise QuestionSetError(where, f"is not JSON ({error})", _ONE_A_LINE) from None
    if not isinstance(found, dict):
        raise QuestionSetError(where, "is not a JSON object", _ONE_A_LINE)
    return found


def _question(where: str, line: int, row: Mapping[str, Any]) -> Question:
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise QuestionSetError(where, "has no question", "Write one under question.")
    references = row.get("references") or []
    if isinstance(references, str):
        try:
            references = parse(references)
        except ValueError as error:
            raise QuestionSetError(
                where, f"its references are not JSON ({error})", _AS_A_LIST
            ) from None
    if not isinstance(references, list):
        raise QuestionSetError(where, "its references are not a list", _AS_A_LIST)
    known = {"id", "question", "document", "corpus_id", "references"}
    return Question(
        id=_name(where, row, "id") or str(line),
        text=text,
        document=_name(where, row, "document") or _name(where, row, "corpus_id"),
        references=tuple(_reference(where, r) for r in references),
        more={k: v for k, v in row.items() if k not in known},
    )


def _name(where: str, row: Mapping[str, Any], field: str) -> str:
    """A name as text; a number is one too. Empty where there is none."""
    value = row.get(field)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise QuestionSetError(
        where, f"its {field} is {value!r:.60}, not a name", f"Write one name under {field}."
    )


def _whole(*values: Any) -> bool:
    """Whether all are whole numbers; True and False are none."""
    return all(type(v) is int for v in values)


def _reference(where: str, row: Any) -> Reference:
    if not isinstance(row, dict):
        raise QuestionSetError(where, f"the reference {row!r:.200} is not an object", _AS_A_LIST)
    start, end = row.get("start", row.get("start_index")), row.get("end", row.get("end_index"))
    if _whole(start, end) and 0 <= start < end:
        return Reference(start=start, end=end)
    if isinstance(row.get("quote"), str) and row["quote"].strip():
        return Reference(quote=row["quote"])
    if _whole(row.get("page")) and row["page"] >= 1:
        return Reference(page=row["page"])
    raise QuestionSetError(
        where,
        f"the reference {row!r:.200} names no place",
        "It takes start and end (from 0, the end after the start), a quote, or a page (from 1).",
    )


def locate(question: Question, documents: Sequence[Document]) -> tuple[Evidence, ...]:
    """Each reference of a question, found in its document, or with ``span`` None.

    A span counts characters of the text as the file holds it, and is mapped to the clean text;
    of a PDF, which holds none in order, it counts those of the text that was extracted. A quote
    is found whatever its white space, in the clean text or else in the raw. Without a document's
    name a quote is looked for in all of them; a span or a page then means something only if there
    is one document.
    """
    named = documents_named(question.document, documents)
    found = []
    for reference in question.references:
        sure = question.document or reference.quote or len(documents) == 1
        places = ((d.id, _find(d, reference)) for d in named if sure)
        place = next(((d, s) for d, s in places if s is not None), None)
        found.append(Evidence(reference, *place) if place else Evidence(reference))
    return tuple(found)


def refer(document: Document, start: int, end: int) -> Reference:
    """What a set writes for characters ``start`` to ``end`` of a document's text, so that
    :func:`locate` finds them again.

    Raises:
        QuestionSetError: no character of the text.
    """
    if not 0 <= start < end <= len(document.text):
        raise QuestionSetError(document.name, f"has no characters {start} to {end}", "Mark some.")
    if document.pages:  # a PDF: its file holds no text in order, so the clean text is counted
        return Reference(start=start, end=end)
    stretches = document.alignment.to_raw(start, end)
    if not stretches:
        return Reference(quote=document.text[start:end])
    return Reference(start=min(s for s, _ in stretches), end=max(e for _, e in stretches))


def documents_named(wanted: str, documents: Sequence[Document]) -> list[Document]:
    """The documents that go by a name: in full, or else by file name, with its suffix or without."""
    if not wanted:
        return list(documents)
    file = PurePosixPath(wanted).name
    for agrees in (
        lambda path: str(path) == wanted,
        lambda path: path.name == file,
        lambda path: path.stem == wanted,
    ):
        if found := [d for d in documents if agrees(PurePosixPath(d.name))]:
            return found
    return []


def _find(document: Document, reference: Reference) -> Span | None:
    if reference.quote:
        words = re.compile(r"\s+".join(map(re.escape, reference.quote.split())))
        if match := words.search(document.text):
            return Span(match.start(), match.end(), "quote")
        if match := words.search(document.raw):
            return _cleaned(document, match.start(), match.end(), "quote")
        return None
    if reference.page is not None:
        page = next((p for p in document.pages if p.number == reference.page), None)
        return Span(page.start, page.end, "page") if page else None
    if reference.end is None:
        return None
    if document.pages:
        within = reference.end <= len(document.text)
        return Span(reference.start, reference.end, "span") if within else None
    if reference.end > len(document.original):
        return None
    return _cleaned(document, reference.start, reference.end, "span")


def _cleaned(document: Document, start: int, end: int, kind: str) -> Span | None:
    """The clean text from the first to the last of the raw characters ``start`` to ``end``;
    None where none of them is in it."""
    spans = document.alignment.to_clean(start, end)
    return Span(min(s for s, _ in spans), max(e for _, e in spans), kind) if spans else None
