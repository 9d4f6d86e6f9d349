"""The tour, the Missing and the Tune page on the sample documents, as Streamlit runs them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.diagnosis.sentences import told
from core.errors import Cancelled
from core.modes import MODES
from core.records import Principal
from dashboard import diagnosing, startup, sweeps, tour, work
from dashboard.jobs import Job
from dashboard.link import View
from dashboard.sidebar import AIMED, KEY
from tests.dashboard.process import process
from tests.dashboard.test_app import jobs, open_page, sent, settle, texts, trace_of, turn

EXCEPTION = "Staff may not book business class on a flight of more than six hours"
ELSEWHERE = "Treat a key as compromised when it has been seen in a public repository"


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[startup.Start]:
    """The process as ``python -m dashboard`` starts it: on the sample documents."""
    with process() as start:
        yield start


def stop(name: str) -> tour.Stop:
    return next(s for s in startup.begin().stops if s.id == name)


def question(name: str) -> str:
    return stop(name).view.question


def missing(name: str = "rule-and-exception", **params: str) -> AppTest:
    return open_page("Missing", q=question(name), **params)


def chosen(at: AppTest) -> set[str]:
    return {p.chunk_id for p in trace_of(at).selected}


def found(at: AppTest) -> diagnosing.Found:
    return at.session_state["board"].current("why").result


# The tour


def test_the_tour_goes_with_the_documents_that_it_asks_of(monkeypatch) -> None:
    start = startup.begin()
    ids = {d.name: d.id for d in start.shelf.documents}
    faq = start.shelf.without(set(ids.values()) - {ids["faq.txt"]})
    monkeypatch.setattr(work.state, "shelf", lambda: faq)
    assert {s.question.document for s in work.stops()} == {"faq.txt", ""}
    none = start.shelf.without(set(ids.values()))
    monkeypatch.setattr(work.state, "shelf", lambda: none)
    assert work.stops() == ()


# Missing


def test_a_pasted_passage_gets_a_verdict_and_a_change_that_can_be_undone() -> None:
    at = missing(protect_exceptions="off")
    at.text_area(key="passage").set_value(EXCEPTION)
    settle(at)
    assert at.query_params["passage"] == EXCEPTION
    said = found(at).verdict
    assert said.stage == "dedup" and not said.arrived
    assert "dropped as a duplicate" in texts(at)
    (chunk,) = said.target.chunk_ids
    assert chunk not in chosen(at)
    changes = [p.changes for p in found(at).proposals.proposals]
    before = at.session_state["view"].settings
    at.button(key=f"apply_{changes.index({'protect_exceptions': True}) + 1}").click()
    settle(at)
    assert at.session_state["view"].settings == before.changed(protect_exceptions=True)
    assert at.get_by_key(KEY.format("protect_exceptions")).value is True
    assert chunk in chosen(at)
    assert found(at).verdict.arrived
    assert "Applied" in texts(at) and "already" in texts(at)
    at.button(key="undo").click()
    settle(at)
    assert at.session_state["view"].settings == before
    assert chunk not in chosen(at)
    assert not any(b.key == "undo" for b in at.button)


def test_every_proposal_on_the_page_brings_it_back_when_applied() -> None:
    at = missing(protect_exceptions="off", passage=EXCEPTION)
    (chunk,) = found(at).verdict.target.chunk_ids
    proposals = found(at).proposals.proposals
    assert proposals
    for number, proposal in enumerate(proposals, 1):
        before = chosen(at)
        at.button(key=f"apply_{number}").click()
        settle(at)
        assert chunk in chosen(at)
        assert chosen(at) - before == set(proposal.gained)
        assert before - chosen(at) == set(proposal.lost)
        at.button(key="undo").click()
        settle(at)


def test_what_a_change_does_to_recall_is_asked_for_and_said() -> None:
    at = missing(protect_exceptions="off", passage=EXCEPTION)
    changes = [p.changes for p in found(at).proposals.proposals]
    number = changes.index({"protect_exceptions": True}) + 1
    assert "over 1" not in sent(at)
    at.button(key=f"recall_{number}").click()
    settle(at)
    price = at.session_state["board"].current(f"recall_{number}").result
    asked = [s.question for s in startup.begin().stops]
    assert 0 < price.questions <= len(asked) and price.before <= price.after
    assert price.sentence.removeprefix("Recall ") in sent(at)
    assert not any(b.key == f"recall_{number}" for b in at.button)
    others = [b for b in at.button if b.key and b.key.startswith("recall_")]
    assert len(others) == len(changes) - 1
    at.button(key=f"apply_{number}").click()
    settle(at)
    assert price.sentence.removeprefix("Recall ") not in sent(at)
    assert at.session_state["board"].current(f"recall_{number}").finished


def test_undo_leaves_knobs_that_were_turned_since() -> None:
    at = missing(protect_exceptions="off", passage=EXCEPTION)
    changes = [p.changes for p in found(at).proposals.proposals]
    at.button(key=f"apply_{changes.index({'protect_exceptions': True}) + 1}").click()
    settle(at)
    turn(at, "candidate_k", 40)
    at.button(key="undo").click()
    settle(at)
    settings = at.session_state["view"].settings
    assert settings.candidate_k == 40 and settings.protect_exceptions is False


def test_a_mode_can_be_proposed_and_undone() -> None:
    at = missing("list-over-page", mode="no_rerank")
    modes = [p.changes.get("mode") for p in found(at).proposals.proposals]
    number = next(i for i, m in enumerate(modes, 1) if m)
    at.button(key=f"apply_{number}").click()
    settle(at)
    assert at.session_state["view"].mode == modes[number - 1] == at.selectbox(key="mode").value
    assert found(at).verdict.arrived
    at.button(key="undo").click()
    settle(at)
    assert at.selectbox(key="mode").value == "no_rerank"


def test_without_a_choice_the_first_lost_evidence_is_looked_for_and_another_can_be() -> None:
    at = missing("list-over-page", mode="no_rerank")
    choice = at.selectbox(key="wanted")
    lost = [o for o in choice.options if o.startswith("✗")]
    assert lost and choice.value == str(choice.options.index(lost[0]) + 1)
    here = next(o for o in choice.options if o.startswith("✓"))
    number = str(choice.options.index(here) + 1)
    choice.set_value(number)
    settle(at)
    assert at.query_params["why"] == number
    assert found(at).verdict.arrived
    again = missing("list-over-page", mode="no_rerank", why=number)
    assert again.selectbox(key="wanted").value == number


def test_a_chunk_of_the_link_is_explained() -> None:
    at = missing("rule-and-exception")
    below = next(
        c for c in at.session_state["board"].current("index").result.chunk_ids
        if c not in {k.id for k in trace_of(at).chunks}
    )  # fmt: skip
    at = missing("rule-and-exception", chunk=below, why="chunk")
    said = found(at).verdict
    assert said.target.kind == "chunk" and said.stage == "first_stage"
    assert "the best 50 went on" in texts(at)


def test_the_same_text_in_two_places_is_told() -> None:
    at = missing("boilerplate", passage=ELSEWHERE)
    assert found(at).verdict.arrived and len(found(at).elsewhere) == 1
    assert "stands in 1 other place" in texts(at)
    assert "dropped as a duplicate" in texts(at)


def test_a_passage_that_is_nowhere_is_said_to_be_nowhere() -> None:
    at = missing(passage="Zebras graze upon the quay at noon on alternate Thursdays")
    assert "is not in any document's text" in texts(at)
    assert "No knob can bring it in" in texts(at)
    assert not any(b.key and b.key.startswith("apply_") for b in at.button)


def test_what_a_principal_may_not_read_is_nowhere_to_them() -> None:
    hidden = stop("invoice-southbay").question.references[0].quote
    who = {"tenant": "northwind"}
    at = missing("invoice-northwind", passage=hidden, **who)
    assert at.session_state["view"].principal == Principal("northwind")
    assert "southbay-terms" not in sent(at)
    names = {d.name for d in trace_of(at).documents}
    assert all(c.name.partition(",")[0] in names for c in found(at).verdict.chunks)
    owner = missing("invoice-northwind", passage=hidden)
    assert "southbay-terms" in sent(owner)
    chunk = found(owner).verdict.target.chunk_ids[0]
    asked = missing("invoice-northwind", chunk=chunk, why="chunk", **who)
    assert "is in none of the documents" in texts(asked)
    assert "southbay-terms" not in sent(asked)


def test_a_fault_leads_to_its_knob() -> None:
    at = missing(protect_exceptions="off")
    assert "A duplicate that says something else was dropped" in texts(at)
    at.button(key="aim_eager_dedup").click()
    settle(at)
    aimed = at.session_state[AIMED]
    assert aimed in {"protect_exceptions", "dedup_threshold"}
    group = next(e for e in at.expander if e.label.startswith("Duplicates"))
    assert group.proto.expanded
    assert f"st-key-knobrow_{aimed}" in sent(at)


def test_a_search_that_was_stopped_keeps_its_verdict_and_goes_on() -> None:
    at = missing(protect_exceptions="off", passage=EXCEPTION)
    board = at.session_state["board"]
    key, whole = board.current("why").key, found(at)
    board.drop_results()
    gate = threading.Event()

    def slow(job: Job) -> None:
        job.part = diagnosing.Found(whole.verdict, whole.elsewhere)
        while not job.cancelled():
            gate.wait(0.01)
        raise Cancelled

    job = board.ask("why", key, slow)
    time.sleep(0.05)
    at.run()
    while any(not j.finished for j in jobs(at) if j is not job):
        time.sleep(0.05)
        at.run()
    assert "dropped as a duplicate" in texts(at)
    assert not any(b.key and b.key.startswith("apply_") for b in at.button)
    at.button(key="stop_why").click().run()
    assert job.wait(5)
    at.run()
    at.button(key="again_why").click()
    settle(at)
    assert found(at).proposals.proposals
    assert at.button(key="apply_1")


def test_the_sentence_of_the_page_is_the_cores() -> None:
    at = missing(protect_exceptions="off", passage=EXCEPTION)
    one = found(at).verdict.chunks[0]
    index = at.session_state["board"].current("index").result
    assert told(index, one.chunk_id, one.facts, one.standing) in texts(at)


# Tune


def test_a_sweep_holds_the_present_value_and_turning_the_knob_runs_nothing_again() -> None:
    at = open_page("Tune", q=question("rule-and-exception"), knob="dedup_threshold", protect_exceptions="off")  # fmt: skip
    board = at.session_state["board"]
    job = board.current("sweep")
    assert job.result.knob == "dedup_threshold" and job.result.current == 0.75
    ends = job.result.at(0.75).fates
    assert {c for c, stage in ends.items() if stage == "prompt"} == chosen(at)
    for value in (0.7, 0.9, 0.95):
        turn(at, "dedup_threshold", value)
        assert board.current("sweep") is job
        held = job.result.at(value)
        assert {c for c, stage in held.fates.items() if stage == "prompt"} == chosen(at)
        assert held.tokens == trace_of(at).ledger.evidence
    turn(at, "candidate_k", 30)
    assert board.current("sweep") is not job


def test_the_knob_is_in_the_link_and_the_mode_is_one() -> None:
    at = open_page("Tune", q=question("keel"))
    at.selectbox(key="tune_knob").set_value("mode")
    settle(at)
    assert at.query_params["knob"] == "mode"
    knob, columns = at.session_state["tune_columns"]
    assert knob == "mode" and [c.first for c in columns] == list(MODES)
    again = open_page("Tune", q=question("keel"), knob="mode")
    assert again.selectbox(key="tune_knob").value == "mode"


def test_a_knob_that_does_nothing_says_why() -> None:
    at = open_page("Tune", q=question("keel"), knob="mmr_lambda")
    assert "MMR lambda changes nothing now" in texts(at)


def test_two_knobs_make_a_map_with_the_evidence_in_it() -> None:
    at = open_page("Tune", q=question("keel"), knob="evidence_budget", second="candidate_k")
    grid = at.session_state["tune_map"]
    assert grid.knobs == ("evidence_budget", "candidate_k")
    row, column = grid.down.index(2000), grid.across.index(50)
    assert grid.cells[row][column].tokens == trace_of(at).ledger.evidence
    arrive = sweeps.measured(grid, "evidence", [c for c in chosen(at)])
    assert arrive[row][column] == len(chosen(at))
    at.selectbox(key="tune_second").set_value("")
    settle(at)
    assert at.session_state["view"] == View(question("keel"), knob="evidence_budget")


def test_nobody_sees_in_a_sweep_what_they_may_not_read() -> None:
    at = open_page("Tune", q=question("invoice-northwind"), tenant="northwind")
    assert "southbay-terms" not in sent(at)
    assert "southbay-terms" in sent(open_page("Tune", q=question("invoice-northwind")))
