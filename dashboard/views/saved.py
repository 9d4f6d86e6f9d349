"""Saved traces: kept in this session by name, opened, renamed, taken away as files, read from files."""

from __future__ import annotations

import hashlib

import streamlit as st

from core.errors import TraceFormatError
from core.text_files import NotText
from core.trace import Trace
from core.words import counted
from dashboard import saved, say, state
from dashboard.views import difference

LARGEST_MB = 50

FORMS_HELP = (
    "A trace that Chunkscope exported; ranked lists per stage of another pipeline "
    "(docs/import.md); or spans of OpenTelemetry with OpenInference's attributes, as JSON or a "
    "JSON object a line."
)


def draw(trace: Trace | None) -> None:
    """The list of saved traces, with what saves ``trace``, the current one, and what reads files."""
    held = saved.kept()
    with st.expander(
        f"Saved traces ({len(held)})", expanded=bool(held) or trace is None, key="saved_traces"
    ):
        for name, one in held.items():
            _row(name, one)
        with st.container(key="split_saved"):
            left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
        with left:
            if trace is not None:
                save(trace)
        with right:
            upload("saved_upload")


def _row(name: str, trace: Trace) -> None:
    mark = hashlib.sha1(name.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    opened = state.saved_trace()
    with st.container(horizontal=True, vertical_alignment="center", key=f"saved_row_{mark}"):
        st.text_input(
            "Name",
            name,
            key=f"saved_name_{mark}",
            max_chars=saved.LONGEST,
            label_visibility="collapsed",
            on_change=_rename,
            args=(name, f"saved_name_{mark}"),
            width=240,
        )
        st.text(what(trace), width="stretch")
        with st.container(horizontal=True, gap="xsmall", width="content"):
            st.button(
                "Open",
                key=f"saved_open_{mark}",
                disabled=opened is not None and opened[1] is trace,
                help="Shows it on all pages, in place of the live trace.",
                on_click=state.open_trace,
                args=(name, trace),
            )
            st.download_button(
                "Download",
                lambda: trace.to_json(indent=1),
                file_name=f"{file_stem(name)}.json",
                mime="application/json",
                on_click="ignore",
                key=f"saved_download_{mark}",
            )
            st.button("Remove", key=f"saved_remove_{mark}", on_click=_remove, args=(name,))


def what(trace: Trace) -> str:
    """What a trace is, in one line: its pipeline or mode, its passages and its question."""
    asked = " ".join(trace.question.split())
    asked = asked if len(asked) <= 90 else asked[:89] + "…"
    who = f"imported from {trace.origin}" if trace.origin else trace.mode
    return f"{who} · {counted(len(trace.selected), 'passage')} · {asked}"


def file_stem(name: str) -> str:
    """A saved trace's name as that of a file."""
    plain = "".join(c if c.isalnum() or c in "-_. " else "_" for c in name).strip(" .")
    return plain.removesuffix(".json")[:60] or "trace"


def save(trace: Trace) -> None:
    """A field and a button that save a trace in this session."""
    with (
        st.form("save_trace", clear_on_submit=True, border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input(
            "Save the current trace as",
            key="save_name",
            max_chars=saved.LONGEST,
            placeholder="a name, such as: before the change",
            width="stretch",
        )
        st.form_submit_button("Save", on_click=_save, args=(trace,))
    if said := st.session_state.get("save_done", ""):
        say.note("good", said, key="save_done")


def upload(key: str, *, show: bool = False) -> None:
    """What reads traces from a file. ``show`` opens the first one."""
    st.file_uploader(
        "Open a saved or foreign trace",
        type=["json", "jsonl"],
        key=key,
        on_change=_read,
        args=(key, show),
        max_upload_size=LARGEST_MB,
        help=FORMS_HELP,
    )
    if problem := st.session_state.get(f"{key}_problem", ""):
        say.note("error", problem, key=key)
    if said := st.session_state.get(f"{key}_done", ""):
        say.note("good", said, key=f"{key}_done")


def _forget(*keys: str) -> None:
    """Takes back what was said of the last thing that was done."""
    for key in keys:
        st.session_state.pop(key, None)


def _save(trace: Trace) -> None:
    name = saved.keep(st.session_state["save_name"], trace)
    st.session_state["save_done"] = f"Saved as {name}, for as long as this session lasts."


def _rename(name: str, key: str) -> None:
    trace = saved.kept().get(name)
    new = saved.rename(name, st.session_state[key])
    opened = state.saved_trace()
    if trace is not None and opened is not None and opened[1] is trace:
        state.open_trace(new, trace)


def _remove(name: str) -> None:
    _forget("save_done", "saved_upload_done", "open_trace_done")
    saved.remove(name)


def _read(key: str, show: bool) -> None:
    uploaded = st.session_state[key]
    _forget(f"{key}_problem", f"{key}_done")
    if uploaded is None:
        return
    try:
        names = saved.take_in(uploaded.name, uploaded.getvalue())
    except NotText as error:
        st.session_state[f"{key}_problem"] = f"{uploaded.name}: {error.problem}. {error.remedy}"
        return
    except TraceFormatError as error:
        st.session_state[f"{key}_problem"] = f"{uploaded.name}: {error}"
        return
    difference.choose_first(names[0])
    if show:
        state.open_trace(names[0], saved.kept()[names[0]])
    many = f"{len(names)} traces are" if len(names) > 1 else f"{names[0]} is"
    st.session_state[f"{key}_done"] = f"{many} among the saved ones now."
