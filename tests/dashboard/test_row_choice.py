"""Rows are chosen by id: a position that the program itself had set is no click."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dashboard import row_choice

OLD, NEW = ["a", "b", "c", "d"], ["d", "c", "b", "a"]


@pytest.fixture
def session(monkeypatch):
    held: dict = {}
    monkeypatch.setattr(row_choice.st, "session_state", held)
    return held


def sent(session, rows=(), cells=()):
    """What the browser reports of the table."""
    session["t"] = SimpleNamespace(selection=SimpleNamespace(rows=list(rows), cells=list(cells)))


def test_a_row_or_a_cell_that_is_clicked_is_chosen(session):
    row_choice.choose("t", OLD, "a")
    sent(session, rows=[2])
    assert row_choice.clicked("t", "a") == "c"
    sent(session, cells=[(3, "Score")])
    assert row_choice.clicked("t", "a") == "d"


def test_the_chosen_row_itself_and_none_at_all_are_no_click(session):
    row_choice.choose("t", OLD, "a")
    for rows in ([0], [], [17]):
        sent(session, rows=rows)
        assert row_choice.clicked("t", "a") == ""


def test_a_mark_set_before_a_rerank_does_not_choose_what_stands_there_now(session):
    row_choice.choose("t", OLD, "b")
    row_choice.choose("t", NEW, "b")  # b moved from the second place to the third
    sent(session, rows=[1])  # the browser, late, still has the mark on the second
    assert row_choice.clicked("t", "b") == ""
    sent(session, cells=[(1, "Score")])  # but a click on a cell is a click
    assert row_choice.clicked("t", "b") == "c"


def test_after_a_while_the_same_place_can_be_chosen_again(session, monkeypatch):
    row_choice.choose("t", OLD, "b")
    row_choice.choose("t", NEW, "b")
    now = row_choice.time.monotonic()
    monkeypatch.setattr(row_choice.time, "monotonic", lambda: now + row_choice.ECHO + 1)
    sent(session, rows=[1])
    assert row_choice.clicked("t", "b") == "c"


def test_among_the_same_rows_a_place_can_be_chosen_again_at_once(session):
    row_choice.choose("t", OLD, "b")
    row_choice.choose("t", OLD, "c")
    sent(session, rows=[1])
    assert row_choice.clicked("t", "c") == "b"
