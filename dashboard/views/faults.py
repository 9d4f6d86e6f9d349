"""What a trace shows by itself: each fault with its evidence, and the way to its knob."""

from __future__ import annotations

import streamlit as st

from core.diagnosis import Fault
from core.diagnosis.grid import MODE
from core.diagnosis.naming import chunk_name
from core.index.index import Index
from dashboard import knobs, say, sidebar, state, waiting
from dashboard.jobs import Job
from dashboard.tables.verdict import knob_title

CHUNKS = 4
"""Chunks of a fault that get a button."""


def draw(job: Job, index: Index) -> None:
    """The faults found so far."""
    say.heading("What else this trace shows")
    found, whole = job.so_far()
    if found == () and whole:
        st.text("No general fault was found.")
    for fault in found or ():
        _fault(fault, index)
    with st.container(key="quiet_faults"):
        if not whole:
            waiting.more(job, state.board(), "faults", found)


def _fault(fault: Fault, index: Index) -> None:
    with st.container(border=True, key=f"fault_{fault.name}"):
        with st.container(key=f"strong_fault_{fault.name}"):
            st.text(fault.title)
        st.text(fault.sentence)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if fault.knob:
                st.button(
                    f"Knob: {where(fault.knob)}",
                    key=f"aim_{fault.name}",
                    on_click=sidebar.aim,
                    args=(fault.knob,),
                    disabled=fault.knob == MODE,
                    help="Opens its group in the sidebar, and outlines it.",
                )
            for chunk in [c for c in fault.chunks if index.holds(c)][:CHUNKS]:
                st.button(
                    say.escaped(chunk_name(index, chunk)),
                    key=f"fault_{fault.name}_{chunk}",
                    type="tertiary",
                    on_click=_show,
                    args=(chunk,),
                    help="Asks why this chunk is missing.",
                )


def where(knob: str) -> str:
    """``Candidates, under First stage``; the mode stands at the top of the page."""
    if knob == MODE:
        return "Mode, at the top of the page"
    group = next(g for g, members in knobs.grouped().items() if knob in {k.name for k in members})
    return f"{knob_title(knob)}, under {knobs.GROUP_TITLES.get(group, group)}"


def _show(chunk: str) -> None:
    state.change(chunk=chunk, why="chunk")
