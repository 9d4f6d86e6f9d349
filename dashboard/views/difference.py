"""Any two traces beside each other: modes, settings, saved and imported ones."""

from __future__ import annotations

import json
from collections.abc import Mapping

import streamlit as st

from core.compare_traces import Difference, difference, join, markdown
from core.modes import MODES
from core.trace import Trace
from core.words import counted
from dashboard import charts, columns, figures, joined, say, state, tables, work
from dashboard.prompt_diff import prompt_diff_html

TABLE_HEIGHT, PROMPT_HEIGHT = 380, 520
FACT_WIDTHS = {"What": 92, "A": 200, "B": 200}
LAST = "last_difference"


def draw(choices: Mapping[str, Trace], first: str, second: str) -> None:
    """The choice of A and B among ``choices``, and their difference."""
    say.heading("Any two traces")
    if len(choices) < 2:
        said = "Save a trace below, or open one from a file, to compare it with another."
        say.note("info", said, key="difference_none")
        return
    with st.container(key="split_difference"):
        one, two = st.columns(2)
    with one:
        a = _choose("A", choices, first, "difference_a")
    with two:
        b = _choose("B", choices, second, "difference_b")
    if choices[a] is choices[b]:
        say.note("info", "A and B are the same trace. Choose another.", key="difference_same")
        return
    _body((a, choices[a]), (b, choices[b]))


def named_choices(
    modes: Mapping[str, Trace], current: str, kept: Mapping[str, Trace], opened: str = ""
) -> dict[str, Trace]:
    """What can be compared, by what it is called: the modes that ran, and the saved traces."""
    found = {mode_name(mode, current): trace for mode, trace in modes.items()}
    for name, trace in kept.items():
        found[f"{name} (open now)" if name == opened else saved_name(name)] = trace
    return found


def saved_name(name: str) -> str:
    """What a saved trace is called among the choices."""
    return f"{name} (saved)"


def choose_first(name: str) -> None:
    """Makes a saved trace A: a person who has just read it from a file wants to look at it."""
    st.session_state["difference_a"] = saved_name(name)


def first_choices(
    choices: Mapping[str, Trace], modes: Mapping[str, Trace], current: str
) -> tuple[str, str]:
    """What A and B are before a person chose: the latest saved trace, or another mode, against
    now."""
    names = list(choices)
    others = names[len(modes) :]
    if not modes:
        return (names[0], names[-1]) if names else ("", "")
    now = mode_name(current, current)
    other = "no_rerank" if current != "no_rerank" else "rerank_extend_rerank"
    return (others[-1] if others else mode_name(other, current)), now


def mode_name(mode: str, current: str) -> str:
    """``Expanded · rerank_extend_rerank (now)``."""
    title = f"{MODES[mode].title} · {mode}" if mode in MODES else mode
    return f"{title} (now)" if mode == current else title


def _choose(label: str, choices: Mapping[str, Trace], default: str, key: str) -> str:
    names = list(choices)
    held = st.session_state.get(key)
    if held is not None and held not in choices:
        del st.session_state[key]  # it was removed or renamed
    return st.selectbox(
        label,
        names,
        index=names.index(default) if default in choices else 0,
        key=key,
        persist_state="session",
    )


def _found(a: tuple[str, Trace], b: tuple[str, Trace]) -> Difference:
    """The difference; the last one is kept, for a page runs again at each click."""
    last = state.session().get(LAST)
    if last is not None and last[0] == (a[0], b[0]) and last[1] is a[1] and last[2] is b[1]:
        return last[3]
    found = difference(a[1], b[1], (a[0], b[0]))
    state.session()[LAST] = ((a[0], b[0]), a[1], b[1], found)
    return found


def _body(a: tuple[str, Trace], b: tuple[str, Trace]) -> None:
    found = _found(a, b)
    if found.notes:
        say.note("info", found.notes, key="difference_notes")
    with st.container(key="split_difference_facts"):
        left, right = st.columns([1, 1.05], gap="medium")
    with left:
        facts = tables.facts_table(found)
        shown = {name: st.column_config.Column(width=w) for name, w in FACT_WIDTHS.items()}
        st.dataframe(facts, hide_index=True, height="content", column_config=shown)
        _settings(found)
        _downloads(found)
    with right:
        _ranks(a, b)
    _chunks(found)
    _prompts(found)


def _ranks(a: tuple[str, Trace], b: tuple[str, Trace]) -> None:
    keys = (f"A: {a[0]}", f"B: {b[0]}")
    names = joined.shared_names(join(a[1], b[1]))
    charts.draw(
        figures.bump_chart(
            dict(zip(keys, (a[1], b[1]), strict=True)),
            joined=dict(zip(keys, names, strict=True)),
            theme=work.theme(),
        ),
        key="difference_bump",
        alt="The rank of each chunk in A and in B, joined by a line",
    )


def counts_line(found: Difference) -> str:
    """How many passages only one of them has, in one line."""
    return (
        f"{counted(len(found.gained), 'passage')} only in B, {len(found.lost)} only in A, "
        f"{len(found.both)} in both."
    )


def _chunks(found: Difference) -> None:
    say.heading("What one prompt has that the other lacks, and why")
    st.caption(counts_line(found))
    frame = tables.difference_table(found)
    if len(frame):
        st.dataframe(
            frame,
            hide_index=True,
            height=TABLE_HEIGHT if len(frame) > 9 else "content",
            column_config=columns.layout(frame),
            alt="A row a chunk of either prompt: its rank in each, or the reason why it is not there",
        )


def _settings(found: Difference) -> None:
    if found.a.origin != found.b.origin:
        return  # the notes say that they are not compared
    if not found.settings:
        st.caption("No setting differs.")
        return
    frame = tables.settings_table(found)
    st.dataframe(frame, hide_index=True, height="content", column_config=columns.layout(frame))


def _prompts(found: Difference) -> None:
    with st.expander("The two prompts, line by line", key="difference_prompts"):
        if not found.prompt:
            st.text("One of the two has no recorded prompt.")
        elif all(line.kind == "same" for line in found.prompt):
            st.text("They are the same.")
        else:
            st.text("A is on the left, B on the right.")
            with st.container(height=PROMPT_HEIGHT, key="difference_lines"):
                st.html(prompt_diff_html(found.prompt))


def _downloads(found: Difference) -> None:
    with st.container(horizontal=True, key="difference_downloads"):
        st.download_button(
            "Report as Markdown",
            lambda: markdown(found),
            file_name="difference.md",
            mime="text/markdown",
            on_click="ignore",
            key="difference_markdown",
        )
        st.download_button(
            "Difference as JSON",
            lambda: json.dumps(found.to_dict(), ensure_ascii=False, indent=1),
            file_name="difference.json",
            mime="application/json",
            on_click="ignore",
            key="difference_json",
        )
