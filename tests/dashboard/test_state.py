"""Links, shelves and jobs: what a session holds, without a browser."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DocumentError
from core.modes import DEFAULT_MODE, MODES
from core.records import Access, Principal
from core.settings import Settings, knobs
from dashboard.jobs import DONE, FAILED, STOPPED, Board, Job, Lane
from dashboard.link import PASSAGE_LIMIT, QUESTION_LIMIT, SWEPT, View, from_params, to_params
from dashboard.shelf import Shelf
from tests.worlds import document

names = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)


@st.composite
def settings(draw) -> Settings:
    """Any knobs anywhere in their ranges."""
    values = {}
    for knob in draw(st.lists(st.sampled_from(list(knobs())), max_size=6, unique_by=id)):
        if knob.choices:
            values[knob.name] = draw(st.sampled_from(knob.choices))
        elif knob.kind is bool:
            values[knob.name] = draw(st.booleans())
        elif knob.kind is int:
            values[knob.name] = draw(st.integers(int(knob.low), int(knob.high)))
        elif knob.kind is float:
            values[knob.name] = draw(st.floats(knob.low, knob.high))
        else:
            values[knob.name] = draw(names)
    return Settings(**values)


principals = st.none() | st.builds(
    Principal,
    tenant=names,
    roles=st.sets(names, max_size=2).map(lambda s: tuple(sorted(s))),
    labels=st.sets(names, max_size=2).map(lambda s: tuple(sorted(s))),
)
views = st.builds(
    View,
    question=st.text(st.characters(blacklist_categories=["Cs"]), max_size=60),
    mode=st.sampled_from(sorted(MODES)),
    settings=settings(),
    principal=principals,
    chunk=st.sampled_from(["", "0123456789abcdef:000003"]),
    evidence=st.sets(st.sampled_from(["a:000001", "b:000002"])).map(lambda s: tuple(sorted(s))),
    passage=st.text(st.characters(blacklist_categories=["Cs"]), max_size=60),
    why=st.sampled_from(["", "chunk", "1", "12"]),
    knob=st.sampled_from(["", "mode", "candidate_k"]),
    second=st.sampled_from(["", *SWEPT]),
)


def as_browser(params: dict) -> dict[str, list[str]]:
    """Parameters as they come back: every value a list."""
    return {k: v if isinstance(v, list) else [v] for k, v in params.items()}


@given(views)
def test_a_link_restores_the_view(view: View) -> None:
    again, problems = from_params(as_browser(to_params(view)))
    assert again == view
    assert problems == []


def test_what_a_link_says_of_passages_and_knobs_is_checked() -> None:
    view, problems = from_params(
        {"passage": ["x" * (PASSAGE_LIMIT + 1)], "why": ["<b>"], "knob": ["luck"], "second": ["b"]}
    )
    assert len(view.passage) == PASSAGE_LIMIT and "cut at" in problems[0]
    assert (view.why, view.knob, view.second) == ("", "", "b")
    assert from_params({"why": ["9" * 5_000]})[0].why == ""
    assert not {"chunk_tokens", "rerank_seconds", "instructions"} & set(SWEPT)


def test_the_default_view_needs_no_parameters() -> None:
    assert to_params(View()) == {}


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"mode": ["best"]}, "best"),
        ({"candidate_k": ["many"]}, "candidate_k"),
        ({"candidate_k": ["100000"]}, "candidate_k"),
        ({"k1": ["nan"]}, "k1"),
        ({"candidate_k": ["inf"]}, "candidate_k"),
        ({"dedup_method": ["magic"]}, "dedup_method"),
        ({"protect_exceptions": ["perhaps"]}, "protect_exceptions"),
        ({"colour": ["red"]}, "colour"),
        ({"q": ["x" * (QUESTION_LIMIT + 1)]}, "cut"),
    ],
)
def test_a_bad_parameter_leaves_a_sentence_and_the_default(params: dict, said: str) -> None:
    view, problems = from_params(params)
    assert len(problems) == 1
    assert said in problems[0]
    assert view.changed(question="") == View()


@given(st.dictionaries(names, st.lists(names, max_size=3), max_size=4))
def test_no_link_raises(params: dict[str, list[str]]) -> None:
    view, _ = from_params(params)
    assert view.mode in MODES


def test_good_parameters_survive_a_bad_neighbour() -> None:
    view, problems = from_params({"q": ["why?"], "mode": ["?"], "top_k": ["3"]})
    assert (view.question, view.mode, view.settings.top_k) == ("why?", DEFAULT_MODE, 3)
    assert len(problems) == 1


class TestShelf:
    def test_a_new_version_of_a_file_takes_the_place_of_the_old(self) -> None:
        old, new = document("old text", "a.md"), document("new text", "a.md")
        assert Shelf().adding([old]).adding([new]).documents == (new,)

    def test_one_name_may_belong_to_two_tenants(self) -> None:
        north = document("ours", "a.md", Access(tenant="north"))
        south = document("theirs", "a.md", Access(tenant="south"))
        shelf = Shelf().adding([north, south])
        assert set(shelf.documents) == {north, south}
        assert shelf.seen_by(Principal(tenant="north")) == (north,)
        assert shelf.seen_by(None) == shelf.documents

    def test_the_same_content_is_listed_once_and_said_so(self) -> None:
        shelf = Shelf().adding([document("text", "a.md")]).adding([document("text", "b.md")])
        assert [d.name for d in shelf.documents] == ["a.md"]
        assert "b.md" in shelf.problems[0]

    def test_the_fingerprint_tells_names_apart_and_not_orders(self) -> None:
        a, b = document("one", "a.md"), document("two", "b.md")
        assert Shelf().adding([a, b]).fingerprint == Shelf().adding([b]).adding([a]).fingerprint
        renamed = Shelf().adding([document("one", "secret.md"), b])
        assert renamed.fingerprint != Shelf().adding([a, b]).fingerprint

    def test_without(self) -> None:
        a, b = document("one", "a.md"), document("two", "b.md")
        assert Shelf().adding([a, b]).without({a.id}).documents == (b,)


class TestJobs:
    def test_quick_work_is_there_at_once(self) -> None:
        job = Board().ask("trace", 1, lambda job: "result", patience=2)
        assert (job.state, job.result) == (DONE, "result")

    def test_the_same_inputs_are_computed_once(self) -> None:
        board, runs = Board(), []
        for _ in range(3):
            board.ask("trace", "key", lambda job: runs.append(1), patience=2)
        assert runs == [1]

    def test_other_inputs_stop_the_job_for_the_old_ones(self) -> None:
        board, started = Board(), threading.Event()

        def forever(job: Job) -> None:
            started.set()
            wait_for_stop(job)

        old = board.ask("trace", "old", forever)
        assert started.wait(2)
        new = board.ask("trace", "new", lambda job: "new", patience=2)
        assert new.result == "new"
        assert old.wait(2)
        assert (old.state, old.result) == (STOPPED, None)

    def test_going_back_finds_the_kept_result(self) -> None:
        board, runs = Board(), []

        def work(job: Job) -> None:
            runs.append(1)

        for key in ("a", "b", "a"):
            board.ask("trace", key, work, patience=2)
        assert len(runs) == 2
        board.drop_results()
        board.ask("trace", "a", work, patience=2)
        assert len(runs) == 3

    def test_results_kept_are_few(self) -> None:
        board = Board(keep=2)
        for key in range(5):
            board.ask("trace", key, lambda job: None, patience=2)
        assert len(board._recent) == 2

    def test_an_error_is_kept_as_its_sentence_until_it_is_forgotten(self) -> None:
        def fails(job: Job) -> None:
            raise DocumentError("a.pdf", "needs a password")

        board = Board()
        job = board.ask("ingest", 1, fails, patience=2)
        assert job.state == FAILED
        assert str(job.error) == "a.pdf: needs a password."
        board.forget("ingest")
        assert board.ask("ingest", 1, lambda job: "fine", patience=2).result == "fine"

    def test_a_fault_of_the_program_names_no_internals(self) -> None:
        job = Job(1, lambda job: 1 / 0).start()
        assert job.wait(2)
        assert job.state == FAILED
        assert "ZeroDivisionError" in str(job.error)
        assert "Traceback" not in str(job.error)

    def test_one_lane_runs_one_job_at_a_time(self) -> None:
        lane, running, most = Lane(), [], []

        def work(job: Job) -> None:
            running.append(job)
            most.append(len(running))
            time.sleep(0.01)
            running.remove(job)

        jobs = [Job(n, work, lane).start() for n in range(6)]
        assert all(job.wait(5) for job in jobs)
        assert max(most) == 1

    def test_jobs_take_turns_in_the_order_in_which_they_came(self) -> None:
        lane, told, inside, go = Lane(), [], threading.Event(), threading.Event()

        def twice(job: Job) -> None:
            for n in (1, 2):
                with lane.turn(job):
                    told.append(f"long {n}")
                    inside.set()
                    go.wait(5)

        long = Job(1, twice).start()
        assert inside.wait(2)
        short = Job(2, lambda job: told.append("short"), lane).start()
        for _ in range(200):
            if len(lane._queue) == 2:
                break
            time.sleep(0.01)
        go.set()
        assert long.wait(5)
        assert short.wait(5)
        assert told == ["long 1", "short", "long 2"]
        assert lane.holder is None

    def test_a_job_that_waits_can_be_stopped(self) -> None:
        lane, gate = Lane(), threading.Event()
        first = Job(1, lambda job: gate.wait(5), lane).start()
        second = Job(2, lambda job: "never", lane).start()
        second.stop()
        assert second.wait(2)
        assert second.state == STOPPED
        gate.set()
        assert first.wait(2)

    @pytest.mark.parametrize(("public", "seen"), [(False, False), (True, True)])
    def test_a_waiting_job_shows_only_public_labels(self, public: bool, seen: bool) -> None:
        lane, gate, inside = Lane(), threading.Event(), threading.Event()

        def hold(job: Job) -> None:
            job.progress(1, 2, "Reading", "secret.pdf")
            inside.set()
            gate.wait(5)

        first = Job(1, hold, lane, public=public).start()
        assert inside.wait(2)
        second = Job(2, lambda job: None, lane, "Mine").start()
        assert ("secret.pdf" in second.described()) is seen
        assert "secret.pdf" not in second.described(names=False)
        assert (second.share == 0.5) is seen
        gate.set()
        assert first.wait(2)
        assert second.wait(2)

    def test_progress_is_a_share(self) -> None:
        job = Job(1, lambda job: job.progress(3, 4, "Indexing")).start()
        assert job.wait(2)
        assert (job.share, job.described()) == (0.75, "Indexing")


def wait_for_stop(job: Job) -> None:
    from core.errors import Cancelled

    while not job.cancelled():
        time.sleep(0.005)
    raise Cancelled


class TestProject:
    """What a run that follows at once has to set again."""

    @pytest.fixture
    def kept(self, monkeypatch) -> dict:
        from dashboard import state

        found: dict = {}
        monkeypatch.setattr(state, "session", lambda: found)
        return found

    def runs(self, kept: dict, value: object) -> bool:
        """Whether a run that shows ``value`` sets the widget."""
        from dashboard import state

        with state.run():
            state.project("widget", value)
            return "widget" in kept[state.GIVEN]

    def test_only_what_differs_is_set(self, kept: dict) -> None:
        assert self.runs(kept, "a")
        kept["ended"] -= 10
        assert not self.runs(kept, "a")
        kept["widget"] = "typed"
        kept["ended"] -= 10
        assert self.runs(kept, "b")
        assert kept["widget"] == "b"

    def test_a_run_that_follows_at_once_sets_it_again(self, kept: dict) -> None:
        assert self.runs(kept, "a")
        assert self.runs(kept, "a")
        kept["ended"] -= 10
        assert not self.runs(kept, "a")
        assert not self.runs(kept, "a")
