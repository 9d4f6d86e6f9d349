"""Saved traces and the difference of two: tables, figure, prompt diff, and what the page does."""

from __future__ import annotations

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from core.compare_traces import difference, join, line_diff
from core.interchange import read_traces
from core.trace import Trace
from dashboard import figures, saved, state, tables
from dashboard.joined import JoinedLookup, shared_names
from dashboard.lookup import Lookup
from dashboard.prompt_diff import MOST, prompt_diff_html
from dashboard.views import saved as saved_view
from dashboard.views.difference import first_choices, named_choices
from tests.compare_traces.test_difference import PAIRS
from tests.dashboard.test_app import QUESTION, open_page, settle, started, texts, trace_of  # noqa: F401
from tests.dashboard.traces import HOSTILE, every_mode, small
from tests.interchange.exports import imported, langchain, llama_index
from tests.interchange.test_ranked_lists import example

# pure.


@pytest.mark.parametrize("name", PAIRS)
def test_the_table_has_a_row_for_each_passage_and_a_reason_for_each_gap(name):
    found = difference(*PAIRS[name]())
    frame = tables.difference_table(found)
    assert len(frame) == len(found.gained) + len(found.lost) + len(found.both)
    rows = [*found.gained, *found.lost, *found.both]
    for document, place, row in zip(frame["Document"], frame["Place"], rows, strict=True):
        assert document == row.document
        assert ", ".join(filter(None, (document, place))) == row.name
    apart = frame[frame["In prompt"] != "both"]
    assert apart["Why not in the other"].str.len().gt(0).all()
    only_b = frame[frame["In prompt"] == "only B"]
    assert only_b["B"].str.startswith("rank ").all()
    assert not only_b["A"].str.startswith("rank ").any()
    assert len(tables.facts_table(found)) >= 6 and len(tables.settings_table(found)) == len(
        found.settings
    )


@pytest.mark.parametrize("name", PAIRS)
def test_the_bump_chart_joins_what_the_difference_joins(name):
    a, b = PAIRS[name]()
    names = shared_names(join(a, b))
    drawn = figures.bump_chart(
        {"A": a, "B": b}, joined={"A": names[0], "B": names[1]}, theme="dark"
    )
    dots = {(x, c) for t in drawn.data if t.mode == "markers" and t.customdata is not None
            for x, y, c in zip(t.x, t.y, t.customdata, strict=True) if float(y).is_integer()}  # fmt: skip
    both = {c for x, c in dots if x == 0} & {c for x, c in dots if x == 1}
    found = difference(a, b)
    assert len(both) == len(found.both)
    assert len({c for _, c in dots}) == len(found.both) + len(found.gained) + len(found.lost)
    assert not any("<img" in h for t in drawn.data for h in t.hovertext or ())


def test_a_joined_lookup_says_what_the_plain_one_says():
    one = small()
    names, _ = shared_names(join(one, one))
    lookup, plain = JoinedLookup(one, names), Lookup(one)
    for c in one.chunks:
        assert lookup.fate(names[c.id]) == plain.fate(c.id)
        assert lookup.named(names[c.id]) == plain.named(c.id)
        assert lookup.document(names[c.id]) == plain.document(c.id)
    assert not lookup.known("chunk:999999")


def test_the_prompt_diff_escapes_marks_and_folds():
    same = [f"line {i}" for i in range(40)]
    a, b = "\n".join([*same, HOSTILE]), "\n".join([*same, "other"])
    shown = prompt_diff_html(line_diff(a, b))
    assert "<img" not in shown and "&lt;img" in shown
    assert 'class="line gone"' in shown and 'class="line new"' in shown
    assert "38 equal lines" in shown and "line 39" in shown and "line 20<" not in shown
    long = prompt_diff_html(line_diff("\n".join("ab" * 900), "\n".join("cd" * 900)))
    assert long.count("<span") <= 2 * MOST and "more rows are not shown" in long


def test_names_of_choices_and_which_come_first():
    modes, kept = every_mode(), {"monday": small(), "run": imported(example())}
    choices = named_choices(modes, "no_rerank", kept)
    assert len(choices) == len(modes) + 2 and "Basic · no_rerank (now)" in choices
    assert first_choices(choices, modes, "no_rerank") == ("run (saved)", "Basic · no_rerank (now)")
    alone = named_choices(modes, "no_rerank", {})
    assert first_choices(alone, modes, "no_rerank")[0] == "Expanded · rerank_extend_rerank"
    only = named_choices({}, "", kept, "monday")
    assert list(only) == ["monday (open now)", "run (saved)"]


@pytest.fixture
def session(monkeypatch) -> dict:
    held: dict = {}
    monkeypatch.setattr(state, "session", lambda: held)
    return held


def test_saved_traces_are_kept_renamed_and_removed(session):
    one, two = small(), small("no_rerank")
    assert saved.keep("monday", one) == "monday"
    assert saved.keep("again", Trace.from_json(one.to_json())) == "monday"  # it is the same
    assert saved.keep(" monday ", two) == "monday (2)"
    assert saved.rename("monday (2)", "tuesday") == "tuesday"
    assert saved.rename("tuesday", "monday") == "monday (2)"
    assert saved.rename("monday", "  ") == "monday"
    assert list(saved.kept()) == ["monday", "monday (2)"]
    saved.remove("monday")
    assert list(saved.kept()) == ["monday (2)"]


def test_a_session_keeps_so_many(session, monkeypatch):
    monkeypatch.setattr(saved, "MOST", 2)
    for n, mode in enumerate(("no_rerank", "bge_rerank", "context_rerank")):
        saved.keep(str(n), small(mode))
    assert list(saved.kept()) == ["1", "2"]


def test_files_of_each_kind_are_taken_in(session):
    both = llama_index("a" * 32) + llama_index("d" * 32)
    both[-1]["attributes"]["input.value"] = "another question"
    assert saved.take_in("own.json", small().to_json().encode()) == ["own.json"]
    assert saved.take_in("run.json", json.dumps(example()).encode("utf-8-sig")) == ["run.json"]
    names = saved.take_in("spans.json", json.dumps(both).encode())
    assert [n.split(":")[0] for n in names] == ["spans.json"] * len(names) and len(names) == 2
    assert saved_view.file_stem("a/b: c?.json") == "a_b_ c_"


# the page.


def compare_page(**kept: Trace) -> AppTest:
    at = open_page("Compare", q=QUESTION)
    at.session_state[saved.KEPT] = dict(kept)
    return settle(at)


def test_now_and_an_import_are_compared_on_the_page(started):  # noqa: F811
    at = compare_page()
    at.file_uploader(key="saved_upload").set_value(
        [("run.json", json.dumps(langchain()).encode(), "application/json")]
    )
    settle(at)
    assert not at.exception and "fault of its own" not in texts(at)
    assert at.selectbox(key="difference_a").value == "run.json (saved)"
    assert at.selectbox(key="difference_b").value.endswith("(now)")
    said = texts(at)
    assert "Two pipelines" in said and "does not record: access" in said
    captions = "\n".join(c.value for c in at.caption)
    assert re.search(r"\d+ passages? only in B, \d+ only in A, \d+ in both", captions)
    at.selectbox(key="difference_a").set_value("Basic · no_rerank")
    settle(at)
    assert not at.exception
    assert any("mode" in list(d.value.get("Setting", [])) for d in at.dataframe)
    at.selectbox(key="difference_a").set_value(at.selectbox(key="difference_b").value)
    settle(at)
    assert "A and B are the same trace" in texts(at)


def test_a_trace_is_saved_renamed_opened_and_removed_on_the_page(started):  # noqa: F811
    at = compare_page()
    at.text_input(key="save_name").set_value("before")
    next(b for b in at.button if b.label == "Save").click()
    settle(at)
    assert list(at.session_state[saved.KEPT]) == ["before"]
    assert "Saved as before" in texts(at)
    name = next(t for t in at.text_input if t.value == "before")
    name.set_value("after")
    settle(at)
    assert list(at.session_state[saved.KEPT]) == ["after"]
    next(b for b in at.button if b.label == "Open").click()
    settle(at)
    assert at.session_state[state.SAVED][0] == "after"
    assert "A saved trace holds one mode" in texts(at)
    next(b for b in at.button if b.label == "Remove").click()
    settle(at)
    assert not at.session_state[saved.KEPT] and not at.exception


@pytest.mark.parametrize("title", ["Trace", "Compare", "Documents", "Prompt"])
@pytest.mark.parametrize("run", [example(), llama_index(), langchain()], ids=["lists", "llama", "chain"])  # fmt: skip
def test_every_page_shows_an_opened_import(started, title, run):  # noqa: F811
    at = open_page(title, q=QUESTION)
    one = imported(run)
    at.session_state[state.SAVED] = ("run.json", one)
    settle(at)
    assert not at.exception and "fault of its own" not in texts(at)
    said = texts(at)
    assert "of 0" not in said and "0.00 s" not in said
    assert at.text_input(key="question").value == one.question
    if title == "Trace":
        assert f"Imported from {one.origin}" in said


def test_a_passage_is_judged_by_what_an_import_records(started):  # noqa: F811
    at = open_page("Missing", q=QUESTION)
    one = read_traces(json.dumps(example()))[0].trace
    at.session_state["saved"] = ("run.json", one)
    settle(at)
    assert "no documents here" in texts(at)
    at.text_area(key="recorded_passage").set_value("Ask for a refund by letter.")
    settle(at)
    assert "was left out at the first rerank (rerank)" in texts(at)
    assert "Not recorded: access, the windows" in texts(at)
    (table,) = (f.value for f in at.dataframe)
    assert list(table["Stage"])[1:3] == ["First stage", "Rerank 1"]
    assert list(table["What it did"])[1:4] == ["kept", "dropped", "not recorded"]
    at.text_area(key="recorded_passage").set_value("zebras on the quay")
    settle(at)
    assert "in the text of none of the 4 chunks" in texts(at) and not at.dataframe


def test_an_upload_of_spans_is_opened_and_kept(started):  # noqa: F811
    at = open_page(q=QUESTION)
    at.file_uploader(key="open_trace").set_value(
        [("spans.json", json.dumps(llama_index()).encode(), "application/json")]
    )
    settle(at)
    assert list(at.session_state[saved.KEPT]) == ["spans.json"]
    assert at.session_state[state.SAVED][0] == "spans.json"
    assert trace_of is not None and "Saved trace spans.json" in texts(at)


def test_a_broken_upload_is_one_sentence(started):  # noqa: F811
    at = open_page("Compare", q=QUESTION)
    at.file_uploader(key="saved_upload").set_value(
        [("bad.json", b'{"stages": [], "question": "q"}', "application/json")]
    )
    settle(at)
    assert "bad.json: stages: holds no list" in texts(at)
