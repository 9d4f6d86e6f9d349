"""Why something is missing from a trace that has no documents here: what it records of it."""

from __future__ import annotations

import streamlit as st

from core.diagnosis.recorded import RecordedVerdict, recorded_answer
from core.trace import Trace
from dashboard import columns, say, tables
from dashboard.link import PASSAGE_LIMIT
from dashboard.palette import fate_look

CARDS = 8
"""Chunks that hold the passage of which each gets a card."""

HOW = (
    "This trace has no documents here, so only what it records can be told: which list names a "
    "passage last, at which rank, and what dropped it. To try other settings, go back to live."
)


def draw(trace: Trace) -> None:
    """The passage, the verdict, and for each chunk that holds it what each stage did to it."""
    st.text_area(
        "The passage that should have been found",
        key="recorded_passage",
        height=92,
        max_chars=PASSAGE_LIMIT,
        placeholder="Paste it here, then press Ctrl+Enter",
        persist_state="session",
    )
    say.note("info", HOW, key="recorded_how")
    passage = st.session_state.get("recorded_passage", "")
    if not passage.strip():
        return
    answer = recorded_answer(trace, passage)
    arrived = any(v.arrived for v in answer.verdicts)
    say.note("good" if arrived else "warning", [answer.sentence], key="recorded_verdict")
    for number, one in enumerate(answer.verdicts[:CARDS]):
        _card(one, number)
    if len(answer.verdicts) > CARDS:
        st.caption(f"And {len(answer.verdicts) - CARDS:,} chunks more that hold it.")


def _card(one: RecordedVerdict, number: int) -> None:
    with st.container(border=True, key=f"recorded_{number}"):
        part = "" if one.share == 1 else f" · {one.share:.0%} of the passage"
        st.text(f"{fate_look(one.stage).glyph} {one.name}{part}")
        if number:  # the first one's sentence is the verdict's own, just above
            st.text(one.sentence)
        frame = tables.recorded_table(one)
        st.dataframe(
            frame, hide_index=True, height="content", column_config=columns.layout(frame),
            alt="A row a stage: what it did to the chunk, at which rank, with which score",
        )  # fmt: skip
