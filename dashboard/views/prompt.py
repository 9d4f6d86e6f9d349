"""The Prompt page: what the model would read, what it costs, and where each passage is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.records import Document
from core.trace import Passage, Trace
from dashboard import charts, columns, figures, row_choice, say, state, tables, work
from dashboard.answers import claims
from dashboard.chunks import place
from dashboard.views import outcome

if TYPE_CHECKING:
    from core.index.index import Index

HEIGHT = 420
BEFORE, AFTER = 300, 900
"""Characters of the document that are shown on each side of a passage."""


def draw() -> None:
    """The page, for the view or for a saved trace."""
    saved = state.saved_trace()
    view = state.view()
    if saved is not None:
        say.note("info", f"From the saved trace {saved[0]}.", key="saved")
        _body(saved[1], (), None)
        return
    if not view.question:
        say.note("info", "Ask a question above to see the prompt it leads to.", key="empty")
        return
    trace = work.trace(view, height=2 * HEIGHT)
    if trace is not None:
        _body(trace, work.evidence(view), work.built_index(view))


def _body(trace: Trace, evidence: tuple[str, ...], index: Index | None) -> None:
    outcome.draw(trace, evidence)
    charts.draw(
        figures.ledger_bar(trace, theme=work.theme()),
        key="ledger",
        alt="The model window: instructions, question, evidence, reserve for the answer",
    )
    with st.container(key="split_prompt"):
        left, right = st.columns([1, 1], gap="medium")
    with left:
        say.heading("Passages, in the order of the prompt")
        passage = _passages(trace)
    with right:
        say.heading("Where it comes from")
        if passage is not None:
            _source(passage, index)
    say.heading("The prompt")
    st.code(trace.prompt, language=None, wrap_lines=True, height=HEIGHT)
    with st.expander("Token ledger", key="ledger_box"):
        ledger = tables.ledger_table(trace)
        st.dataframe(
            ledger, hide_index=True, height="content", column_config=columns.layout(ledger)
        )
        st.caption(f"Counted by {say.escaped(trace.ledger.counter)}.")
    _answer(trace)


def _passages(trace: Trace) -> Passage | None:
    """The table of passages; returns the one whose source is to be shown."""
    if not trace.selected:
        say.note("info", "No passage reached the prompt.", key="no_passage")
        return None
    ids = [p.chunk_id for p in trace.selected]
    chosen = state.view().chunk
    at = ids.index(chosen) if chosen in ids else 0
    frame = tables.selected_table(trace)
    if frame["Trimmed"].any():
        frame["Trimmed"] = frame["Trimmed"].map({True: "✓", False: ""})
    else:
        del frame["Trimmed"]
    st.dataframe(
        frame,
        column_config=columns.layout(frame),
        height=HEIGHT,
        on_select=_passage_clicked,
        alt="The passages of the prompt; choose one to see its source",
        **row_choice.choose("passages", ids, ids[at]),
    )
    return trace.selected[at]


def _passage_clicked() -> None:
    if chosen := row_choice.clicked("passages", state.view().chunk):
        state.change(chunk=chosen)


def _source(passage: Passage, index: Index | None) -> None:
    """The passage in its surroundings; alone where the documents are not at hand."""
    document = index.document(passage.document_id) if index is not None else None
    with st.container(key="strong_source"):
        st.text(passage.citation)
    before, after = around(document, passage)
    with st.container(height=HEIGHT - 40, key="source"):
        if before:
            with st.container(key="quiet_before"):
                st.text(before)
        with st.container(key="passage-source"):
            st.text(passage.text)
        if after:
            with st.container(key="quiet_after"):
                st.text(after)


def around(document: Document | None, passage: Passage) -> tuple[str, str]:
    """What stands before and after a passage, up to ``BEFORE`` and ``AFTER`` characters."""
    if document is None:
        return "", ""
    text, start, end = document.text, passage.start, passage.end
    before = text[max(0, start - BEFORE) : start].strip()
    after = text[end : end + AFTER].strip()
    return (
        ("… " if start > BEFORE else "") + before if before else "",
        after + (" …" if end + AFTER < len(text) else "") if after else "",
    )


def _answer(trace: Trace) -> None:
    with st.expander("Check an answer against its citations", key="answer_box"):
        answer = st.text_area(
            "Paste an answer that cites passages like [1]",
            key="answer",
            height=140,
            max_chars=40_000,
            persist_state="session",
        )
        if not answer.strip():
            return
        by_number = {p.number: p for p in trace.selected}
        rows = [
            {
                "claim": c.text,
                "cites": ", ".join(f"[{n}]" for n in c.numbers) or "nothing",
                "sources": "; ".join(
                    f"{p.document}, {place(p.pages, int(p.chunk_id.rsplit(':', 1)[-1]))}"
                    for n in c.numbers
                    if (p := by_number.get(n)) is not None
                ),
                "problem": c.problem,
            }
            for c in claims(answer, set(by_number))
        ]
        st.dataframe(rows, hide_index=True, height="content", placeholder="")
