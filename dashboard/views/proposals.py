"""The changes that bring something back, a row each, to apply and to undo."""

from __future__ import annotations

import streamlit as st

from core.diagnosis import Proposal
from core.index.index import Index
from core.trace import Trace
from core.words import counted
from dashboard import (
    columns,
    diagnosing,
    question_sets,
    state,
    tables,
    undo,
    waiting,
    work,
)
from dashboard.diagnosing import PASSAGE, Found
from dashboard.facts_html import facts_html, turns_html
from dashboard.question_sets import QuestionSet
from dashboard.tables.verdict import price, proof, turns

PRICED = "recall_asked"
"""Where the session keeps of which changes the price in recall was asked for."""

PATIENCE = "why_seconds"
"""Where the session keeps for how long a search was asked to go on, by what it looks for."""


def draw(found: Found, index: Index, trace: Trace, what: str) -> None:
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
    by = question_sets.loaded() if tried.proposals else None
    for number, proposal in enumerate(tried.proposals, 1):
        _row(proposal, number, index, trace, by)
    if tried.tried:
        with st.expander(f"What was tried ({tried.runs:,} settings, {tried.seconds:.1f} s)"):
            frame = tables.tried_table(tried)
            st.dataframe(
                frame, hide_index=True, height="content", column_config=columns.layout(frame)
            )


def _row(
    proposal: Proposal, number: int, index: Index, trace: Trace, by: QuestionSet | None
) -> None:
    with st.container(border=True, key=f"proposal_{number}"):
        left, right = st.columns([8, 1], vertical_alignment="center")
    with left:
        facts = [*price(proposal, index), ("✓ Proved", proof(proposal))]
        st.html(turns_html(turns(proposal)) + facts_html(facts))
        _recall(proposal, number, index, trace, by)
    with right:
        st.button(
            "Apply",
            key=f"apply_{number}",
            type="primary",
            on_click=_apply,
            args=(proposal,),
            help="Turns the knobs in the sidebar; Undo turns them back.",
        )


def _recall(
    proposal: Proposal, number: int, index: Index, trace: Trace, by: QuestionSet | None
) -> None:
    """What the change does to recall over the loaded question set, once that is asked for."""
    if by is None:
        return
    view, name = state.view(), f"{diagnosing.RECALL}{number}"
    key = diagnosing.recall_key(view, proposal, by)
    if key not in state.session().get(PRICED, ()):
        st.button(
            "What does it do to recall?",
            key=name,
            type="tertiary",
            on_click=_price,
            args=(key,),
            help=f"Asks {counted(len(by.questions), 'question')} ({by.name}) with this change and "
            "without it.",
        )
        return
    job = diagnosing.recall(view, index, trace, number, proposal, by)
    found, whole = job.so_far()
    if whole:
        none = "No question has evidence in these documents."
        said = found.sentence if found else none
        st.html(facts_html([("Recall", f"{said.removeprefix('Recall ')} By {by.name}.")]))
    else:
        waiting.more(job, state.board(), name, found)


def _price(key: tuple) -> None:
    state.session().setdefault(PRICED, set()).add(key)


def _apply(proposal: Proposal) -> None:
    said = " and ".join(f"{knob} {old} → {new}" for knob, old, new in turns(proposal))
    undo.apply(proposal.changes, said)


def _longer(what: str) -> None:
    kept = state.session().setdefault(PATIENCE, {})
    kept[work.trace_key(state.view()), what] = diagnosing.LONGER
