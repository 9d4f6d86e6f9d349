"""What a page says where there is nothing to ask: what to do, and the way there."""

from __future__ import annotations

import streamlit as st

from dashboard import say, state, work
from dashboard.link import View
from dashboard.shelf import Shelf


def draw(view: View) -> bool:
    """Says that there are no documents, and how to get some; False, without a word, where there
    are some, or where they are still being read."""
    shelf = work.shelf()
    if shelf is None or shelf.documents:
        return False
    samples = work.samples()
    said = ["There are no documents yet.", "Add PDF, Markdown or text files on the Documents page."]
    if samples is not None:
        said[1] += " Or look at the sample documents first: they come with questions."
    say.note("info", said, key="no_documents")
    with st.container(horizontal=True, vertical_alignment="center", key="quiet_no_documents"):
        state.page_link("Documents", "Add files →")
        if samples is not None:
            st.button(
                "Open the samples",
                key="open_samples",
                type="tertiary",
                on_click=_open,
                args=(samples, view),
            )
    return True


def _open(samples: Shelf, view: View) -> None:
    state.put_shelf(samples)
    if not view.question:
        state.show(work.first_view())
