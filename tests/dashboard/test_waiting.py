"""A page never stays without the rest of a result that came while it was drawn."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import waiting

ENDS_MEANWHILE = '''
import streamlit as st
from dashboard import waiting
from dashboard.jobs import Board, Job

class EndsMeanwhile(Job):
    """It gives its last value just after the page has looked."""

    def so_far(self):
        seen = super().so_far()
        if not self.finished:
            self._run()
        return seen

def work(job):
    return "whole"

job = st.session_state.setdefault("job", EndsMeanwhile("key", work))
job.part = job.part or {part!r}
if {whole}:
    found = waiting.result(job, Board(), "it"), True
else:
    found = waiting.part(job, Board(), "it")
    if found is not None and not found[1]:
        waiting.more(job, Board(), "it", found[0])
st.text(f"shown: {{found}}")
'''


@pytest.mark.parametrize(("part", "whole"), [(None, True), (None, False), ("a part", False)])
def test_the_page_that_saw_the_moment_before_is_drawn_again(part, whole: bool) -> None:
    at = AppTest.from_string(ENDS_MEANWHILE.format(part=part, whole=whole)).run()
    assert not at.exception
    assert "whole" not in at.text[-1].value
    assert [b.label for b in at.button] == ["Stop"], "no fragment here would draw it again"
    at.run()
    assert "whole" in at.text[-1].value


CLICKED_MEANWHILE = """
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from dashboard import waiting
from dashboard.jobs import Board, Job

def click():
    ctx = get_script_run_ctx()
    other = next(p._script_hash for p in pages if p.title == "Other")
    ctx.script_requests.request_rerun(RerunData(page_script_hash=other))

def at():
    # The page was drawn long ago; while the fragment looks at its clock, the person clicks.
    times.append(len(times) * 100.0)
    if len(times) == 2:
        click()
    return times[-1]

def first():
    st.text("first page")
    waiting.quietly(job, "still at it")

def other():
    st.text("other page")

times, waiting.now = [], at
job = Job("key", lambda job: "whole")
job._run()
pages = [st.Page(first, title="First", default=True), st.Page(other, title="Other")]
st.navigation(pages).run()
"""


def test_a_click_on_another_page_is_not_undone_by_a_fragment_that_draws_again(monkeypatch) -> None:
    monkeypatch.setattr(waiting, "now", waiting.now)  # the script replaces it
    at = AppTest.from_string(CLICKED_MEANWHILE).run()
    assert not at.exception
    assert [t.value for t in at.text] == ["other page"]
