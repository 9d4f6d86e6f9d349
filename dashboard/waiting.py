"""What stands in a result's place until it is there."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import say
from dashboard.jobs import DONE, FAILED, STOPPED, Board, Job

POLL = 0.4
"""Seconds between looks at a job under way."""


def result(
    job: Job, board: Board, name: str, *, height: int = 400, names: bool = True
) -> Any | None:
    """The job's result; None after drawing why there is none, in a box of ``height`` pixels.

    The box is as high as what will replace it, so that nothing on the page moves. Without
    ``names`` no file is named.
    """
    if job.state == DONE:
        return job.result
    with st.container(height=height, border=True, key=f"waiting_{name}"):
        if job.state == FAILED:
            say.failure(job.error, key=name)
            st.button("Try again", key=f"again_{name}", on_click=board.forget, args=(name,))
        elif job.state == STOPPED:
            say.note("info", "This was stopped before it was done.", key=name)
            st.button("Start again", key=f"again_{name}", on_click=board.forget, args=(name,))
        else:
            _progress(job, name, names)
    return None


@st.fragment(run_every=POLL)
def _progress(job: Job, name: str, names: bool) -> None:
    if job.finished:
        st.rerun()
    st.text(f"{job.described(names=names)} …")
    st.progress(job.share)
    st.button("Stop", key=f"stop_{name}", on_click=job.stop)
