"""The choice of a question set: the samples, a file, or what was marked in the app."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.evaluate import questions_jsonl
from core.questions import Question, locate
from core.records import Document
from core.words import counted
from dashboard import columns, question_sets, say, state, work
from dashboard.figures.text import clipped
from dashboard.question_sets import QuestionSet
from dashboard.shelf import Shelf
from dashboard.tables.evaluate import named

SAMPLES, FILE, MARKED = "samples", "file", "marked"
TITLES = {SAMPLES: "Sample questions", FILE: "A file", MARKED: "Marked in the app"}
LARGEST_MB = 50
PROBLEMS_SHOWN = 12
EDITION = "marked_edition"
"""In the session: counts the edits of the marked set, so that each leaves a fresh editor."""


def draw() -> QuestionSet | None:
    """The chosen set; None where there is none yet, and the page says how to get one."""
    samples = tuple(s.question for s in work.stops())
    options = [SAMPLES] * bool(samples) + [FILE, MARKED]
    kind = st.segmented_control(
        "Question set",
        options,
        format_func=TITLES.get,
        default=options[0],
        required=True,
        key="question_set",
        persist_state="session",
    )
    if kind == SAMPLES and samples:
        return QuestionSet(TITLES[SAMPLES], samples)
    return _marked() if kind == MARKED else _file()


def _file() -> QuestionSet | None:
    with st.container(key="quiet_question_file"):
        st.text(
            "JSONL or CSV with question, document (its name) and references: a list of "
            '{"start": 10, "end": 42}, {"quote": "…"} or {"page": 3}.'
        )
    st.file_uploader(
        "Question set",
        type=["jsonl", "csv", "json", "txt"],
        key="question_file",
        on_change=_read,
        max_upload_size=LARGEST_MB,
        label_visibility="collapsed",
    )
    held = question_sets.uploaded()
    if held is None:
        return None
    with st.container(horizontal=True, vertical_alignment="center", key="quiet_question_count"):
        st.text(f"{held.name}: {many(held.questions)}", width="content")
        st.button("Forget it", key="forget_questions", type="tertiary", on_click=_forget)
    if held.problems:
        shown = [*held.problems[:PROBLEMS_SHOWN]]
        if rest := len(held.problems) - len(shown):
            shown.append(f"and {rest:,} more lines that cannot be used")
        say.note("warning", shown, key="question_lines")
    return held if held.questions else None


def many(questions: tuple[Question, ...]) -> str:
    return counted(len(questions), "question")


def _read() -> None:
    upload = st.session_state["question_file"]
    if upload is not None:
        question_sets.put_uploaded(question_sets.read(upload.name, upload.getvalue()))


def _forget() -> None:
    question_sets.put_uploaded(None)


def _marked() -> QuestionSet | None:
    questions = question_sets.marked()
    if not questions:
        say.note(
            "info",
            "Nothing is marked yet. Ask a question, then press “This should be found” beside a "
            "chunk on the Trace page or on the Documents page.",
            key="nothing_marked",
        )
        return None
    documents = (work.shelf() or Shelf()).seen_by(state.view().principal)
    frame = pd.DataFrame([_row(q, documents) for q in questions])
    edition = st.session_state.setdefault(EDITION, 0)
    st.data_editor(
        frame,
        key=f"marked_editor_{edition}",
        num_rows="delete",
        disabled=["Document", "Pieces", "Evidence"],
        column_config=columns.layout(frame) | {"Question": st.column_config.TextColumn(width=420)},
        hide_index=True,
        on_change=_edit,
        args=(f"marked_editor_{edition}",),
        alt="The marked questions: a question can be written anew, a row removed",
    )
    with st.container(horizontal=True, vertical_alignment="center", key="quiet_marked"):
        st.text(
            "Write a question anew in its cell; choose rows at their left to delete them.",
            width="content",
        )
        st.download_button(
            "Download as JSONL",
            lambda: questions_jsonl(question_sets.marked()),
            file_name="questions.jsonl",
            mime="application/jsonl",
            on_click="ignore",
            key="download_marked",
            type="tertiary",
        )
    return QuestionSet(TITLES[MARKED], questions)


def _row(question: Question, documents: tuple[Document, ...]) -> dict[str, object]:
    texts = evidence_texts(question, documents)
    return {
        "Question": question.text,
        "Document": question.document,
        "Pieces": len(texts),
        "Evidence": " … ".join(clipped(t, 200) for t in texts),
    }


def evidence_texts(question: Question, documents: tuple[Document, ...]) -> list[str]:
    """The words of each piece of evidence, where it stands in these documents."""
    by_id = {d.id: d for d in documents}
    return [
        by_id[e.document_id].text[e.span.start : e.span.end] if e.span else named(e.reference)
        for e in locate(question, documents)
    ]


def _edit(key: str) -> None:
    held = st.session_state[key]
    texts = {int(row): cells.get("Question", "") for row, cells in held["edited_rows"].items()}
    removed = {int(row) for row in held["deleted_rows"]}
    question_sets.put_marked(question_sets.edited(question_sets.marked(), texts, removed))
    st.session_state[EDITION] += 1
