"""Scores on disk: found again by what decides them, bounded, and never a reason to fail."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.index import scores
from core.index.scores import ScoreCache

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {"one": "The fee.", "two": "The tax.", "three": "\ud800 half"}
GIVEN = {"one": 0.25, "two": -3.5, "three": 1e-300}


def filled(root: Path, **more) -> ScoreCache:
    cache = ScoreCache(root, **more)
    cache.put("model", "question", TEXTS, GIVEN)
    return cache


def test_scores_come_back_as_they_were_and_under_the_names_asked_for(tmp_path):
    cache = filled(tmp_path)
    assert cache.get("model", "question", TEXTS) == GIVEN
    again = ScoreCache(tmp_path)
    assert again.get("model", "question", {"other name": "The tax."}) == {"other name": -3.5}
    assert again.get("model", "question", {}) == {}


@given(st.tuples(st.text(), st.text(), st.text()), st.tuples(st.text(), st.text(), st.text()))
def test_what_decides_a_score_is_its_key(one, other):
    key = scores._key(*one)
    assert (key == scores._key(*other)) == (one == other)
    # Moved over a border between two parts, the same characters are another key.
    assert scores._key(one[0] + "x", one[1], one[2]) != scores._key(one[0], "x" + one[1], one[2])


def test_other_models_and_questions_find_nothing(tmp_path):
    cache = filled(tmp_path)
    assert cache.get("model 2", "question", TEXTS) == {}
    assert cache.get("model", "question?", TEXTS) == {}


def test_no_text_is_on_the_disk(tmp_path):
    held = filled(tmp_path).path.read_bytes()
    assert b"The fee" not in held and b"question" not in held and b"model" not in held


def test_what_is_no_number_is_not_kept(tmp_path):
    cache = ScoreCache(tmp_path)
    odd = {"one": float("nan"), "two": float("inf"), "three": 0.5, "unknown": 1.0}
    cache.put("model", "question", TEXTS, odd)
    assert cache.get("model", "question", TEXTS) == {"three": 0.5}


def test_the_least_lately_used_go_when_there_are_too_many(tmp_path, monkeypatch):
    cache = ScoreCache(tmp_path, limit=20)
    texts = {str(i): f"text {i}" for i in range(20)}
    monkeypatch.setattr(scores, "_today", lambda: 1)
    cache.put("model", "question", texts, {name: float(name) for name in texts})
    monkeypatch.setattr(scores, "_today", lambda: 2)
    used = {str(i): texts[str(i)] for i in range(5)}
    assert len(cache.get("model", "question", used)) == 5
    cache.put("model", "question", {"new": "new"}, {"new": 1.0})
    left = cache.get("model", "question", texts | {"new": "new"})
    assert {*used, "new"} <= set(left) and len(left) == 18


DAMAGE = {
    "not a database": lambda raw: b"nothing of the kind " * 400,
    "its middle is noise": lambda raw: raw[:100] + b"\xaa" * (len(raw) - 100),
    "another table": None,
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_is_thrown_away_and_made_anew(how, tmp_path):
    cache = filled(tmp_path)
    if DAMAGE[how]:
        cache.path.write_bytes(DAMAGE[how](cache.path.read_bytes()))
    else:
        cache.path.unlink()
        with sqlite3.connect(cache.path) as database:
            database.execute("CREATE TABLE scores (something TEXT)")
    assert cache.get("model", "question", TEXTS) == {}
    cache.put("model", "question", TEXTS, GIVEN)
    cache.put("model", "question", TEXTS, GIVEN)
    assert cache.get("model", "question", TEXTS) == GIVEN


def test_a_place_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = filled(tmp_path / "file")
    assert cache.get("model", "question", TEXTS) == {}


def test_a_file_that_someone_else_holds_is_not_waited_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(scores, "PATIENCE", 0.05)
    cache = filled(tmp_path)
    with sqlite3.connect(cache.path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert cache.get("model", "question", TEXTS) == {}
        cache.put("model", "question", TEXTS, GIVEN)
        other.execute("ROLLBACK")
    assert cache.get("model", "question", TEXTS) == GIVEN


def test_threads_and_processes_share_one_file(tmp_path):
    code = (
        "import sys\nfrom core.index.scores import ScoreCache\n"
        "cache = ScoreCache(sys.argv[1])\n"
        "for i in range(40):\n"
        "    name = sys.argv[2] + str(i)\n"
        "    cache.put('model', 'q', {name: name}, {name: float(i)})\n"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), who], cwd=ROOT) for who in "ab"
    ]

    def fill() -> None:
        for i in range(40):
            ScoreCache(tmp_path).put("model", "q", {"c": f"c{i}"}, {"c": float(i)})

    threads = [threading.Thread(target=fill) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [o.wait() for o in others] == [0, 0]
    names = {f"{who}{i}": f"{who}{i}" for who in "abc" for i in range(40)}
    held = ScoreCache(tmp_path).get("model", "q", names)
    assert held == {name: float(name[1:]) for name in names}
