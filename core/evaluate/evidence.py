"""What of a question's evidence can be measured, and of which documents it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.evaluate.records import CORPUS, Asked
from core.questions import Evidence, Question, locate
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
        skipped=_skipped(question, evidence),
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


def _skipped(question: Question, evidence: Sequence[Evidence]) -> str:
    if not question.references:
        return "it names no evidence"
    if all(e.span is None for e in evidence):
        where = question.document or "the documents"
        return f"none of its evidence stands in {where}"
    return ""
