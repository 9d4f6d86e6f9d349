"""“This should be found”: adds a passage to the question set that is marked in the app."""

from __future__ import annotations

import streamlit as st

from core.records import Document
from core.words import counted
from dashboard import question_sets, say, state

PROBLEM = "expected_problem"
"""In the session: the chunk of which a pasted part was not found."""


def draw(document: Document, start: int, end: int, *, key: str) -> None:
    """A button for characters ``start`` to ``end`` of the document; a part of them can be
    pasted. The question is the page's own."""
    question = state.view().question
    with st.popover(
        "This should be found",
        key=f"expected_{key}",
        type="tertiary",
        help="Adds the question and this passage to a question set, for the Evaluate page. To see it "
        "in the map and in the counts of this page, mark it as evidence.",
    ):
        if not question:
            st.text("Ask a question above first: which one should find this?")
            return
        st.text(question)
        part = f"expected_part_{key}"
        st.text_area(
            "Only this part of it",
            key=part,
            height=90,
            placeholder="paste a sentence; left empty, all of the chunk",
        )
        st.button(
            "Add to the question set",
            key=f"expected_add_{key}",
            type="primary",
            on_click=_add,
            args=(document, start, end, part),
        )
        if st.session_state.get(PROBLEM) == (document.id, start, end):
            said = "These words do not stand in this document, or not in this order."
            say.note("error", said, key=f"expected_{key}")
        held = question_sets.pieces_of(question_sets.marked(), question, document.name)
        if held:
            with st.container(key=f"quiet_expected_{key}"):
                pieces = f"{counted(held, 'piece')} of this document"
                st.text(f"In the set: this question, with {pieces}.")
            state.page_link("Evaluate", "Evaluate")


def _add(document: Document, start: int, end: int, part: str) -> None:
    from core.questions import refer

    st.session_state.pop(PROBLEM, None)
    words = (st.session_state.get(part) or "").strip()
    if words:
        found = stretch(document.text, words, start, end)
        if found is None:
            st.session_state[PROBLEM] = (document.id, start, end)
            return
        start, end = found
    reference = refer(document, start, end)
    question_sets.put_marked(
        question_sets.adding(
            question_sets.marked(), state.view().question, document.name, reference
        )
    )


def stretch(text: str, words: str, start: int, end: int) -> tuple[int, int] | None:
    """Where pasted words stand whole, however they are spaced: between ``start`` and ``end``
    if they can, else at the first place in the text; None where nowhere."""
    from core.diagnosis.matching import Words

    found = Words(text).find(Words(words))
    touching = [p for p in found if p[0] < end and start < p[1]]
    return next(iter(touching or found), None)
