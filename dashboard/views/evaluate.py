"""The Evaluate page: a question set through the modes, and where its evidence was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.errors import SettingsError
from core.evaluate import BUDGETS, RANKED, summarise
from core.evaluate.records import CORPUS, DOCUMENT
from core.modes import MODES
from core.settings import Settings, knob_named
from dashboard import charts, columns, evaluation, figures, say, state, tables, waiting, work
from dashboard.evaluation import Inputs
from dashboard.figures.several import mode_title
from dashboard.jobs import FAILED
from dashboard.knobs import shown
from dashboard.views import baseline, losses, question_set

if TYPE_CHECKING:
    from core.evaluate.records import Evaluation
    from core.evaluate.summary import Summary
    from core.index.index import Index

HEIGHT = 300
OFFERED = (500, 1_000, 2_000, 5_000, 10_000, 20_000)
SCOPES = {CORPUS: "All documents", DOCUMENT: "Its own document"}
BUDGET = "evaluate_budget"


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
            width=520,
        )
        budgets = _budgets()
        scope = st.segmented_control(
            "Each question is asked of",
            list(SCOPES),
            format_func=SCOPES.get,
            default=CORPUS,
            required=True,
            key="evaluate_scope",
            persist_state="session",
        )
    view = state.view()
    include = _set_aside(view.settings)
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
        _figures(made, include)


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
    """Says which knobs take no part; returns whether they are to."""
    threshold, method = (shown(knob_named(n), getattr(settings, n)) for n in evaluation.SET_ASIDE)
    include = st.toggle(
        "Include the two knobs that the yardstick sets aside: relevance threshold "
        f"({say.escaped(threshold)}) and duplicate removal ({say.escaped(method)})",
        key="evaluate_include",
        persist_state="session",
        help="A threshold decides whether to answer at all, and of two copies a set names one: "
        "so the yardstick sets both aside. With this on they take part as the sidebar has them, "
        "and what they drop is lost at their stage.",
    )
    others = {k: v for k, v in settings.differences().items() if k not in evaluation.SET_ASIDE}
    others = {k: v for k, v in others.items() if k not in evaluation.REPLACED}
    with st.container(key="quiet_settings"):
        said = f"{len(others)} knob{'s' * (len(others) != 1)} off default" if others else "all knobs at their defaults"  # fmt: skip
        st.text(
            f"Measured with the sidebar's settings ({said}); the budgets here take the place of "
            "its evidence budget and model window."
        )
    return include


def _result(inputs: Inputs, index: Index, name: str) -> Evaluation | None:
    """What was measured with these inputs, whole or in part; None after drawing why there is
    nothing yet."""
    held, job = evaluation.runs().get(inputs), state.board().current(evaluation.NAME)
    running = job is not None and not job.finished
    mine = job is not None and job.key == inputs.key
    many = f"{len(inputs.modes)} mode{'s' * (len(inputs.modes) != 1)}"
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
        waiting.result(job, state.board(), evaluation.NAME, height=HEIGHT, names=True)
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


def _figures(made: Evaluation, include: bool) -> None:
    if not made.measured:
        say.note("warning", "None of these questions can be measured.", key="none_measured")
        _unmeasured(made)
        return
    if not made.common:
        return
    summary = summarise(made)
    degraded = {f"{mode_title(m)}: {why} ({n} questions)" for m, f in summary.modes.items() for why, n in f.degraded.items()}  # fmt: skip
    say.note("warning", sorted(degraded), key="degraded")
    budget = _budget(made)
    with st.container(key="strong_evaluate"):
        st.text(headline(summary, budget))
    with st.container(key="split_recall"):
        left, right = st.columns([1, 1.5], gap="medium")
    with left:
        charts.draw(
            figures.recall_chart(summary, made.budgets, theme=work.theme()),
            key="recall",
            alt="Recall of each mode at each budget, with its 95 % interval",
        )
    with right:
        frame = tables.recall_table(summary, budget)
        st.dataframe(
            frame,
            hide_index=True,
            height="content",
            column_config=columns.measures(frame),
            alt="A row a mode: recall, interval, time and tokens at the chosen budget",
        )
        with st.container(key="quiet_recall"):
            st.text(
                "Bars in the chart are 95 % intervals. Whether a mode is marked as below the best "
                "goes by the difference question by question, not by whether bars overlap."
            )
        _files(made, summary)
    losses.draw(made, summary, budget, include)
    _unmeasured(made)
    with st.expander("Time by stage", key="latency_box"):
        st.caption("Milliseconds a question, median / 95th percentile. A stage that an earlier mode did already counts as it took then.")  # fmt: skip
        st.dataframe(tables.latency_table(summary), hide_index=True, height="content")
    baseline.draw(made, include)


def _budget(made: Evaluation) -> int:
    options = list(made.budgets)
    if st.session_state.get(BUDGET) not in options:
        st.session_state[BUDGET] = options[0]
    chosen = st.segmented_control(
        "Budget",
        options,
        format_func=lambda b: f"{b:,} tokens",
        default=st.session_state[BUDGET],
        required=True,
        key=BUDGET,
        persist_state="session",
        label_visibility="collapsed",
    )
    return chosen or options[0]


def headline(summary: Summary, budget: int) -> str:
    """Which mode finds most at a budget, and which others cannot be told from it."""
    best = summary.best(budget)
    found = summary.modes[best].recall[str(budget)]
    equal = [mode_title(m) for m in summary.as_good(budget) if m != best]
    said = f"{mode_title(best)} finds {found.mean:.1%} of the evidence within {budget:,} tokens"
    said = said.replace("%", " %")
    if len(summary.modes) == 1:
        return f"{said}."
    if len(equal) + 1 == len(summary.modes):
        return f"{said}; on these {summary.questions:,} questions no mode differs from it by more than chance."  # fmt: skip
    if not equal:
        return f"{said}, more than every other mode."
    return f"{said}; {', '.join(equal)} cannot be told from it."


def _unmeasured(made: Evaluation) -> None:
    """Questions that were skipped, quotes that were not found, pages without text."""
    frame = tables.unmeasured_table(made)
    if frame.empty:
        return
    quotes = sum(len(a.unfound) for a in made.measured)
    pages = sum(len(a.textless) for a in made.measured)
    skipped = sum(bool(a.skipped) for a in made.asked)
    parts = [(skipped, "question", "skipped"), (quotes, "piece of evidence", "not found"), (pages, "page", "without text")]  # fmt: skip
    said = ", ".join(f"{n} {what} {how}" if n == 1 else f"{n} {what.replace('piece', 'pieces') if 'piece' in what else what + 's'} {how}" for n, what, how in parts if n)  # fmt: skip
    with st.expander(f"Not measured: {said}", key="unmeasured_box"):
        st.caption(
            "Quotes that stand in no document and questions without evidence count nowhere as "
            "missed. A page without text was lost at extraction."
        )
        st.dataframe(frame, hide_index=True, height="content", column_config=columns.layout(frame))


def _files(made: Evaluation, summary: Summary) -> None:
    from core.evaluate.table import markdown

    with st.container(horizontal=True, key="run_files"):
        st.download_button(
            "Save this run",
            made.to_json,
            file_name="run.json",
            mime="application/json",
            on_click="ignore",
            key="save_run",
            help="It can be compared with later runs here, and by chunkscope eval --baseline.",
        )
        st.download_button(
            "Table as Markdown",
            lambda: markdown(made, summary, None),
            file_name="evaluation.md",
            mime="text/markdown",
            on_click="ignore",
            key="save_table",
        )
