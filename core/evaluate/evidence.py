"""What of a question's evidence can be measured, and of which documents it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.evaluate.records import CORPUS, Asked
from core.questions import Evidence, Question, Reference, documents_named, locate
from core.records import Document


@dataclass(frozen=True)
class Prepared:
    """A question ready to be asked.

    ``evidence`` has one entry a reference, in order. ``documents`` are the ids of those it is
    asked of; () means all.
    """

    question: Question
    asked: Asked
    evidence: tuple[Evidence, ...]
    documents: tuple[str, ...] = ()


def prepared(question: Question, documents: Sequence[Document], scope: str) -> Prepared:
    """A question with its evidence looked up in ``documents``.

    In scope "document" it is asked of the documents in which its evidence was found: the one
    that it names, as a rule.
    """
    evidence = locate(question, documents)
    by_id = {d.id: d for d in documents}
    found = [e for e in evidence if e.span is not None]
    textless = tuple(i for i, e in enumerate(evidence) if _textless(e, by_id))
    asked = Asked(
        id=question.id,
        text=question.text,
        document=question.document,
        references=question.references,
        characters=characters(evidence),
        unfound=tuple(i for i, e in enumerate(evidence) if e.span is None),
        textless=textless,
        skipped=_skipped(question, evidence, documents),
    )
    own = tuple(dict.fromkeys(e.document_id for e in found))
    return Prepared(question, asked, evidence, () if scope == CORPUS else own)


def characters(evidence: Sequence[Evidence]) -> int:
    """How many distinct characters the evidence has."""
    wanted: dict[str, set[int]] = {}
    for e in evidence:
        if e.span is not None:
            wanted.setdefault(e.document_id, set()).update(range(e.span.start, e.span.end))
    return sum(map(len, wanted.values()))


def _textless(evidence: Evidence, documents: dict[str, Document]) -> bool:
    """Whether it is a page of which extraction brought no text."""
    if evidence.span is None or evidence.reference.page is None:
        return False
    text = documents[evidence.document_id].text
    return not text[evidence.span.start : evidence.span.end].strip()


def _skipped(
    question: Question, evidence: Sequence[Evidence], documents: Sequence[Document]
) -> str:
    if not question.references:
        return "it names no evidence"
    if any(e.span is not None for e in evidence):
        return ""
    named = documents_named(question.document, documents)
    if not named:
        return f"there is no document named {question.document}"
    if (
        not question.document
        and len(documents) > 1
        and not any(r.quote for r in question.references)
    ):
        return "it does not say in which document its evidence stands"
    why = {_absent(reference, named[0]) for reference in question.references}
    if len(named) == 1 and len(why) == 1 and (only := why.pop()):
        return only
    return f"none of its evidence stands in {question.document or 'the documents'}"


def _absent(reference: Reference, document: Document) -> str:
    """Why a reference other than a quote has no place in a document."""
    if reference.quote:
        return ""
    if reference.page is None:
        return f"its evidence lies past the end of {document.name}, or in what is left out of it"
    if not document.pages:
        return f"it names a page, and {document.name} has none: use a quote, or start and end"
    return f"it names page {reference.page}, and {document.name} has {len(document.pages):,}"
