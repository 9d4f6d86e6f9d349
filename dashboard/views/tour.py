"""The tour: sample questions, each with what it shows, one click away."""

from __future__ import annotations

import streamlit as st

from dashboard import say, state, work
from dashboard.link import View
from dashboard.tour import stop_for


def draw(view: View) -> None:
    """The picker, where the app was started on the sample documents."""
    stops = work.stops()
    if not stops:
        return
    by_id = {s.id: s for s in stops}
    here = stop_for(stops, view)
    chosen = here.id if here else None
    if chosen or st.session_state.get("tour"):
        state.project("tour", chosen)
    with st.container(key="tour_bar", gap="xxsmall"):
        st.pills(
            "Tour: each sample question shows one thing. A click loads it.",
            list(by_id),
            format_func=lambda name: say.escaped(by_id[name].title),
            key="tour",
            on_change=_go,
            wrap=False,
        )
        with st.container(key="quiet_tour"):
            st.text(here.note if here else "Each loads its question, mode and knobs.")


def _go() -> None:
    chosen = st.session_state["tour"]
    for stop in work.stops():
        if stop.id == chosen:
            state.show(stop.view)
