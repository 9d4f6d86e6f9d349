"""What stands in a result's place until it is there."""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

from dashboard import say
from dashboard.jobs import FAILED, STOPPED, Board, Job

POLL = 0.4
"""Seconds between looks at a job under way."""


def result(
    job: Job, board: Board, name: str, *, height: int = 400, names: bool = True
) -> Any | None:
    """The job's result; None after drawing why there is none, in a box of ``height`` pixels.

    The box is as high as what will replace it, so that nothing on the page moves. Without
    ``names`` no file is named.
    """
    found, whole = job.so_far()
    if whole:
        return found
    box(job, board, name, height=height, names=names)
    return None


def part(job: Job, board: Board, name: str, *, height: int = 400) -> tuple[Any, bool] | None:
    """What the job has by now, and whether that is all of it; None after drawing why there is
    nothing yet, as :func:`result` does."""
    found, whole = job.so_far()
    if found is not None or whole:
        return found, whole
    box(job, board, name, height=height)
    return None


def box(job: Job, board: Board, name: str, *, height: int = 400, names: bool = True) -> None:
    """How far the job is, or why it gives nothing; for a page that shows no result of it."""
    with st.container(height=height, border=True, key=f"waiting_{name}"):
        if job.state == FAILED:
            say.failure(job.error, key=name)
            st.button("Try again", key=f"again_{name}", on_click=board.forget, args=(name,))
        elif job.state == STOPPED:
            say.note("info", "This was stopped before it was done.", key=name)
            st.button("Start again", key=f"again_{name}", on_click=board.forget, args=(name,))
        else:
            _progress(job, name, names, now())


def more(job: Job, board: Board, name: str, seen: Any) -> None:
    """One line while the rest of the job's result is computed; draws the page again when there
    is more. ``seen`` is the part on the page, as :meth:`Job.so_far` gave it with False."""
    if job.state == FAILED:
        say.failure(job.error, key=name)
    if job.failed:
        st.button("Go on", key=f"again_{name}", on_click=board.forget, args=(name,))
    else:
        _more(job, name, seen, now())


def quietly(job: Job, said: str) -> None:
    """A few words until the job is done, where nothing else has to be told."""
    _quietly(job, said, now())


def now() -> float:
    """When a fragment is drawn, for :func:`draw_again`."""
    return time.monotonic()


def draw_again(drawn: float) -> None:
    """Draws the page again, from a fragment that was first ``drawn`` at that time.

    Not in the page's own run: what that run sent so far would be replaced on its way, and
    with it the values that it gave to widgets. And not over a click on another page that came
    while the fragment ran: a rerun asked for now would be one of the page that was left.
    """
    if now() - drawn > POLL / 2:
        st.empty()  # where anything is drawn, a run that was asked for takes over
        st.rerun()


@st.fragment(run_every=POLL)
def _quietly(job: Job, said: str, drawn: float) -> None:
    if job.finished:
        draw_again(drawn)
    st.text(said)


@st.fragment(run_every=POLL)
def _more(job: Job, name: str, seen: Any, drawn: float) -> None:
    if job.finished or job.so_far()[0] is not seen:
        draw_again(drawn)
    with st.container(horizontal=True, vertical_alignment="center", key=f"more_{name}"):
        st.text(f"{job.described()} …", width="content")
        st.progress(job.share, width=220)
        st.button("Stop", key=f"stop_{name}", on_click=job.stop, type="tertiary")


@st.fragment(run_every=POLL)
def _progress(job: Job, name: str, names: bool, drawn: float) -> None:
    if job.finished:
        draw_again(drawn)
    st.text(f"{job.described(names=names)} …")
    st.progress(job.share)
    st.button("Stop", key=f"stop_{name}", on_click=job.stop)
