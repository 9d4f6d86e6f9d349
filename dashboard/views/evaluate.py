"""The Evaluate page: a question set through the modes, and where its evidence was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.errors import SettingsError
from core.evaluate import BUDGETS, RANKED
from core.evaluate.records import CORPUS, DOCUMENT
from core.modes import MODES
from core.settings import Settings, knob_named
from core.words import counted
from dashboard import evaluation, say, state, waiting, work
from dashboard.evaluation import Inputs
from dashboard.figures.several import mode_title
from dashboard.jobs import FAILED
from dashboard.knobs import shown
from dashboard.link import View
from dashboard.views import measured, question_set

if TYPE_CHECKING:
    from core.evaluate.records import Evaluation
    from core.index.index import Index

HEIGHT = 300
OFFERED = (500, 1_000, 2_000, 5_000, 10_000, 20_000)
SCOPES = {CORPUS: "All documents", DOCUMENT: "Its own document"}


def draw() -> None:
    """The page, for the chosen set and the sidebar's settings."""
    if state.saved_trace() is not None:
        say.note("info", "A saved trace holds one question. Go back to live to evaluate.", key="saved")  # fmt: skip
        return
    chosen = question_set.draw()
    # This row breaks where the window is narrow.
    with st.container(horizontal=True, gap="small", key="evaluate_form"):
        modes = st.multiselect(
            "Modes",
            list(MODES),
            default=list(RANKED),
            format_func=mode_title,
            key="evaluate_modes",
            persist_state="session",
            width=580,
        )
        budgets = _budgets()
    view = state.view()
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key="evaluate_how"
    ):
        scope = st.segmented_control(
            "Each question is asked of",
            list(SCOPES),
            format_func=SCOPES.get,
            default=CORPUS,
            required=True,
            key="evaluate_scope",
            persist_state="session",
        )
        include = _set_aside(view.settings)
    _measured_with(view)
    if chosen is None:
        return
    if not modes or not budgets:
        say.note("info", "Choose at least one mode and one budget.", key="evaluate_choice")
        return
    found = work.index(view, height=HEIGHT)
    shelf = work.shelf()
    if found is None or shelf is None:
        return
    inputs = Inputs(
        questions=chosen.questions,
        modes=tuple(m for m in MODES if m in modes),
        budgets=budgets,
        scope=scope or CORPUS,
        settings=evaluation.measured(view.settings, include),
        principal=view.principal,
        documents=shelf.fingerprint,
        models=view.models,
    )
    made = _result(inputs, found, chosen.name)
    if made is not None:
        measured.draw(made, include)


def _budgets() -> tuple[int, ...]:
    given = st.multiselect(
        "Budgets (tokens)",
        [f"{b:,}" for b in OFFERED],
        default=[f"{b:,}" for b in BUDGETS],
        accept_new_options=True,
        key="evaluate_budgets",
        persist_state="session",
        help="How many tokens of chunks may be shown; another number can be typed.",
        width=290,
    )
    good, bad = parsed_budgets(given)
    if bad:
        say.note("warning", f"No number of tokens from 1 to 200,000: {', '.join(bad)}", key="budgets")  # fmt: skip
    return good


def parsed_budgets(given: list[str]) -> tuple[tuple[int, ...], list[str]]:
    """Budgets from what was chosen or typed, in order; and what is none."""
    knob = knob_named("evidence_budget")
    good, bad = set(), []
    for text in given:
        try:
            tokens = knob.check(int(text.replace(",", "").replace("_", "").strip()))
            if tokens < 1:
                raise ValueError
            good.add(tokens)
        except (ValueError, SettingsError):
            bad.append(text[:20])
    return tuple(sorted(good)), bad


def _set_aside(settings: Settings) -> bool:
    """Says which knobs take no part, and returns whether they are to."""
    threshold, method = (shown(knob_named(n), getattr(settings, n)) for n in evaluation.SET_ASIDE)
    return st.toggle(
        "Include the two knobs that the yardstick sets aside: relevance threshold "
        f"({say.escaped(threshold)}) and duplicate removal ({say.escaped(method)})",
        key="evaluate_include",
        persist_state="session",
        help="A threshold decides whether to answer at all, and of two copies a set names one: "
        "so the yardstick sets both aside. With this on they take part as the sidebar has them, "
        "and what they drop is lost at their stage.",
    )


def _measured_with(view: View) -> None:
    """Which of the sidebar's knobs take part, and who asks."""
    own = (*evaluation.SET_ASIDE, *evaluation.REPLACED)
    turned = [name for name in view.settings.differences() if name not in own]
    knobs = f"{counted(len(turned), 'knob')} off default"
    with st.container(key="quiet_settings", gap="xxsmall"):
        st.text(
            f"Measured with the sidebar's settings ({knobs if turned else 'all at their defaults'})"
            "; the budgets here take the place of its evidence budget and model window."
        )
        if view.principal is not None:
            st.text("Evidence that those who ask may not read counts as lost.")


def _result(inputs: Inputs, index: Index, name: str) -> Evaluation | None:
    """What was measured with these inputs, whole or in part; None after drawing why there is
    nothing yet."""
    job = state.board().current(evaluation.NAME)
    running = job is not None and not job.finished
    held = evaluation.runs().get(inputs)  # after that look, so that it holds what the job gave
    mine = job is not None and job.key == inputs.key
    many = counted(len(inputs.modes), "mode")
    size = f"{question_set.many(inputs.questions)} × {many}"
    done = held is not None and held.finished
    with st.container(horizontal=True, vertical_alignment="center", key="run_bar"):
        st.button(
            "Go on" if held is not None and not done else "Run",
            key="evaluate_run",
            type="primary",
            disabled=done or (running and mine),
            on_click=evaluation.start,
            args=(inputs, index),
        )
        st.text(_standing(held, size, running and mine), width="content")
        if running and not mine:
            st.text("Other inputs are being measured; a new run stops that.", width="content")
            st.button("Stop it", key="evaluate_stop_other", type="tertiary", on_click=job.stop)
    if running and mine:
        waiting.box(job, state.board(), evaluation.NAME, height=HEIGHT)
        return None
    if mine and job.state == FAILED:
        say.failure(job.error, key="evaluate_failed")
    return held


def _standing(held: Evaluation | None, size: str, running: bool) -> str:
    if running or held is None:
        return size if running else f"{size}: not measured with these inputs yet."
    if held.finished:
        return f"{size}, measured in {held.seconds:,.1f} s."
    done, of = len(held.common), len(held.measured)
    return f"Stopped after {done:,} of {of:,} questions; the figures below are of those."
