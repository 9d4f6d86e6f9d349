"""The sample questions: each shows one thing that the pipeline does. No streamlit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.evaluate import evidence_chunks
from core.modes import DEFAULT_MODE, mode_named
from core.questions import Question, load_questions, locate
from core.records import Chunk, Document, Principal
from core.settings import parse_settings
from dashboard.link import View


@dataclass(frozen=True, slots=True)
class Stop:
    """One sample question, what it shows, and the view in which it shows it."""

    question: Question
    title: str
    note: str
    view: View

    @property
    def id(self) -> str:
        return self.question.id


def read(path: Path) -> tuple[Stop, ...]:
    """The stops of a question file; none where there is no such file.

    Raises:
        QuestionSetError: naming the line that cannot be read.
        SettingsError: a mode or a knob that does not exist.
    """
    return tuple(_stop(q) for q in load_questions(path)) if path.is_file() else ()


def _stop(question: Question) -> Stop:
    more = question.more
    access = {k: more[k] for k in ("tenant", "roles", "labels") if more.get(k)}
    principal = Principal(
        tenant=access.get("tenant", ""),
        roles=tuple(access.get("roles", ())),
        labels=tuple(access.get("labels", ())),
    )
    return Stop(
        question=question,
        title=more.get("title") or question.text,
        note=more.get("note", ""),
        view=View(
            question=question.text,
            mode=mode_named(more.get("mode") or DEFAULT_MODE).name,
            settings=parse_settings(more.get("settings") or {}),
            principal=principal if access else None,
        ),
    )


def stop_for(stops: Iterable[Stop], view: View) -> Stop | None:
    """The stop that asks this view's question, by the same principal if two do."""
    same = [s for s in stops if s.view.question == view.question]
    return next((s for s in same if s.view.principal == view.principal), same[0] if same else None)


def evidence(stop: Stop, documents: Sequence[Document], chunks: Iterable[Chunk]) -> tuple[str, ...]:
    """Ids of the chunks that hold a reference of this stop, or a part of one."""
    return evidence_chunks(locate(stop.question, documents), chunks)
