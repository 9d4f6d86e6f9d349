"""The Tune page: what becomes of each chunk along a knob's whole range, or of two knobs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

from core.diagnosis.grid import MODE
from core.diagnosis.naming import chunk_name
from core.index.index import Index
from core.settings import knob_named
from core.sweep import Sweep
from core.trace import Trace
from dashboard import (
    charts,
    columns,
    figures,
    knobs,
    row_choice,
    say,
    state,
    sweeping,
    sweeps,
    tables,
    undo,
    waiting,
    work,
)
from dashboard.chunks import Shown, find
from dashboard.link import SWEPT, View
from dashboard.tables.verdict import knob_title, knob_value, turned
from dashboard.views import tune_two

HEIGHT = 600
FIRST = "extend_threshold"
"""The knob that the page opens on."""

COLUMNS = "tune_columns"
"""Where the session keeps the columns on the page, for its clicks."""


def draw() -> None:
    """The page, for the view's question and the knob that is looked at."""
    if state.saved_trace() is not None:
        said = "A saved trace cannot be run again. Go back to live to turn knobs."
        say.note("info", said, key="saved")
        return
    view = state.view()
    if not view.question:
        say.note("info", "Ask a question above to see what each knob does to it.", key="empty")
        return
    knob = view.knob or FIRST
    _choose(view, knob)
    trace = work.trace(view, height=HEIGHT)
    index = work.built_index(view)
    if trace is None or index is None:
        return
    _now(view, trace, knob)
    evidence = work.evidence(view)
    if view.second and view.second != knob:
        tune_two.draw(view, index, (knob, view.second), evidence)
    else:
        _one(view, trace, index, knob, evidence)


def _choose(view: View, knob: str) -> None:
    """Which knob, and which other one. The choice is in the link."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="tune_bar"):
        _select("Knob", list(SWEPT), knob, "tune_knob", _knob_chosen)
        others = ["", *(k for k in SWEPT if k != knob)]
        second = view.second if view.second in others else ""
        _select("and a second one", others, second, "tune_second", _second_chosen)


def _select(label: str, names: list[str], chosen: str, key: str, changed: Any) -> None:
    state.project(key, chosen)
    st.selectbox(
        label,
        names,
        names.index(chosen),
        format_func=_titled,
        key=key,
        on_change=changed,
        width=330,
    )


def _titled(knob: str) -> str:
    if not knob:
        return "None"
    if knob == MODE:
        return "Mode"
    group = knob_named(knob).group
    return f"{knobs.GROUP_TITLES.get(group, group)}: {knob_title(knob)}"


def _knob_chosen() -> None:
    state.change(knob=st.session_state["tune_knob"])


def _second_chosen() -> None:
    state.change(second=st.session_state["tune_second"])


def _now(view: View, trace: Trace, knob: str) -> None:
    """The values now, and why a knob changes nothing where it does not."""
    said = [f"{knob_title(k)}: {knob_value(k, undo.value(k))}" for k in (knob, view.second) if k]
    used = f"{len(trace.selected)} passages, {trace.ledger.evidence:,} evidence tokens"
    with st.container(horizontal=True, vertical_alignment="center", key="quiet_tune"):
        st.text(f"Now {', '.join(said)}: {used}.", width="content")
        if undo.last() is not None:
            st.button("Undo", key="undo", on_click=undo.undo, type="tertiary")
    for name in (knob, view.second):
        if name and name != MODE:
            idle = knobs.idle_reason(knob_named(name), view.mode, view.settings)
            if idle:
                said = f"{knob_title(name)} changes nothing now. {idle}"
                say.note("info", said, key=f"idle_{name}")


def _one(view: View, trace: Trace, index: Index, knob: str, evidence: tuple[str, ...]) -> None:
    job = sweeping.swept(view, index, knob)
    found: Sweep | None = waiting.result(job, state.board(), "sweep", height=HEIGHT)
    if found is None:
        return
    marked = [c for c in dict.fromkeys([*evidence, view.chunk]) if c and index.holds(c)]
    rows = sweeps.rows(found, undo.value(knob), marked, corpus=len(index.chunks))
    cols = sweeps.columns(found, rows.chunks)
    state.session()[COLUMNS] = knob, cols
    now = sweeps.column_at(cols, undo.value(knob))
    chunks = shown_chunks(trace, index, rows.chunks)
    if not rows.chunks:
        say.note("info", "No chunk is a candidate at any value of this knob.", key="no_rows")
        return
    charts.draw(
        figures.sweep_map(
            found,
            cols,
            rows.chunks,
            now,
            chunks,
            unit=f"{knob_title(knob)}, from this value on" if _number(knob) else knob_title(knob),
            value=knob_value(knob, undo.value(knob), unit=False),
            selected=view.chunk,
            evidence=evidence,
            theme=work.theme(),
        ),
        key="sweep",
        on_select=_cell_clicked,
        selection_mode="points",
        alt="A row a chunk, a column a value of the knob, the colour and glyph its fate there",
    )
    with st.container(key="quiet_rows"):
        st.text(told(found, rows))
    _changes(knob, cols, now, index, evidence)


def told(found: Sweep, rows: sweeps.Rows) -> str:
    """What the picture shows and leaves out."""
    said = [f"A click on a cell sets the knob there and selects the chunk. {found.runs:,} runs."]
    if not found.exact:
        loose = sum(not c.exact for c in found.changes)
        said.append(f"{loose:,} of {len(found.changes):,} changes are found to within a few steps.")
    return " ".join([*said, rows.sentence]).strip()


def _number(knob: str) -> bool:
    return knob != MODE and knob_named(knob).kind in (int, float)


def shown_chunks(trace: Trace, index: Index, ids: tuple[str, ...]) -> dict[str, Shown]:
    """The chunks by id, as far as the principal may see them."""
    found = {c: find(trace, index, c) for c in ids}
    return {c: one for c, one in found.items() if one is not None}


def _cell_clicked() -> None:
    for point in st.session_state["sweep"].selection.points:
        cell = point.get("customdata")
        if isinstance(cell, (list, tuple)) and len(cell) == 2:
            _put(int(cell[1]), str(cell[0]))
            return


def _put(column: int, chunk: str = "") -> None:
    """Sets the knob to the nearest value of a column, and selects a chunk."""
    knob, cols = state.session().get(COLUMNS, ("", ()))
    if column >= len(cols):
        return
    if chunk:
        state.change(chunk=chunk)
    value, before = cols[column].nearest(undo.value(knob)), undo.value(knob)
    if value != before:
        undo.apply({knob: value}, "{} {} → {}".format(*turned(knob, before, value)))


def _changes(
    knob: str,
    cols: tuple[sweeps.Column, ...],
    now: int,
    index: Index,
    evidence: tuple[str, ...],
) -> None:
    """Every value at which something changes, of a choice every value against the one now; a
    click sets the knob to it."""
    words = not _number(knob)
    say.heading(
        "Every value against the one now" if words else "Every value at which something changes"
    )
    known = {c for col in cols for c in col.setting.fates}
    names = place_names(index, known)
    frame = tables.changes_table(knob, cols, names, evidence, now if words else None)
    ids = [str(i) for i in frame.index]
    st.dataframe(
        frame,
        on_select=_change_clicked,
        height=320,
        column_config=columns.layout(frame),
        **row_choice.choose("sweep_changes", ids, str(now)),
        alt="A row a value at which the fate of some chunk changes",
    )


def place_names(index: Index, chunks: Collection[str]) -> dict[str, str]:
    """``chunk 12, page 3``, and after it the document where the chunks are of several: a long
    name ahead of it would leave a cell with nothing else to read."""
    held = [c for c in chunks if index.holds(c)]
    several = len({c.rpartition(":")[0] for c in held}) > 1
    names = {}
    for c in held:
        place = chunk_name(index, c, beside=c)
        document = index.document(c.rpartition(":")[0]).name
        names[c] = f"{place} of {document}" if several else place
    return names


def _change_clicked() -> None:
    knob, cols = state.session().get(COLUMNS, ("", ()))
    now = str(sweeps.column_at(cols, undo.value(knob))) if cols else ""
    if chosen := row_choice.clicked("sweep_changes", now):
        _put(int(chosen))
