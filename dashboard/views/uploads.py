"""Adding files: choose, say who may read them, read them in the background."""

from __future__ import annotations

import streamlit as st

from core.ingest import Source
from core.ingest.source import SUFFIXES
from dashboard import say, state, waiting, work
from dashboard.jobs import Job
from dashboard.shelf import Shelf


def draw(shelf: Shelf) -> None:
    """The form, the progress of files being read, and what could not be read."""
    with (
        st.expander("Add files", expanded=True, key="add_box"),
        st.form("add_files", clear_on_submit=True, border=False),
    ):
        st.file_uploader(
            "PDF, Markdown or text files",
            type=[s.lstrip(".") for s in SUFFIXES],
            accept_multiple_files=True,
            key="upload",
        )
        tenant, roles, labels, password = st.columns(4)
        tenant.text_input(
            "Tenant", key="upload_tenant", placeholder="everyone", help="Whose it is."
        )
        roles.text_input(
            "Roles",
            key="upload_roles",
            placeholder="any",
            help="One of them is needed to see it. Separate by commas.",
        )
        labels.text_input(
            "Labels",
            key="upload_labels",
            placeholder="none",
            help="All of them are needed to see it. Separate by commas.",
        )
        password.text_input(
            "Password",
            type="password",
            key="upload_password",
            placeholder="for locked PDFs",
            help="Opens PDFs that are locked; it is not kept.",
        )
        st.form_submit_button("Add", on_click=_add, type="primary")
    job = work.reading()
    if job is not None:
        _reading(job, waiting.now())
    if shelf.problems:
        with st.container(horizontal=True, vertical_alignment="center", key="file_problems"):
            say.note("error", shelf.problems, key="files")
            st.button("Dismiss", key="dismiss_files", type="tertiary", on_click=_dismiss)
    samples = work.samples_among(shelf)
    if samples:
        with st.container(horizontal=True, vertical_alignment="center", key="quiet_samples"):
            beside = f"{len(samples)} sample documents are searched together with your own."
            st.text(beside, width="content")
            st.button(
                "Remove the samples",
                key="remove_samples",
                type="tertiary",
                on_click=_remove_samples,
                args=(samples,),
            )


@st.fragment(run_every=0.5)
def _reading(job: Job, drawn: float) -> None:
    if job.finished:
        waiting.draw_again(drawn)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{job.described()} …")
        st.progress(job.share)
        st.button("Stop", key="stop_reading", on_click=job.stop)


def _add() -> None:
    uploads = st.session_state["upload"] or []
    metadata = access_metadata(
        st.session_state["upload_tenant"],
        st.session_state["upload_roles"],
        st.session_state["upload_labels"],
    )
    password = st.session_state["upload_password"] or None
    if uploads:
        work.add(distinct([Source(u.name, u.getvalue(), metadata, password) for u in uploads]))


def access_metadata(tenant: str, roles: str, labels: str) -> dict[str, object]:
    """What a source needs to know of who may read it; empty fields say nothing, so that
    the file's own front matter holds."""
    given = {
        "tenant": tenant.strip(),
        "roles": [r.strip() for r in roles.split(",") if r.strip()],
        "labels": [x.strip() for x in labels.split(",") if x.strip()],
    }
    return {name: value for name, value in given.items() if value}


def distinct(sources: list[Source]) -> list[Source]:
    """The sources under names of their own: a name that comes twice is numbered."""
    seen: dict[str, int] = {}
    out = []
    for source in sources:
        seen[source.name] = count = seen.get(source.name, 0) + 1
        name = source.name if count == 1 else f"{source.name} ({count})"
        out.append(Source(name, source.data, source.metadata, source.password))
    return out


def _remove_samples(ids: frozenset[str]) -> None:
    shelf = work.shelf()
    if shelf is not None:
        state.put_shelf(shelf.without(ids))
        # A sample question is of no use without the samples.
        state.change(question="", chunk="", evidence=())


def _dismiss() -> None:
    shelf = work.shelf()
    if shelf is not None:
        state.put_problems(shelf, ())
