"""The app as Streamlit runs it, page by page, on the real models and a few small documents."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.errors import Cancelled, DocumentError
from core.records import Access, Principal
from core.settings import Settings
from core.trace import Trace
from dashboard import startup
from dashboard.frame import PAGES
from dashboard.jobs import RUN, Job
from dashboard.link import View
from dashboard.shelf import Shelf
from dashboard.sidebar import KEY
from tests import worlds
from tests.dashboard.process import process

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "When is a deposit refunded?"
MARK = '<img src=x onerror="alert(1)">![](http://evil.example/a.png)'
TEXTS = {
    "terms.md": "# Deposits\n\nA deposit is refunded within seven days of the return.\n\n"
    "# Late returns\n\nNo deposit is refunded for boats returned more than a day late.\n",
    "harbour.txt": "Pilots board vessels at the outer buoy.\n\nFees are waived on Sundays.\n",
    "secret.md": "---\ntenant: south\ntitle: Zanzibar plan\n---\n\n"
    "The Zanzibar deposit is refunded in gold within ninety days.\n",
    "marked.md": f"# {MARK}\n\nA refunded deposit {MARK} is told by letter.\n",
}


@pytest.fixture(scope="module", autouse=True)
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[startup.Start]:
    """The process as ``python -m dashboard --docs FOLDER`` starts it."""
    folder = tmp_path_factory.mktemp("docs")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with process([str(folder)]) as start:
        yield start


def open_page(title: str = "Trace", **params: str | list[str]) -> AppTest:
    """A fresh session on a page, with its first results there."""
    at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
    for name, value in params.items():
        at.query_params[name] = value
    at._page_hash = "" if title == PAGES[0][0] else calc_hash(title.lower())
    return settle(at)


def settle(at: AppTest, seconds: float = 60) -> AppTest:
    """Runs until no job is under way, as the page's own polling does."""
    end = time.monotonic() + seconds
    at.run()
    while any(not j.finished for j in jobs(at)):
        assert time.monotonic() < end, "the page never came to rest"
        time.sleep(0.05)
        at.run()
    at.run()
    return at


def jobs(at: AppTest) -> list:
    return list(at.session_state["board"]._jobs.values()) if "board" in at.session_state else []


def sent(at: AppTest) -> str:
    """Everything that a run sends to the browser, as one text."""
    found: list[str] = []

    def walk(node) -> None:
        proto = getattr(node, "proto", None)
        if proto is not None and hasattr(proto, "SerializeToString"):
            found.append(proto.SerializeToString().decode("utf-8", "replace"))
        for child in getattr(node, "children", {}).values():
            walk(child)

    walk(at._tree)
    return "\n".join(found)


def labels(at: AppTest) -> str:
    """All that Streamlit reads as Markdown: texts of markdown elements, and labels."""
    found = [m.value for m in (*at.markdown, *at.caption)]
    for kind in ("button", "selectbox", "text_input", "slider", "expander", "multiselect"):
        found += [element.label for element in at.get(kind) if getattr(element, "label", None)]
    return "\n".join(found)


def texts(at: AppTest) -> str:
    return "\n".join(t.value for t in at.text)


def trace_of(at: AppTest) -> Trace:
    return at.session_state["board"].current("trace").result


def turn(at: AppTest, knob: str, value: object) -> AppTest:
    at.get_by_key(KEY.format(knob)).set_value(value)
    return settle(at)


def test_importing_the_app_leaves_the_models_out() -> None:
    code = "import dashboard.frame, sys; print(*{m.partition('.')[0] for m in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"torch", "transformers", "sentence_transformers", "pymupdf", "onnxruntime"}


@pytest.mark.parametrize("title", [title for title, _ in PAGES])
def test_every_page_draws_without_a_fault(title: str) -> None:
    at = open_page(title, q=QUESTION)
    assert not at.exception
    assert "fault of its own" not in texts(at)


@pytest.mark.parametrize("title", [title for title, _ in PAGES])
def test_every_page_draws_without_a_question(title: str) -> None:
    at = open_page(title)
    assert not at.exception
    assert "fault of its own" not in texts(at)


def test_a_question_gives_a_trace_and_a_link() -> None:
    at = open_page()
    at.text_input(key="question").set_value(QUESTION)
    settle(at)
    assert trace_of(at).question == QUESTION
    assert at.query_params["q"] == QUESTION
    assert "Evidence found" in texts(at)


def test_a_link_restores_question_mode_knob_and_chunk() -> None:
    first = open_page(q=QUESTION)
    chunk = trace_of(first).selected[-1].chunk_id
    at = open_page(q=QUESTION, mode="no_rerank", candidate_k="7", chunk=chunk)
    view = at.session_state["view"]
    assert view == View(QUESTION, "no_rerank", Settings(candidate_k=7), chunk=chunk)
    assert at.get_by_key(KEY.format("candidate_k")).value == 7
    assert at.selectbox(key="mode").value == "no_rerank"
    assert trace_of(at).mode == "no_rerank"


def test_a_bad_link_leaves_sentences_and_defaults() -> None:
    at = open_page(q=QUESTION, mode="best", candidate_k="many", colour="red")
    assert not at.exception
    said = texts(at)
    assert all(word in said for word in ("'best'", "candidate_k", "'colour'"))
    assert at.session_state["view"] == View(QUESTION)
    at.button(key="dismiss").click()
    settle(at)
    assert "'colour'" not in texts(at)


def test_a_chunk_that_is_not_here_is_said_so() -> None:
    at = open_page(q=QUESTION, chunk="0123456789abcdef:000000")
    assert not at.exception
    assert "not in these documents" in texts(at)


def test_a_moved_knob_recomputes_its_own_stage_and_later_ones_alone() -> None:
    at = open_page(q=QUESTION)
    before = trace_of(at)
    after = trace_of(turn(at, "relevance_threshold", 0.01))
    assert after.settings["relevance_threshold"] == 0.01
    names = [s.name for s in before.stages]
    earlier = names[: names.index("relevance")]
    # The same records, timings included: nothing was embedded or reranked again.
    assert [after.stage(n) for n in earlier] == [before.stage(n) for n in earlier]


def test_insufficient_evidence_is_said_with_the_near_misses() -> None:
    at = open_page(q="How tall is the giraffe?", relevance_threshold="1.0")
    assert trace_of(at).outcome == "insufficient_evidence"
    assert "Insufficient evidence" in texts(at)
    assert "Near miss" in texts(at)


def test_steps_select_chunks() -> None:
    at = open_page(q=QUESTION)
    at.button(key="step_J").click()
    settle(at)
    second = at.session_state["view"].chunk
    assert second
    assert at.query_params["chunk"] == second
    at.button(key="step_K").click()
    settle(at)
    assert at.session_state["view"].chunk != second


def test_evidence_marked_by_hand_is_counted() -> None:
    at = open_page(q=QUESTION)
    at.button(key="mark_evidence").click()
    settle(at)
    assert "Expected evidence: 1 of 1 chunks" in texts(at)
    assert len(at.session_state["view"].evidence) == 1


@pytest.mark.parametrize("title", [title for title, _ in PAGES])
def test_what_a_principal_may_not_see_is_on_no_page(title: str) -> None:
    at = open_page(title, q=QUESTION, tenant="north")
    assert at.session_state["view"].principal == Principal("north")
    everything = sent(at).casefold()
    assert "zanzibar" not in everything
    assert "secret.md" not in everything
    assert "secret.md" in sent(open_page(title, q=QUESTION)).casefold()


@pytest.mark.parametrize("title", [title for title, _ in PAGES])
def test_what_documents_say_is_never_markup(title: str) -> None:
    at = open_page(title, q=f"deposit refunded letter {MARK}")
    assert not at.exception
    read = labels(at).replace(r"\<", "").replace(r"\!", "")
    assert "<img" not in read
    assert "![" not in read


def test_two_sessions_with_one_file_name_see_their_own() -> None:
    shown = {}
    for who in ("first", "second"):
        at = open_page(q=QUESTION)
        mine = worlds.document(f"The deposit of the {who} session is refunded.", "same.md")
        at.session_state["shelf"] = Shelf().adding([mine])
        settle(at)
        shown[who] = sent(at)
    assert "second session" not in shown["first"]
    assert "first session" not in shown["second"]
    assert "second session" in shown["second"]


def test_one_text_under_two_names_keeps_each_sessions_name() -> None:
    for name, other in (("mine.md", "yours.md"), ("yours.md", "mine.md")):
        at = open_page(q=QUESTION)
        text = "A deposit is refunded by the harbour office."
        at.session_state["shelf"] = Shelf().adding([worlds.document(text, name)])
        settle(at)
        assert name in sent(at)
        assert other not in sent(at)


def test_a_bad_upload_leaves_a_message_and_the_others_load() -> None:
    from core.ingest import Source
    from dashboard import jobs as dashboard_jobs

    at = open_page("Documents", q=QUESTION)
    sources = [Source("good.md", b"A deposit is refunded."), Source("bad.pdf", b"%PDF-1.7 no")]

    def read(job):
        from dashboard import work

        return work.read_files(sources, job)

    at.session_state["board"].ask("ingest", 1, read, lane=dashboard_jobs.BULK, patience=60)
    settle(at)
    shelf = at.session_state["shelf"]
    assert "good.md" in [d.name for d in shelf.documents]
    assert "bad.pdf" in texts(at)
    assert not at.exception
    at.button(key="dismiss_files").click()
    settle(at)
    assert "bad.pdf" not in texts(at)


def test_problems_of_files_are_the_owners_alone() -> None:
    at = open_page("Documents")
    error = DocumentError("hidden.pdf", "needs a password")
    shelf = startup.begin().shelf
    at.session_state["shelf"] = Shelf(shelf.documents, (str(error),))
    settle(at)
    assert "hidden.pdf" in sent(at)
    at.session_state["view"] = View(principal=Principal("north"))
    settle(at)
    assert "hidden.pdf" not in sent(at)


def test_an_empty_shelf_is_said_with_the_remedy() -> None:
    at = open_page(q=QUESTION)
    at.session_state["shelf"] = Shelf()
    settle(at)
    assert not at.exception
    assert "There are no documents yet." in texts(at)
    assert "on the Documents page" in texts(at) and "Add files" in sent(at)
    assert "samples" not in texts(at), "this process was started with other documents"


def test_an_empty_shelf_has_the_way_back_to_the_samples(monkeypatch) -> None:
    monkeypatch.setattr(startup.begin(), "paths", ())
    at = open_page(q="")
    at.session_state["shelf"] = Shelf()
    settle(at)
    assert "Ask a question" not in texts(at), "there is nothing to ask"
    at.button(key="open_samples").click()
    settle(at)
    assert not at.exception and at.session_state["shelf"] is startup.begin().shelf
    assert "There are no documents" not in texts(at)


def test_a_principal_who_may_see_nothing_gets_a_sentence() -> None:
    at = open_page(q=QUESTION, tenant="north")
    only = worlds.document("South's deposit.", "s.md", Access(tenant="south"))
    at.session_state["shelf"] = Shelf().adding([only])
    settle(at)
    assert not at.exception
    assert "s.md" not in sent(at)
    assert "fault of its own" not in texts(at)


def test_a_saved_trace_is_shown_read_only_with_a_way_back() -> None:
    at = open_page(q=QUESTION)
    saved = Trace.from_json(trace_of(at).to_json())
    at.session_state["saved"] = ("monday.json", saved)
    at.session_state["view"] = View("another question")
    settle(at)
    assert "monday.json" in texts(at)
    assert at.text_input(key="question").value == QUESTION
    assert at.text_input(key="question").disabled
    assert at.get_by_key(KEY.format("candidate_k")).disabled
    assert "Evidence found" in texts(at)
    at.button(key="close_saved").click()
    settle(at)
    assert not at.text_input(key="question").disabled
    assert at.text_input(key="question").value == "another question"


def test_no_old_result_stands_beside_a_new_setting() -> None:
    at = open_page(q=QUESTION)
    board = at.session_state["board"]
    old = board.current("trace")
    board._jobs["index"].key = ("other",)  # as if the documents had changed
    at.session_state["shelf"] = Shelf().adding([worlds.document("A deposit.", "new.md")])
    at.run()
    now = board.current("trace")
    if now is not None and now.state == "done":
        assert now is not old
        assert [d.name for d in now.result.documents] == ["new.md"]
    else:
        assert "Evidence found" not in texts(at)
    settle(at)
    assert [d.name for d in trace_of(at).documents] == ["new.md"]


def test_the_next_page_in_doubt_is_a_click_away() -> None:
    from core.ingest import Source, ingest
    from tests.ingest.pdfs import drawn, prose

    def blackened(page) -> None:
        page.insert_text((72, 100), "This line is covered")
        page.insert_text((72, 300), "This one is not")
        page.draw_rect((60, 80, 400, 110), fill=(0, 0, 0))

    pages = [prose(9 * n, 6) for n in range(20)]
    pages[6] = pages[14] = blackened
    (outcome,) = ingest([Source("long.pdf", drawn(*pages))])
    at = open_page("Documents")
    at.session_state["shelf"] = Shelf().adding([outcome.document])
    settle(at)
    for number in (7, 15, 7):
        at.button(key="next_in_doubt").click()
        settle(at)
        assert f"Page {number} of 20" in texts(at)
        assert "This line is covered" in texts(at)


def test_documents_can_be_removed() -> None:
    at = open_page("Documents", q=QUESTION)
    before = len(startup.begin().shelf.documents)
    at.button(key="remove_document").click()
    settle(at)
    assert len(at.session_state["shelf"].documents) == before - 1
    assert len(startup.begin().shelf.documents) == before


def test_an_answer_is_checked_against_its_citations() -> None:
    at = open_page("Prompt", q=QUESTION)
    at.text_area(key="answer").set_value("Within seven days [1]. Or never [99].")
    settle(at)
    rows = at.dataframe[-1].value
    assert list(rows["problem"]) == ["", "no passage [99] in the prompt"]


def test_compare_runs_every_mode() -> None:
    from core.modes import MODES

    at = open_page("Compare", q=QUESTION)
    assert set(at.session_state["board"].current("compare").result) == set(MODES)


def test_view_as_a_principal_and_back() -> None:
    at = open_page(q=QUESTION)
    at.selectbox(key="access_tenant").set_value("south")
    {b.label: b for b in at.button}["View as these"].click()
    settle(at)
    assert at.session_state["view"].principal == Principal("south")
    assert at.query_params["tenant"] == "south"
    assert trace_of(at).principal == Principal("south")
    {b.label: b for b in at.button}["View as owner"].click()
    settle(at)
    assert trace_of(at).principal is None


def test_work_that_was_stopped_says_so_and_can_start_again() -> None:
    at = open_page(q=QUESTION)
    board = at.session_state["board"]
    key = board.current("trace").key
    board.drop_results()
    gate = threading.Event()

    def slow(job: Job) -> None:
        while not job.cancelled():
            gate.wait(0.01)
        raise Cancelled

    job = board.ask("trace", key, slow)
    at.run()
    assert "Evidence found" not in texts(at)
    at.button(key="stop_trace").click().run()
    assert job.wait(5)
    at.run()
    assert "stopped before it was done" in texts(at)
    at.button(key="again_trace").click()
    settle(at)
    assert "Evidence found" in texts(at)


def test_a_trace_of_another_version_is_shown_with_this_versions_knobs() -> None:
    at = open_page(q=QUESTION)
    other = dataclasses.replace(trace_of(at), mode="of_tomorrow", settings={"new_knob": 3})
    at.session_state["saved"] = ("other.json", other)
    settle(at)
    assert not at.exception
    assert "other.json" in texts(at)
    assert at.button(key="close_saved")


def test_a_path_that_is_not_there_stops_the_start_with_its_name(capsys) -> None:
    from dashboard.__main__ import main

    with pytest.raises(SystemExit) as stopped:
        main(["--docs", "/no/such/folder"])
    assert stopped.value.code == 2
    assert "/no/such/folder" in capsys.readouterr().err


def test_the_packaged_configuration_keeps_to_this_machine() -> None:
    import tomllib

    config = tomllib.loads((ROOT / "dashboard" / ".streamlit" / "config.toml").read_text())
    assert config["server"]["address"] == "127.0.0.1"
    assert config["browser"]["gatherUsageStats"] is False
    assert config["runner"]["fastReruns"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert "http" not in (ROOT / "dashboard" / "style.css").read_text()


def test_a_reranker_of_ones_own_scores_on_the_page(tmp_path) -> None:
    from dashboard.models import ModelChoice
    from tests.models.tiny import save_reranker

    save_reranker(tmp_path / "own")
    at = open_page("Trace", q=QUESTION, mode="bge_rerank")
    embedded = trace_of(at).stage("rerank_1")
    choice = ModelChoice("custom", piecewise=str(tmp_path / "own"))
    at.session_state["view"] = at.session_state["view"].changed(models=choice)
    settle(at)
    own = trace_of(at).stage("rerank_1")
    assert not own.degraded and own.model != embedded.model
    gone = ModelChoice("custom", piecewise=str(tmp_path / "gone"))
    at.session_state["view"] = at.session_state["view"].changed(models=gone)
    settle(at)
    assert "there is no such folder" in trace_of(at).stage("rerank_1").degraded
    assert "there is no such folder" in texts(at)


# the Evaluate page


def run_evaluation(at: AppTest, modes: list[str]) -> AppTest:
    at.get_by_key("evaluate_modes").set_value(modes)
    at.get_by_key("evaluate_budgets").set_value(["20", "1,000"])
    settle(at)
    at.button(key="evaluate_run").click()
    return settle(at)


def mark(at: AppTest, part: str = "") -> AppTest:
    at.text_area(key="expected_part_chunk").set_value(part)
    at.button(key="expected_add_chunk").click()
    return settle(at)


def test_what_is_marked_is_evaluated_kept_and_leads_to_its_trace() -> None:
    at = mark(open_page(q=QUESTION), "refunded within seven days")
    assert "this question, with 1 piece of this document" in texts(at)
    at = mark(at, "words that are in no document")
    assert "do not stand in this document" in texts(at)
    assert len(at.session_state["questions_marked"]) == 1
    at.text_input(key="question").set_value("When do pilots board?")
    at = mark(settle(at))

    at._page_hash = calc_hash("evaluate")
    settle(at)
    at.get_by_key("question_set").set_value("marked")
    at = run_evaluation(settle(at), ["no_rerank", "context_rerank"])
    assert not at.exception
    assert "2 questions × 2 modes, measured in" in texts(at)
    made = at.session_state["board"].current("evaluate").result
    assert made.finished and made.modes == ("no_rerank", "context_rerank")
    assert made.budgets == (20, 1_000)
    assert made.settings["relevance_threshold"] == 0.0
    assert all(not a.unfound for a in made.measured)

    # Another knob is another run; back at the first one, it is there again.
    turn(at, "candidate_k", 1)
    assert "not measured with these inputs yet" in texts(at)
    turn(at, "candidate_k", 50)
    assert "measured in" in texts(at)
    turn(at, "relevance_threshold", 0.3)
    assert "measured in" in texts(at)  # set aside
    at.toggle(key="evaluate_include").set_value(True)
    settle(at)
    assert "not measured with these inputs yet" in texts(at)
    at.toggle(key="evaluate_include").set_value(False)
    settle(at)

    at.button(key="trace_lost_0").click()
    settle(at)
    view = at.session_state["view"]
    assert view.question in (QUESTION, "When do pilots board?")
    assert view.evidence and view.chunk in view.evidence
    assert view.settings.evidence_budget == 20
    assert view.settings.relevance_threshold == 0.0


def test_a_file_of_questions_is_run_and_its_bad_lines_are_said() -> None:
    at = open_page("Evaluate")
    lines = (
        '{"question": "When are fees waived?", "document": "harbour.txt", '
        '"references": [{"quote": "waived on Sundays"}, {"quote": "![](http://evil.example)"}]}\n'
        "not json\n"
    )
    at.get_by_key("question_file").set_value(("set.jsonl", lines.encode(), "text/plain"))
    settle(at)
    said = texts(at)
    assert "set.jsonl: 1 question" in said and "line 2" in said
    at = run_evaluation(at, ["no_rerank"])
    assert not at.exception
    assert "1 piece of evidence not found" in at.get_by_key("unmeasured_box").label
    assert "evil" not in labels(at)


def until(holds) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_stopped_evaluation_goes_on() -> None:
    at = open_page("Evaluate", q=QUESTION)
    lines = [
        f'{{"question": "When is deposit {n} refunded?", "document": "terms.md", '
        '"references": [{"quote": "within seven days"}]}'
        for n in range(6)
    ]
    at.get_by_key("question_file").set_value(("set.jsonl", "\n".join(lines).encode(), "text/plain"))
    settle(at)
    at.get_by_key("evaluate_modes").set_value(["no_rerank"])
    settle(at)
    # Between its first question and its second, another session's takes its turn.
    other, answered = Job("other", lambda job: answered.wait(60)), threading.Event()
    other.lane = RUN
    with RUN.turn(Job("before", lambda job: None)):
        at.button(key="evaluate_run").click()
        at.run()
        job = at.session_state["board"].current("evaluate")
        until(lambda: len(RUN._queue) == 2)
        other.start()
        until(lambda: len(RUN._queue) == 3)
    until(lambda: job.done == 1)
    at.run()
    at.button(key="stop_evaluate").click()
    at.run()
    assert job.wait(20)
    answered.set()
    settle(at)
    assert "Stopped after 1 of 6 questions" in texts(at)
    (part,) = [e for _, e in at.session_state["evaluations"]._held.values()]
    at.button(key="evaluate_run").click()
    settle(at)
    assert "6 questions × 1 mode, measured in" in texts(at)
    made = at.session_state["board"].current("evaluate").result
    assert made.rows[0] is part.rows[0]  # taken over, not asked again
