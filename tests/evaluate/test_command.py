"""``chunkscope eval``: keys, tables, gates, saved runs, exit codes."""

from __future__ import annotations

import json
import os
import signal
from itertools import count
from pathlib import Path

import pytest

from core.cli import main
from core.evaluate import RANKED, load_evaluation
from core.evaluate.records import LOSSES
from core.pipeline import Pipeline

pytestmark = pytest.mark.integration

TEXT = """# Pilots

Pilots board the vessel at the harbour, two hours before high water.

# Fees

The annual fee is 14 EUR a day for every vessel.

# Deposit

The deposit is refunded within seven days.
"""

ROWS = [
    {"id": "fee", "question": "What is the fee?", "document": "rules.md", "references": [{"quote": "14 EUR a day"}]},
    {"id": "board", "question": "Where do pilots board?", "document": "rules.md", "references": [{"quote": "at the harbour"}, {"quote": "not there"}]},
    {"id": "open", "question": "Who signs?", "document": "rules.md"},
    {"id": "coffee", "question": "What is said of coffee?", "document": "notes.txt", "references": [{"start": 0, "end": 6}]},
]  # fmt: skip

UNFOUND = "chunkscope: evidence of 1 question is in no document, and is not counted: board\n"
"""The set's one quote that stands nowhere is named, wherever figures go."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rules.md").write_text(TEXT)
    (tmp_path / "docs" / "notes.txt").write_text("Coffee is served on board from eight.")
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    return tmp_path


@pytest.fixture
def run(capfd, folder):
    """Calls ``eval``: (exit code, standard output, standard error)."""

    def called(*words: object):
        fixed = ("eval", "--docs", folder / "docs", "--questions", folder / "set.jsonl")
        try:
            code = main([*map(str, fixed), *map(str, words), "--cache", str(folder / "cache")])
        except SystemExit as stopped:
            code = stopped.code
        return code, *capfd.readouterr()

    return called


QUICK = ("--modes", "no_rerank,rerank_extend_rerank", "--budgets", "10,1000")


@pytest.mark.parametrize("scope", ["corpus", "document"])
def test_the_keys_that_scripts_rely_on(run, scope):
    code, out, err = run("--scope", scope, "--json")
    assert (code, err) == (0, UNFOUND) and out.count("\n") == 1
    said = json.loads(out)
    assert tuple(said["modes"]) == RANKED and said["scope"] == scope
    for mode in said["modes"].values():
        for key in ("recall", "complete", "before", "assembled"):
            assert mode[key].keys() == {"1000", "5000", "10000"}
            assert all(0 <= share <= 1 for share in mode[key].values())
        for budget, (low, high) in mode["interval"].items():
            assert low <= mode["recall"][budget] <= high
        assert mode["lost"].keys() == set(LOSSES)
        assert mode["seconds"] > 0 and mode["latency"]["all"]["median"] > 0
    assert said["questions"] == 3
    assert said["skipped"] == [{"question": "open", "why": "it names no evidence"}]
    assert [(u["question"], u["quote"]) for u in said["unfound"]] == [("board", "not there")]
    assert said["settings"]["relevance_threshold"] == 0
    assert said["settings"]["dedup_method"] == "off"
    assert said["modes"]["rerank_extend_rerank"]["recall"]["1000"] == 1


def test_every_mode_runs(run):
    code, out, _ = run("--modes", "all", "--json", "--budgets", "100")
    assert code == 0 and len(json.loads(out)["modes"]) == 8


def test_knobs_reach_the_pipeline(run):
    code, out, _ = run(*QUICK, "--json", "--set", "relevance_threshold=1", "candidate_k=1")
    said = json.loads(out)
    mode = said["modes"]["rerank_extend_rerank"]
    assert code == 0 and said["settings"]["candidate_k"] == 1
    assert set(mode["recall"].values()) == {0.0}
    assert sum(mode["lost"].values()) == 3 and mode["lost"]["relevance"] > 0
    assert mode["outcomes"] == {"insufficient_evidence": 3}


def test_the_principal_is_the_one_who_asks(run, folder):
    (folder / "docs" / "chunkscope.toml").write_text('[documents."notes.txt"]\ntenant = "north"\n')
    lost = []
    for words in ((), ("--tenant", "north"), ("--tenant", "south")):
        _, out, _ = run(*QUICK, "--json", *words)
        lost.append(json.loads(out)["modes"]["no_rerank"]["lost"]["access"])
    assert lost == [0, 0, 1]


def test_a_table_for_a_person_and_as_markdown(run, folder):
    code, out, err = run(*QUICK, "--markdown", folder / "table.md")
    assert (code, err) == (0, UNFOUND)
    assert "recall at 1,000" in out and "relevance_threshold=0" in out
    assert "Skipped, since it names no evidence: open." in out
    assert "1 pieces of evidence stand nowhere" in out
    written = (folder / "table.md").read_text("utf-8")
    assert "| rerank_extend_rerank | " in written
    tables = [block for block in written.split("\n\n") if block.startswith("|")]
    assert len(tables) >= 4
    for block in tables:
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


# Gates and saved runs.


def test_gates(run):
    assert run(*QUICK, "--json", "--fail-under", "recall@1000=0.9", "RR=0.1")[0] == 0
    code, out, err = run(
        *QUICK, "--json", "--fail-under", "recall@1000=90%", "no_rerank:recall@10=50%"
    )
    assert code == 1 and "chunkscope: no_rerank: recall@10 is " in err
    assert len(json.loads(out)["failures"]) == 1


def test_a_baseline(run, folder):
    kept = folder / "run.json"
    assert run(*QUICK, "--save", kept)[0] == 0
    code, out, _ = run(*QUICK, "--baseline", kept, "--fail-worse", "--json")
    lines = json.loads(out)["baseline"]["lines"]
    assert code == 0 and len(lines) == 4
    assert all(x["difference"] == 0 and not x["better"] and not x["worse"] for x in lines)
    worse = ("--set", "relevance_threshold=1")
    code, out, err = run(*QUICK, *worse, "--baseline", kept, "--fail-worse")
    assert code == 1 and "recall@1000 fell by 100.00%" in err
    assert "Beside the baseline" in out and "relevance_threshold 0.0 → 1.0" in out
    assert run(*QUICK, *worse, "--baseline", kept)[0] == 0, "without the gate it only says so"
    code, out, err = run("--modes", "bm25_top_k", "--baseline", kept)
    assert (code, out) == (2, "") and "none of the modes" in err


def test_a_baseline_of_another_set_is_said_before_the_run(run, folder, monkeypatch):
    kept = folder / "run.json"
    assert run(*QUICK, "--save", kept)[0] == 0
    (folder / "set.jsonl").write_text(json.dumps({**ROWS[0], "id": "other"}) + "\n")
    monkeypatch.setattr(Pipeline, "run", never)
    code, out, err = run(*QUICK, "--baseline", kept)
    assert (code, out) == (2, "")
    assert (
        err == f"chunkscope: {kept}: has none of the questions. Compare with a run of this set.\n"
    )


def test_ctrl_c_leaves_what_was_done_and_resume_goes_on(run, folder, monkeypatch):
    kept, calls, true_run = folder / "run.json", count(), Pipeline.run

    def interrupted(self, *words, **named):
        if next(calls) == 4:  # the first question has two modes at two budgets
            os.kill(os.getpid(), signal.SIGINT)
        return true_run(self, *words, **named)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(Pipeline, "run", interrupted)
    code, out, err = run(*QUICK, "--save", kept)
    assert code == 130 and out == ""
    assert "1 of 3 questions were asked" in err and f"--resume {kept}" in err
    assert signal.getsignal(signal.SIGINT) is before
    stopped = load_evaluation(kept)
    assert not stopped.finished and [a.id for a in stopped.common] == ["fee"]

    code, out, _ = run(*QUICK, "--resume", kept, "--json")
    assert code == 0 and next(calls) == 4 + 1 + 8, "the two others, and not the first again"
    monkeypatch.undo()
    run(*QUICK, "--save", folder / "whole.json")
    whole, resumed = load_evaluation(folder / "whole.json"), load_evaluation(kept)
    assert resumed.finished and resumed.without_timings() == whole.without_timings()


def test_workers_give_the_same(run, folder):
    for n in (1, 2):
        assert run(*QUICK, "--workers", n, "--save", folder / f"{n}.json")[0] == 0
    one, two = (load_evaluation(folder / f"{n}.json").without_timings() for n in (1, 2))
    assert one == two


# Files that cannot be written: said before the run, and no end of it.


def in_the_run(monkeypatch, act) -> None:
    """Does something once, after the files were looked at and while questions are asked."""
    true_run, done = Pipeline.run, []

    def running(self, *words, **named):
        if not done:
            done.append(act())
        return true_run(self, *words, **named)

    monkeypatch.setattr(Pipeline, "run", running)


@pytest.mark.parametrize("strict", [(), ("--fail-under", "no_rerank:recall@10=100%")])
@pytest.mark.parametrize("flag", ["--save", "--markdown"])
def test_a_file_that_cannot_be_written_at_the_end(run, folder, monkeypatch, flag, strict):
    in_the_run(monkeypatch, (folder / "out").mkdir)
    code, out, err = run(*QUICK, "--json", flag, folder / "out", *strict)
    assert code == (1 if strict else 2) and json.loads(out)["finished"]
    said = "saved" if flag == "--save" else "written"
    assert f"chunkscope: {folder / 'out'}: cannot be {said} (" in err and UNFOUND in err


def never(self, *words, **named):
    raise AssertionError("the run began")


def test_a_file_that_cannot_be_written_is_said_before_the_run(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(Pipeline, "run", never)
    os.mkfifo("pipe")
    faults = [
        ("none/out", "is in none, a folder that does not exist. Make the folder first"),
        ("set.jsonl/out", "is in set.jsonl, a folder that does not exist"),
        ("docs", "is a folder. Name a file in it"),
        ("pipe", "is no ordinary file"),
        ("x" * 300, "cannot be written in the folder . (File name too long)"),
    ]
    if Path("/proc/self").is_dir():  # takes no file, whoever asks
        faults.append(("/proc/self/out", "cannot be written in the folder /proc/self ("))
    before = sorted(folder.iterdir())
    for flag in ("--save", "--markdown"):
        for path, said in [*faults, ("", "names no file. Name one, or leave the flag out.")]:
            code, out, err = run(*QUICK, flag, path)
            assert (code, out) == (2, "") and err.count("\n") == 1
            assert err.startswith(f"chunkscope: {f'{flag} {path}'.strip()}: ") and said in err
    assert sorted(folder.iterdir()) == before, "looking leaves nothing behind"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_without_the_right_to_write(run, folder, monkeypatch):
    monkeypatch.setattr(Pipeline, "run", never)
    (folder / "shut").mkdir(mode=0o500)
    code, out, err = run(*QUICK, "--markdown", folder / "shut" / "table.md")
    assert (code, out) == (2, "") and "Allow writing there, or name another file" in err


# A saved run that does not fit.


def asked_by(monkeypatch) -> list[str]:
    """The questions that are put to the pipeline from now on."""
    asked, true_run = [], Pipeline.run

    def noting(self, index, question, *words, **named):
        asked.append(question)
        return true_run(self, index, question, *words, **named)

    monkeypatch.setattr(Pipeline, "run", noting)
    return asked


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "candidate_k=7"), "candidate_k 50 in it, 7 now"),
        (("--budgets", "10,900"), "budgets 10+1000 in it, 10+900 now (tokens)"),
        (("--scope", "document"), "scope corpus in it, document now"),
        (("--tenant", "north"), "other rights of who asks"),
        (("--docs", "more.md"), "other documents"),
    ],
)
def test_resume_says_what_differs_and_goes_on(run, folder, monkeypatch, words, said):
    monkeypatch.chdir(folder)
    (folder / "more.md").write_text("Tea is served too.")
    assert run(*QUICK, "--save", "run.json")[0] == 0
    before = (folder / "run.json").read_bytes()
    asked = asked_by(monkeypatch)
    code, out, err = run(*QUICK, *words, "--resume", "run.json", "--json")
    assert code == 0 and json.loads(out)["finished"] and len(set(asked)) == 3
    assert f"chunkscope: run.json: nothing of it is taken over ({said})\n" in err
    assert "run.json stays as it is" in err and (folder / "run.json").read_bytes() == before
    code, _, err = run(*QUICK, *words, "--resume", "run.json", "--save", "run.json")
    assert code == 0 and said in err and "stays as it is" not in err
    assert (folder / "run.json").read_bytes() != before, "it was named"
    assert run(*QUICK, *words, "--resume", "run.json")[2] == UNFOUND, "nothing differs any more"


def test_resume_with_another_question_set(run, folder, monkeypatch):
    kept, questions = folder / "run.json", folder / "set.jsonl"
    assert run(*QUICK, "--save", kept)[0] == 0
    before = kept.read_bytes()
    other = [{**ROWS[0], "question": "How much is it?"}, {**ROWS[1], "id": "pilots"}]
    questions.write_text("".join(json.dumps(r) + "\n" for r in other))
    code, _, err = run(*QUICK, "--resume", kept)
    assert code == 0 and kept.read_bytes() == before
    assert (
        f"chunkscope: {kept}: nothing of it is taken over (1 question not in it (pilots); "
        "1 question asked otherwise in it (fee); 2 questions only in it (board, coffee))\n"
        f"chunkscope: {kept} stays as it is"
    ) in err


def test_resume_with_a_question_and_a_mode_more(run, folder, monkeypatch):
    kept = folder / "run.json"
    assert run("--modes", "no_rerank", "--budgets", "10,1000", "--save", kept)[0] == 0
    rows = [{**ROWS[0], "question": "How much is it?"}, *ROWS[1:], {**ROWS[3], "id": "tea"}]
    (folder / "set.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    code, _, err = run(*QUICK, "--resume", kept)
    assert (
        code == 0
        and "stays as it is" not in err
        and (
            f"{kept}: 2 results of it are taken over (1 question not in it (tea); 1 question asked "
            "otherwise in it (fee); mode not in it: rerank_extend_rerank)\n"
        )
        in err
    )
    assert len(load_evaluation(kept).rows) == 8, "the file has all of it now"
    code, _, err = run("--modes", "no_rerank", "--budgets", "10,1000", "--resume", kept)
    assert "mode only in it: rerank_extend_rerank" in err and "stays as it is" in err
    assert len(load_evaluation(kept).rows) == 8, "and loses nothing of it"


# Bad input, and what degraded.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--questions", "none.jsonl"), "none.jsonl: cannot be read"),
        (("--modes", "best"), "there is no such mode"),
        (("--budgets", "many"), "no number of tokens"),
        (("--budgets", "0"), "not positive"),
        (("--budgets", ""), "--budgets: is empty. Write it as in 1000,5000, or leave it out"),
        (("--budgets", " , "), "--budgets: is empty"),
        (("--modes", ""), "--modes: is empty. Write it as in no_rerank,context_rerank, or leave"),
        (("--modes", ","), "--modes: is empty"),
        (("--baseline", ""), "--baseline: names no file"),
        (("--resume", ""), "--resume: names no file"),
        (("--set", "evidence_budget=9"), "Name the --budgets"),
        (("--set", "candidate_k=0"), "candidate_k"),
        (("--fail-under", "recall"), "is no gate"),
        (("--fail-under", "recall@77=0.5"), "not measured"),
        (("--fail-worse",), "nothing to compare"),
        (("--baseline", "none.json"), "none.json: cannot be read"),
        (("--resume", "set.jsonl"), "set.jsonl"),
        (("--save", "no/such/folder/run.json"), "folder that does not exist"),
        (("--workers", "0"), "less than one"),
    ],
)
def test_bad_input(run, words, said, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert said in err and err.startswith("chunkscope: ") and "Traceback" not in err


def test_usage(run):
    code, out, err = run("--scope", "page")
    assert code == 2 and out == "" and "usage:" in err


def test_a_set_of_which_nothing_can_be_measured(run, folder):
    (folder / "set.jsonl").write_text('{"question": "Why?"}\n')
    code, out, err = run("--json")
    assert (code, out) == (2, "") and "measured no question" in err and "no evidence" in err


@pytest.mark.parametrize("strict", [False, True])
def test_what_degraded_is_said_and_under_strict_is_3(run, folder, strict):
    words = ["--modes", "bge_rerank", "--json", "--piecewise", folder / "no-model"]
    code, out, err = run(*words, *(["--strict"] if strict else []))
    assert code == (3 if strict else 0)
    (why,) = json.loads(out)["modes"]["bge_rerank"]["degraded"]
    assert "no-model" in why and "chunkscope: bge_rerank: rerank_1" in err


def test_a_question_of_a_document_that_is_not_there_says_which(run, folder):
    rows = [ROWS[0], {**ROWS[1], "document": "manual.pdf"}]
    (folder / "set.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    code, _, err = run(*QUICK, "--json")
    said = "chunkscope: 1 question is not asked, since there is no document named manual.pdf: board"
    assert code == 0 and err == f"{said}\n"
    assert run(*QUICK, "--strict")[0] == 2
