"""A list of measured questions, each with the way into its trace."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.evaluate import evidence_chunks
from core.questions import Question, locate
from dashboard import evaluation as runs
from dashboard import state, work
from dashboard.figures.text import clipped
from dashboard.link import EVIDENCE_LIMIT, View
from dashboard.tables import Item
from dashboard.views.question_set import evidence_texts

A_PAGE = 10
HEIGHT = 360


def draw(items: Sequence[Item], mode: str, budget: int, include: bool, *, key: str) -> None:
    """The questions in pages of ten. Their traces open in ``mode``, with the settings that they
    were measured with at ``budget``."""
    pages = -(-len(items) // A_PAGE)
    number = 1
    if pages > 1:
        number = st.pagination(pages, key=f"{key}_page")
    shown = list(items)[(min(number, pages) - 1) * A_PAGE :][:A_PAGE]
    found = work.built_index(state.view())
    documents = found.documents if found is not None else ()
    with st.container(height=HEIGHT, key=f"list_{key}", gap="small"):
        for at, item in enumerate(shown):
            question = asked(item)
            with st.container(horizontal=True, vertical_alignment="center", key=f"item_{key}_{at}"):
                with st.container(gap="xxsmall"):
                    st.text(item.asked.text)
                    with st.container(key=f"quiet_{key}_{at}", gap="xxsmall"):
                        st.text(item.note)
                        if item.positions:
                            texts = evidence_texts(question, documents)
                            st.text(f"“{clipped(texts[item.positions[0]], 140)}”")
                if st.button("Open its trace", key=f"trace_{key}_{at}"):
                    open_trace(item, mode, budget, include)


def asked(item: Item) -> Question:
    """The question of the set, as it was measured."""
    a = item.asked
    return Question(a.id, a.text, a.document, a.references)


def open_trace(item: Item, mode: str, budget: int, include: bool) -> None:
    """Turns to the Trace page on this question. Ends this run of the script."""
    state.change(**view_of(item, mode, budget, include, state.view()))
    state.go_to("Trace")


def view_of(item: Item, mode: str, budget: int, include: bool, view: View) -> dict[str, object]:
    """What of the view has to change, so that it shows what was measured: the question, its
    evidence, and the settings at that budget."""
    settings = runs.measured(view.settings, include)
    # Characters are more than tokens: the window is to be wide enough, as it is while measuring.
    room = budget + settings.answer_reserve + len(settings.instructions) + len(item.asked.text)
    room = -(-room // 500) * 500
    fields: dict[str, object] = {
        "question": item.asked.text,
        "mode": mode,
        "settings": settings.changed(
            evidence_budget=budget, window_tokens=max(view.settings.window_tokens, room)
        ),
    }
    found = work.built_index(view)
    if found is not None:
        evidence = locate(asked(item), found.documents)
        lost = evidence_chunks([evidence[i] for i in item.positions], found.chunks)
        fields["evidence"] = evidence_chunks(evidence, found.chunks)[:EVIDENCE_LIMIT]
        fields["chunk"] = lost[0] if lost else ""
    return fields
