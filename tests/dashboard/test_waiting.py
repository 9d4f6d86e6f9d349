"""A page never stays without the rest of a result that came while it was drawn."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

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
