"""``chunkscope compare`` and ``import``: one document on standard output, errors beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import BAD_INPUT, DONE, main
from core.trace import Trace
from tests.dashboard.traces import small
from tests.interchange.exports import llama_index
from tests.interchange.test_ranked_lists import example


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "basic.json").write_text(small("no_rerank").to_json(), encoding="utf-8")
    (tmp_path / "now.json").write_text(small().to_json(), encoding="utf-8")
    (tmp_path / "run.json").write_text(json.dumps(example()), encoding="utf-8")
    both = llama_index("a" * 32) + llama_index("d" * 32)
    (tmp_path / "spans.json").write_text(json.dumps(both), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(files, capfd):
    def called(*words: str):
        code = main(list(words))
        return (code, *capfd.readouterr())

    return called


def test_compare_in_its_three_forms(run):
    code, out, err = run("compare", "basic.json", "now.json", "--json")
    data = json.loads(out)
    assert (code, err, out.count("\n")) == (DONE, "", 1)
    assert data["a"]["mode"] == "no_rerank" and data["counts"]["both"] == 2
    row = next(c for c in data["chunks"] if c["in"] == "b")
    assert row["a"]["reason"] and row["b"]["rank"] and row["b"]["ranks"]
    code, out, _ = run("compare", "basic.json", "now.json", "--markdown")
    assert code == DONE and out.startswith("# basic.json against now.json\n")
    code, out, _ = run("compare", "basic.json", "now.json")
    assert code == DONE and "only in B: 4" in out and "mode: no_rerank → " in out


def test_import_prints_our_trace(run):
    code, out, err = run("import", "run.json", "--json")
    trace = Trace.from_json(out)
    assert (code, err) == (DONE, "") and trace.origin == "support-bot"
    code, out, _ = run("import", "run.json")
    assert code == DONE and "not recorded: access, extend" in out and "monday" in out
    code, out, _ = run("import", "spans.json")
    assert code == DONE and "1. query aaaaaaaa" in out and "2. query dddddddd" in out
    code, out, _ = run("import", "spans.json#2", "--json")
    assert code == DONE and Trace.from_json(out).selected
    lost = ("import", "run.json", "--passage", "ask for a refund by letter")
    code, out, _ = run(*lost)
    assert code == DONE and "left out at the first rerank (rerank), with a score of 0.020" in out
    code, out, _ = run(*lost, "--json")
    assert code == DONE and json.loads(out)["verdicts"][0]["stage"] == "rerank_1"
    code, out, _ = run("compare", "spans.json#1", "run.json", "--json")
    assert code == DONE and json.loads(out)["notes"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "spans.json", "--json"), "holds 2 traces. Choose one: #1 query"),
        (("import", "spans.json#3", "--json"), "is not there: the file holds 2"),
        (("compare", "none.json", "now.json"), "cannot be read"),
        (("import", "."), "cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(run, words, said):
    code, out, err = run(*words)
    assert code == BAD_INPUT and not out
    assert said in err and err.count("\n") == 1
