"""Files that are whole or not there: evaluations kept, questions added to a set."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.errors import EvaluationError, QuestionSetError
from core.evaluate.records import Evaluation
from core.questions import Question, Reference, load_questions
from core.text_files import NotText, utf8


def save_evaluation(path: str | Path, evaluation: Evaluation) -> None:
    """Writes an evaluation, in place of what was there. OSError where that cannot be."""
    write_whole(Path(path), evaluation.to_json() + "\n")


def load_evaluation(path: str | Path) -> Evaluation:
    """What :func:`save_evaluation` wrote.

    Raises:
        EvaluationError: it cannot be read, or is no evaluation of this schema version.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        why = error.strerror or error
        raise EvaluationError(str(path), f"cannot be read ({why})", "Check the path.") from None
    return parse_evaluation(str(path), data)


def parse_evaluation(name: str, data: bytes) -> Evaluation:
    """The evaluation in a file's bytes; ``name`` is the file's.

    Raises:
        EvaluationError: it is no text, which it says, or no evaluation of this schema version.
    """
    try:
        return Evaluation.from_json(utf8(data), name)
    except NotText as error:
        raise EvaluationError(name, f"cannot be read: {error.problem}", error.remedy) from None


def append_question(path: str | Path, question: Question) -> None:
    """Adds a question to a JSONL set, which is made where there is none.

    What the file holds stays as it is, byte for byte, and the new line is in it whole or not
    at all. Two writers at once may lose one of their lines, never a part of one.

    Raises:
        QuestionSetError: the file is no question set, or CSV; the id is taken; there is no
            question or no evidence.
        OSError: the folder cannot be written to.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        raise QuestionSetError(str(path), "is CSV", "Questions are added to a JSONL file.")
    if not question.text.strip() or not question.references:
        raise QuestionSetError(question.id, "has no text or no evidence", "Mark a passage.")
    before = b""
    if path.exists():
        if any(q.id == question.id for q in load_questions(path)):
            raise QuestionSetError(
                question.id, f"is the id of a question in {path.name} already", "Choose another."
            )
        before = path.read_bytes()
        if before and not before.endswith(b"\n"):
            before += b"\n"
    write_whole(path, before + questions_jsonl([question]).encode("utf-8", "replace"))


def questions_jsonl(questions: Iterable[Question]) -> str:
    """A set as JSONL, a line a question, as :func:`core.questions.load_questions` reads it."""
    return "".join(json.dumps(_question(q), ensure_ascii=False) + "\n" for q in questions)


def _question(question: Question) -> dict[str, Any]:
    known: Mapping[str, Any] = {
        "id": question.id,
        "question": question.text,
        "document": question.document,
        "references": [_reference(r) for r in question.references],
    }
    return {**known, **{k: v for k, v in question.more.items() if k not in known}}


def _reference(reference: Reference) -> dict[str, Any]:
    if reference.start is not None:
        return {"start": reference.start, "end": reference.end}
    return {"quote": reference.quote} if reference.quote else {"page": reference.page}


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes beside the file and moves it there, so that no reader sees half of it."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    handle, temporary = _beside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def probe(path: Path) -> None:
    """OSError where :func:`write_whole` could not write there; leaves nothing behind."""
    handle, temporary = _beside(path)
    os.close(handle)
    os.unlink(temporary)


def _beside(path: Path) -> tuple[int, str]:
    return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")


def _umask() -> int:
    """What a file that is made here may not be: it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
