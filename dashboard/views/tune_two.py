"""Two knobs at once, as a map of what comes of them."""

from __future__ import annotations

import streamlit as st

from core.index.index import Index
from core.sweep import Map
from dashboard import charts, figures, state, sweeping, sweeps, undo, waiting, work
from dashboard.link import View
from dashboard.tables.verdict import knob_title, turned

HEIGHT = 420
MAP = "tune_map"
"""Where the session keeps the map on the page, for its clicks."""

MEASURES = {
    "tokens": ("Evidence tokens", "evidence tokens"),
    "passages": ("Passages", "passages in the prompt"),
    "evidence": ("Expected chunks", "expected chunks in the prompt"),
}
"""What a cell can show: the choice's label, and the number's unit."""


def draw(view: View, index: Index, pair: tuple[str, str], evidence: tuple[str, ...]) -> None:
    """The map of a pair of knobs: the first downwards, the second across."""
    job = sweeping.mapped(view, index, pair)
    found: Map | None = waiting.result(job, state.board(), "map", height=HEIGHT)
    if found is None:
        return
    state.session()[MAP] = found
    options = [m for m in MEASURES if m != "evidence" or evidence]
    measure = st.segmented_control(
        "Show",
        options,
        format_func=lambda m: MEASURES[m][0],
        default=options[-1],
        required=True,
        key=f"tune_measure_{len(options)}",
        persist_state="session",
    )
    unit = MEASURES[measure][1]
    if measure == "evidence":
        unit = f"of {len(evidence)} {unit}"
    charts.draw(
        figures.knob_map(
            found,
            sweeps.measured(found, measure, evidence),
            (undo.value(pair[0]), undo.value(pair[1])),
            titles=(knob_title(pair[0]), knob_title(pair[1])),
            unit=unit,
            most=len(evidence) if measure == "evidence" else None,
            theme=work.theme(),
        ),
        key="knob_map",
        on_select=_clicked,
        selection_mode="points",
        alt=f"A cell a pair of values: {unit}",
    )
    with st.container(key="quiet_map_note"):
        st.text(
            "A click on a cell sets both knobs. The grid is coarse: what changes between two of "
            "its values is on the map of one knob."
        )


def _clicked() -> None:
    found: Map | None = state.session().get(MAP)
    for point in st.session_state["knob_map"].selection.points:
        cell = point.get("customdata")
        if found is None or not isinstance(cell, (list, tuple)) or len(cell) != 2:
            continue
        values = {
            found.knobs[0]: found.down[int(cell[0])],
            found.knobs[1]: found.across[int(cell[1])],
        }
        new = {k: v for k, v in values.items() if v != undo.value(k)}
        if new:
            said = ["{} {} → {}".format(*turned(k, undo.value(k), v)) for k, v in new.items()]
            undo.apply(new, " and ".join(said))
        return
