"""Where missed evidence was lost: bars, and the questions behind a segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.evaluate.records import DOCUMENT
from dashboard import charts, figures, say, state, tables, work
from dashboard.figures.several import mode_title
from dashboard.palette import LOSSES
from dashboard.views import question_list

if TYPE_CHECKING:
    from core.evaluate.records import Evaluation
    from core.evaluate.summary import Summary

MODE, STAGE = "loss_mode", "loss_stage"


def draw(evaluation: Evaluation, summary: Summary, budget: int, include: bool) -> None:
    """The bars at this budget; beside them the questions of the chosen segment."""
    say.heading("Where the missed evidence was lost")
    pieces = tables.pieces_counted(evaluation)
    lost = {m: [s for s in LOSSES if f.lost[str(budget)].get(s)] for m, f in summary.modes.items()}
    if not any(lost.values()):
        say.note("good", f"No mode lost any of the {pieces:,} pieces of evidence.", key="no_loss")
        return
    mode, stage = _settle(lost)
    with st.container(key="split_losses"):
        left, right = st.columns([1, 1], gap="medium")
    with left:
        charts.draw(
            figures.loss_bars(summary, budget, pieces, theme=work.theme(), chosen=(mode, stage)),
            key="losses",
            on_select=_clicked,
            selection_mode="points",
            alt="A bar a mode: pieces of evidence lost, by the stage that lost them",
        )
        with st.container(key="quiet_losses"):
            st.text(
                "A click on a segment lists its questions. A trace opens with the settings that "
                "were measured and this budget"
                + (", but asks all documents." if evaluation.scope == DOCUMENT else ".")
            )
    with right:
        with st.container(horizontal=True, gap="small", key="loss_bar"):
            choose("Mode", [m for m in lost if lost[m]], MODE, mode_title)
            choose("Lost because", lost[mode], STAGE, lambda s: LOSSES[s].text)
        items = tables.lost_items(evaluation, mode, stage, budget)
        question_list.draw(items, mode, budget, include, key="lost")


def _settle(lost: dict[str, list[str]]) -> tuple[str, str]:
    """The chosen mode and stage, where they have lost something; else the page's mode, or the
    first, and the stage that is first in it."""
    held = st.session_state
    own = [m for m in (held.get(MODE), state.view().mode, *lost) if lost.get(m)]
    held[MODE] = own[0]
    if held.get(STAGE) not in lost[own[0]]:
        held[STAGE] = lost[own[0]][0]
    return held[MODE], held[STAGE]


def choose(label: str, options: Sequence, key: str, said) -> None:
    """A choice whose value the session holds already."""
    st.selectbox(
        label,
        options,
        options.index(st.session_state[key]),
        format_func=said,
        key=key,
        persist_state="session",
        width=230,
    )


def _clicked() -> None:
    for point in st.session_state["losses"].selection.points:
        found = point.get("customdata")
        named = found[0] if isinstance(found, list | tuple) else found
        mode, bar, stage = str(named).partition("|")
        if bar:
            st.session_state[MODE], st.session_state[STAGE] = mode, stage
            return
