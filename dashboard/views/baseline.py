"""An evaluation beside an earlier one: what got better, what worse, question by question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.errors import EvaluationError
from core.words import counted
from dashboard import charts, figures, say, state, tables, work
from dashboard.figures.recall import in_points
from dashboard.figures.several import mode_title
from dashboard.views import question_list
from dashboard.views.losses import choose

if TYPE_CHECKING:
    from core.evaluate.comparison import Comparison
    from core.evaluate.records import Evaluation

HELD, PROBLEM, LINE = "baseline", "baseline_problem", "baseline_line"
LARGEST_MB = 100


def draw(evaluation: Evaluation, include: bool) -> None:
    """The section: choose an earlier run, then what changed since."""
    from core.evaluate import compare

    say.heading("Beside an earlier run")
    held = state.session().get(HELD)
    with st.container(horizontal=True, vertical_alignment="center", key="baseline_bar"):
        with st.popover("Open a saved run", key="baseline_popover"):
            st.file_uploader(
                "A run that was saved here or by chunkscope eval --save",
                type=["json"],
                key="baseline_file",
                on_change=_open,
                max_upload_size=LARGEST_MB,
            )
        st.button(
            "Compare later runs with this one",
            key="baseline_this",
            on_click=_hold,
            args=(evaluation,),
            help="Then turn a knob, run again, and see what the knob changed.",
        )
        if held is not None:
            st.button("Compare with none", key="baseline_none", type="tertiary", on_click=_drop)
    if problem := st.session_state.get(PROBLEM):
        say.note("error", problem, key="baseline")
    if held is None:
        return
    name, earlier = held
    if earlier is evaluation:
        say.note("info", "This run is the one to compare with. Turn a knob and run again.", key="baseline_same")  # fmt: skip
        return
    try:
        comparison = compare(evaluation, earlier)
    except EvaluationError as error:
        say.failure(error, key="baseline_apart")
        return
    _comparison(evaluation, comparison, name, include)


def _comparison(evaluation: Evaluation, comparison: Comparison, name: str, include: bool) -> None:
    many = counted(comparison.questions, "question")
    with st.container(key="quiet_baseline", gap="xxsmall"):
        st.text(f"Against {name}, over {many} that both have:")
        st.text(" · ".join(tables.changed_lines(comparison)) or "Nothing else is different.")
    with st.container(key="split_baseline"):
        left, right = st.columns(2, gap="medium")
    with left:
        charts.draw(
            figures.change_chart(comparison, theme=work.theme()),
            key="changes",
            on_select=_clicked,
            selection_mode="points",
            alt="Recall now less recall then, by mode and budget, with intervals",
        )
    lines = {f"{x.mode}|{x.budget}": x for x in comparison.lines}
    if st.session_state.get(LINE) not in lines:
        st.session_state[LINE] = next(iter(lines))
    with right:
        choose("Mode and budget", list(lines), LINE, _title)
        line = lines[st.session_state[LINE]]
        items = tables.changed_items(evaluation, line)
        with st.container(key="quiet_line"):
            told = f"{len(line.worse)} worse, {len(line.better)} better: {in_points(line.figure)}"
            st.text(told if items else "No question's recall changed.")
        if items:
            question_list.draw(items, line.mode, line.budget, include, key="changed")


def _title(line: str) -> str:
    mode, _, budget = line.partition("|")
    return f"{mode_title(mode)}, {int(budget):,} tokens"


def _clicked() -> None:
    for point in st.session_state["changes"].selection.points:
        found = point.get("customdata")
        named = found[0] if isinstance(found, list | tuple) else found
        if isinstance(named, str) and "|" in named:
            st.session_state[LINE] = named
            return


def _open() -> None:
    from core.evaluate.files import parse_evaluation

    upload = st.session_state["baseline_file"]
    st.session_state.pop(PROBLEM, None)
    if upload is None:
        return
    try:
        made = parse_evaluation(upload.name, upload.getvalue())
        state.session()[HELD] = (upload.name, made)
    except EvaluationError as error:
        st.session_state[PROBLEM] = str(error)


def _hold(evaluation: Evaluation) -> None:
    state.session()[HELD] = ("the run that was set here", evaluation)


def _drop() -> None:
    state.session().pop(HELD, None)
