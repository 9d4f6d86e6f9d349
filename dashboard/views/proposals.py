"""The changes that bring something back, a row each, to apply and to undo."""

from __future__ import annotations

import streamlit as st

from core.diagnosis import Proposal
from core.index.index import Index
from dashboard import columns, diagnosing, state, tables, undo, work
from dashboard.diagnosing import PASSAGE, Found
from dashboard.facts_html import facts_html, turns_html
from dashboard.tables.verdict import price, proof, turns

PATIENCE = "why_seconds"
"""Where the session keeps for how long a search was asked to go on, by what it looks for."""


def draw(found: Found, index: Index, what: str) -> None:
    """The outcome in a sentence, the changes, and what was tried."""
    tried = found.proposals
    with st.container(horizontal=True, vertical_alignment="center", key="proposals_head"):
        st.text(tried.sentence, width="stretch")
        if tried.needed and not found.verdict.arrived and not tried.complete:
            st.button(
                "Search longer",
                key="search_longer",
                on_click=_longer,
                args=(what,),
                help=f"Up to {diagnosing.LONGER:.0f} seconds.",
            )
    if not tried.needed and st.button("See it in the prompt", key="to_prompt"):
        shown = found.verdict.target.chunk_ids[0]
        state.change(chunk=shown, why="" if what == PASSAGE else what)
        state.go_to("Prompt")
    for number, proposal in enumerate(tried.proposals, 1):
        _row(proposal, number, index)
    if tried.tried:
        with st.expander(f"What was tried ({tried.runs:,} settings, {tried.seconds:.1f} s)"):
            frame = tables.tried_table(tried)
            st.dataframe(
                frame, hide_index=True, height="content", column_config=columns.layout(frame)
            )


def _row(proposal: Proposal, number: int, index: Index) -> None:
    with st.container(border=True, key=f"proposal_{number}"):
        left, right = st.columns([8, 1], vertical_alignment="center")
    with left:
        facts = [*price(proposal, index), ("✓ Proved", proof(proposal))]
        st.html(turns_html(turns(proposal)) + facts_html(facts))
    with right:
        st.button(
            "Apply",
            key=f"apply_{number}",
            type="primary",
            on_click=_apply,
            args=(proposal,),
            help="Turns the knobs in the sidebar; Undo turns them back.",
        )


def _apply(proposal: Proposal) -> None:
    said = " and ".join(f"{knob} {old} → {new}" for knob, old, new in turns(proposal))
    undo.apply(proposal.changes, said)


def _longer(what: str) -> None:
    kept = state.session().setdefault(PATIENCE, {})
    kept[work.trace_key(state.view()), what] = diagnosing.LONGER
