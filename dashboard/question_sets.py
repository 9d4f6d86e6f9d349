"""The question sets of a session: one that was uploaded, and one that is marked in the app."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import QuestionSetError
from core.questions import Question, Reference, parse_questions
from core.text_files import NotText, utf8
from dashboard import state, work

UPLOADED, MARKED = "questions_uploaded", "questions_marked"

_MARKED_ID = re.compile(r"marked-(\d+)")


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions under a name, and a sentence for each line that could not be used."""

    name: str
    questions: tuple[Question, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        """What tells one set from another: its name, and what is asked of which evidence."""
        asked = tuple((q.id, q.text, q.document, q.references) for q in self.questions)
        return self.name, hash(asked)


def read(name: str, data: bytes) -> QuestionSet:
    """The set that a file holds; what is wrong with it is said, and the rest is used."""
    try:
        text = utf8(data)
    except NotText as error:
        return QuestionSet(name, problems=(f"{name}: {error.problem}. {error.remedy}",))
    questions, errors = parse_questions(name, text)
    problems = [str(e) for e in errors]
    kept: dict[str, Question] = {}
    for q in questions:
        if q.id in kept:
            problems.append(str(QuestionSetError(f"{name}, {q.id!r:.60}", "is the id of two questions, of which the first is used", "Give each its own.")))  # fmt: skip
        kept.setdefault(q.id, q)
    if not kept and not problems:
        problems.append(f"{name}: has no questions. Write one JSON object a line.")
    return QuestionSet(name, tuple(kept.values()), tuple(problems))


def adding(
    questions: Sequence[Question], text: str, document: str, reference: Reference
) -> tuple[Question, ...]:
    """The questions with one more piece of evidence: at the question of this text about this
    document, or at a new one."""
    for at, q in enumerate(questions):
        if q.text == text and q.document == document:
            if reference in q.references:
                return tuple(questions)
            more = replace(q, references=(*q.references, reference))
            return (*questions[:at], more, *questions[at + 1 :])
    taken = [int(m[1]) for q in questions if (m := _MARKED_ID.fullmatch(q.id))]
    new = Question(f"marked-{max(taken, default=0) + 1}", text, document, (reference,))
    return (*questions, new)


def edited(
    questions: Sequence[Question], texts: Mapping[int, str], removed: Collection[int] = ()
) -> tuple[Question, ...]:
    """The questions with other words at some positions, and without some. Empty words change
    nothing."""
    out = []
    for at, q in enumerate(questions):
        if at not in removed:
            words = (texts.get(at) or "").strip()
            out.append(replace(q, text=words) if words else q)
    return tuple(out)


def pieces_of(questions: Sequence[Question], text: str, document: str) -> int:
    """How many pieces of evidence the set has for this question in this document."""
    return sum(len(q.references) for q in questions if (q.text, q.document) == (text, document))


def uploaded() -> QuestionSet | None:
    return state.session().get(UPLOADED)


def put_uploaded(new: QuestionSet | None) -> None:
    state.session()[UPLOADED] = new


def loaded() -> QuestionSet | None:
    """The set that other pages measure by: the uploaded one, else what was marked in the app,
    else the tour's own; None where no question is there."""
    own = uploaded()
    if own is not None and own.questions:
        return own
    if marked():
        return QuestionSet("marked in the app", marked())
    samples = tuple(stop.question for stop in work.stops())
    return QuestionSet("the sample questions", samples) if samples else None


def marked() -> tuple[Question, ...]:
    """What was marked in the app as what should be found."""
    return state.session().get(MARKED, ())


def put_marked(questions: tuple[Question, ...]) -> None:
    state.session()[MARKED] = questions
