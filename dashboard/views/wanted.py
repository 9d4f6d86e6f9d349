"""What the person misses: a pasted passage, a chunk, or a piece of the expected evidence."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.diagnosis.naming import chunk_name
from core.index.index import Index
from core.trace import Trace
from dashboard import state
from dashboard.diagnosing import PASSAGE, Item
from dashboard.link import CHUNK, PASSAGE_LIMIT, View

SHOWN = "wanted_shown"
"""Where the session keeps what the page looks for, as ``View.why`` says it."""

HOW = (
    "Paste the passage that should have been found. Or press “Why is it missing?” beside a chunk "
    "on the Trace page."
)
LABELS = {PASSAGE: "The pasted passage", CHUNK: "The selected chunk", "": "Nothing yet"}


def draw(view: View, trace: Trace, index: Index, items: Sequence[Item], what: str) -> None:
    """The passage, and beside it what else can be looked for."""
    state.session()[SHOWN] = "" if what == PASSAGE else what
    with st.container(key="split_wanted"):
        left, right = st.columns([1.5, 1], gap="medium")
    with left:
        state.project("passage", view.passage)
        st.text_area(
            "The passage that should have been found",
            view.passage,
            key="passage",
            height=92,
            max_chars=PASSAGE_LIMIT,
            placeholder="Paste it here, then press Ctrl+Enter",
            on_change=_pasted,
        )
    with right:
        _choice(view, trace, index, items, what)


def _choice(view: View, trace: Trace, index: Index, items: Sequence[Item], what: str) -> None:
    options = choices(view, trace, index, items)
    chosen = what if what in options else ""
    if not chosen:
        options = {"": LABELS[""]} | options
    state.project("wanted", chosen)
    st.selectbox(
        "What is looked for",
        list(options),
        list(options).index(chosen),
        format_func=options.get,
        key="wanted",
        on_change=_chosen,
    )
    with st.container(key="quiet_wanted"):
        st.button(
            "Clear the passage",
            key="clear_passage",
            type="tertiary",
            disabled=not view.passage,
            on_click=_cleared,
        )


def choices(view: View, trace: Trace, index: Index, items: Sequence[Item]) -> dict[str, str]:
    """What can be looked for, as ``diagnosing.chosen`` names it, with a label for each."""
    found: dict[str, str] = {}
    if view.passage.strip():
        found[PASSAGE] = LABELS[PASSAGE]
    if view.chunk:
        name = (
            chunk_name(index, view.chunk) if index.holds(view.chunk) else "not in these documents"
        )
        found[CHUNK] = f"{LABELS[CHUNK]}: {name}"
    for number, item in enumerate(items, 1):
        mark = "✓" if item.target.reached(trace.selected) else "✗"
        found[str(number)] = f"{mark} Expected {number}: {item.title}"
    return found


def _pasted() -> None:
    state.change(passage=st.session_state["passage"].strip(), why="")


def _cleared() -> None:
    state.change(passage="", why="")


def _chosen() -> None:
    what = st.session_state["wanted"]
    state.change(why="" if what == PASSAGE else what)
