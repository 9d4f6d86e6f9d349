"""The command line: one document on standard output, the rest on standard error, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from core.cli import BAD_INPUT, DEGRADED, DONE, EXIT_CODES, NOT_FOUND, main
from core.errors import ModelError
from core.interchange import read_traces
from core.modes import MODES
from core.trace import Passage, Trace

pytestmark = pytest.mark.integration

RULES = (
    "# Pilots\n\nPilots board the vessel at the harbour.\n\n# Fees\n\nThe fee is 14 EUR a day.\n"
)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "rules.md").write_text(RULES)
    (folder / "notes.txt").write_text("Café is spelled with an accent; the deposit is refunded.")
    return folder


@pytest.fixture
def run(capfd, tmp_path):
    """Calls the command line: (exit code, standard output, standard error)."""

    def called(*words: object):
        try:
            code = main([*map(str, words), "--cache", str(tmp_path / "cache")])
        except SystemExit as stopped:
            code = stopped.code
        out, err = capfd.readouterr()
        return code, out, err

    return called


def one_document(out: str) -> dict:
    """What a script reads: exactly one JSON value, on one line."""
    assert out.endswith("\n") and out.count("\n") == 1
    return json.loads(out)


# index.


def test_index_lists_every_file(run, docs):
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 cut off")
    code, out, err = run("index", "--docs", docs, "--json")
    assert code == DONE
    rows = {r["name"]: r for r in one_document(out)["documents"]}
    assert set(rows) == {"rules.md", "notes.txt", "broken.pdf"}
    for row in rows.values():
        assert set(row) == {"name", "id", "pages", "chunks", "warnings", "error"}
    good, bad = rows["rules.md"], rows["broken.pdf"]
    assert len(good["id"]) == 16 and good["chunks"] >= 1 and good["error"] is None
    assert good["warnings"] == [] and isinstance(good["pages"], int)
    assert bad["id"] is None and bad["chunks"] == 0 and bad["error"].startswith("broken.pdf: ")
    assert err.count("broken.pdf") >= 1 and "rules.md" not in err


def test_docs_given_twice_are_all_read(run, docs):
    words = ("--docs", docs / "rules.md", "--docs", docs / "notes.txt", "--json")
    code, out, _ = run("index", *words)
    assert code == DONE
    assert [r["name"] for r in one_document(out)["documents"]] == ["notes.txt", "rules.md"]


def test_index_obeys_the_knobs_and_the_ids_stay(run, docs):
    (docs / "long.txt").write_text("The fee is due on the first day of each month. " * 60)
    _, few, _ = run("index", "--docs", docs, "--json", "--set", "chunk_tokens=480")
    _, many, _ = run("index", "--docs", docs, "--json", "--set", "chunk_tokens=16")
    a, b = (sorted(json.loads(o)["documents"], key=lambda r: r["name"]) for o in (few, many))
    assert [r["id"] for r in a] == [r["id"] for r in b]
    assert sum(r["chunks"] for r in a) < sum(r["chunks"] for r in b)


def test_index_for_a_person(run, docs):
    code, out, err = run("index", "--docs", docs)
    assert code == DONE and err == ""
    assert "rules.md: " in out and "1 chunk" in out


# trace.

STAGE_KEYS = {"name", "seconds", "kept", "added", "dropped", "entries"}
PASSAGE_KEYS = {"chunk_id", "document", "pages", "start", "end", "tokens", "citation", "text"}


@pytest.mark.parametrize("mode", sorted(MODES))
def test_trace_has_the_keys_that_scripts_rely_on(run, docs, mode):
    code, out, err = run("trace", "--docs", docs, "--question", "What is the fee?", "--mode", mode, "--json")  # fmt: skip
    assert (code, err) == (DONE, "")
    trace = one_document(out)
    assert {"outcome", "stages", "selected", "prompt", "ledger"} <= set(trace)
    assert trace["outcome"] == "evidence" and trace["mode"] == mode
    for stage in trace["stages"]:
        assert set(stage) >= STAGE_KEYS and stage["seconds"] >= 0
    assert trace["selected"]
    for passage in trace["selected"]:
        assert set(passage) >= PASSAGE_KEYS
        assert set(passage) == {f.name for f in fields(Passage)}
        assert passage["citation"] in trace["prompt"] and passage["text"].strip() in trace["prompt"]
    assert "14 EUR" in trace["prompt"]
    assert Trace.from_json(out).to_json() == out.rstrip("\n")
    assert read_traces(out)[0].trace == Trace.from_json(out), "no number of it is out of range"


def test_knobs_and_principals(run, docs):
    (docs / "chunkscope.toml").write_text('[documents."notes.txt"]\ntenant = "north"\n')
    words = ("trace", "--docs", docs, "--question", "deposit", "--json", "--set", "candidate_k=1", "max_radius=0")  # fmt: skip
    _, owner, _ = run(*words)
    _, north, _ = run(*words, "--tenant", "north", "--role", "a", "b")
    _, south, _ = run(*words, "--tenant", "south")
    _, clerk, _ = run(*words, "--role", "clerk")
    assert json.loads(owner)["settings"]["candidate_k"] == 1
    assert len(json.loads(owner)["selected"]) == 1
    assert "Café" in owner and "Café" in north
    assert "notes.txt" not in south and "notes.txt" not in clerk
    assert json.loads(north)["principal"] == {"tenant": "north", "roles": ["a", "b"], "labels": []}
    assert json.loads(owner)["principal"] is None


def test_trace_for_a_person(run, docs):
    code, out, err = run("trace", "--docs", docs, "--question", "What is the fee?")
    assert (code, err) == (DONE, "")
    assert "Evidence found" in out and "first_stage" in out and "[1] rules.md#c" in out


def test_nothing_relevant_is_an_outcome_and_no_failure(run, docs):
    code, out, _ = run("trace", "--docs", docs, "--question", "Who?", "--json", "--set", "relevance_threshold=1")  # fmt: skip
    assert code == DONE and one_document(out)["outcome"] == "insufficient_evidence"


# Exit code 2: bad input, in one line, and nothing on standard output.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("trace", "--question", "Q", "--mode", "best"), "there is no such mode"),
        (("trace", "--question", "Q", "--set", "candidate_k=0"), "candidate_k"),
        (("trace", "--question", "Q", "--set", "candidates=3"), "candidate_k"),
        (("trace", "--question", "Q", "--set", "candidate_k"), "knob=value"),
        (("trace", "--question", "  "), "is empty"),
        (("index", "--set", "chunk_tokens=many"), "whole number"),
        (("index", "--password", "secret"), "NAME=PASSWORD"),
        (
            ("index", "--password", "rule.md=secret"),
            "rule.md: a password is given for it, and no document has this name. Was rules.md meant?",
        ),
        (("index", "--ocr-language", "eng"), "given without --ocr"),
    ],
)
def test_bad_input(run, docs, words, said):
    code, out, err = run(*words, "--docs", docs, "--json")
    assert code == BAD_INPUT and out == ""
    assert said in err and err.startswith("chunkscope: ") and "Traceback" not in err


@pytest.mark.parametrize("words", [(), ("fly",), ("index",), ("trace", "--docs", "x"), ("index", "--docs")])  # fmt: skip
def test_usage_errors(run, words):
    code, out, err = run(*words)
    assert code == BAD_INPUT and out == "" and "usage:" in err


@pytest.mark.parametrize("command", [("index",), ("trace", "--question", "Q")])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "none", "no such file"),
        (lambda folder: folder, "no document could be read"),
        (lambda folder: _file(folder / "empty.txt", b""), "empty.txt"),
        (lambda folder: _file(folder / "blank.txt", b" \n "), "blank.txt"),
        (lambda folder: _file(folder / "half.pdf", b"%PDF-1.4"), "half.pdf"),
    ],
)
def test_no_readable_document(run, tmp_path, command, make, said):
    folder = tmp_path / "bare"
    folder.mkdir()
    code, out, err = run(*command, "--docs", make(folder), "--json")
    assert code == BAD_INPUT and out == ""
    assert said in err and "Traceback" not in err


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_cache_that_cannot_be_written_is_no_crash(docs, tmp_path, capfd):
    blocked = _file(tmp_path / "blocked", b"a file, not a folder")
    code = main(["index", "--docs", str(docs), "--json", "--cache", str(blocked / "inside")])
    out, err = capfd.readouterr()
    assert code in (DONE, BAD_INPUT) and "Traceback" not in err
    assert bool(out) == (code == DONE)


# Exit code 3: degraded under --strict; the trace is printed all the same.


@pytest.mark.parametrize("strict", [False, True])
def test_strict_says_what_degraded_after_the_trace(run, docs, tmp_path, strict):
    words = ["trace", "--docs", docs, "--question", "fee", "--mode", "bge_rerank", "--json"]
    words += ["--piecewise", tmp_path / "no-model", *(["--strict"] if strict else [])]
    code, out, err = run(*words)
    assert code == (DEGRADED if strict else DONE)
    trace = one_document(out)
    (degraded,) = (s for s in trace["stages"] if s["degraded"])
    assert degraded["name"] == "rerank_1" and trace["selected"]
    assert err.startswith("chunkscope: rerank_1: ") and "no-model" in err


@pytest.mark.parametrize("command", [("index",), ("trace", "--question", "fee")])
@pytest.mark.parametrize("strict", [False, True])
def test_without_the_model_bm25_ranks_and_says_so(run, docs, monkeypatch, command, strict):
    def missing(*words, **more):
        raise ModelError("all-MiniLM-L6-v2", "its weights are not the published ones")

    monkeypatch.setattr("core.models.profiles.load_encoder", missing)
    code, out, err = run(*command, "--docs", docs, "--json", *(["--strict"] if strict else []))
    assert code == (DEGRADED if strict else DONE)
    assert "its weights are not the published ones" in err
    one_document(out)
    if command[0] == "trace":
        assert "BM25 alone ranks" in err
        assert json.loads(out)["selected"]


def test_strict_is_silent_where_all_is_well(run, docs):
    code, out, err = run("trace", "--docs", docs, "--question", "fee", "--strict", "--json")
    assert (code, err) == (DONE, "") and one_document(out)


def test_a_cross_encoder_that_no_stage_would_ask_is_said(run, docs):
    code, out, err = run("trace", "--docs", docs, "--question", "fee", "--piecewise", "x", "--json")
    assert code == DONE and "bge_rerank does" in err and one_document(out)


def test_a_file_name_that_is_no_utf8_loads_like_any_other(run, tmp_path):
    folder = tmp_path / "odd"
    folder.mkdir()
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("The fee is 14 EUR.")
    except OSError:
        pytest.skip("this file system takes no such name")
    words = ("--docs", folder, "--question", "fee", "--mode", "bm25_top_k", "--json")
    code, out, err = run("trace", *words)
    assert (code, err) == (DONE, "")
    assert one_document(out)["selected"][0]["document"] == "caf\\xe9.txt"


# As a process.


def process(*words: object, **more) -> subprocess.CompletedProcess:
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "core", *map(str, words)]
    return subprocess.run(command, cwd=root, capture_output=True, timeout=120, check=False, **more)


def test_json_is_utf8_whatever_the_terminal_says(docs, tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    words = ("trace", "--docs", docs, "--question", "Café?", "--mode", "bm25_top_k")
    done = process(*words, "--json", "--cache", tmp_path / "cache", env=environment)
    assert done.returncode == DONE, done.stderr
    assert "Café" in json.loads(done.stdout.decode("utf-8"))["prompt"]


def test_a_reader_that_leaves_early_is_no_error(docs, tmp_path):
    root = Path(__file__).resolve().parents[1]
    line = f"{sys.executable} -m core index --docs {docs} --json --cache {tmp_path / 'c'} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=root, capture_output=True, timeout=120, check=True
    )
    assert done.stdout.strip() == b"0" and done.stderr == b""


# why.

WHY = ("--question", "What does the pilot fee cost a day?")


def test_why_says_where_a_passage_was_lost_and_what_brings_it_back(run, docs):
    words = (
        "why",
        "--docs",
        docs,
        *WHY,
        "--set",
        "evidence_budget=0",
        "--passage",
        "The FEE is 14",
    )
    code, out, _ = run(*words, "--json")
    assert code == DONE
    said = one_document(out)
    (lost,) = said["verdicts"]
    assert {"chunk_id", "stage", "reason", "cause", "margin", "sentence", "ranks"} <= set(lost)
    assert lost["stage"] == said["verdict"]["stage"] == "budget" and lost["margin"] < 0
    for proposal in said["proposals"]:
        assert {"changes", "proved", "tokens", "gained", "lost"} <= set(proposal)
        assert proposal["proved"] is True
    (budget,) = [p for p in said["proposals"] if set(p["changes"]) == {"evidence_budget"}]
    assert lost["chunk_id"] in budget["gained"] and budget["tokens"] > 0
    again = run("trace", "--docs", docs, *WHY, "--set", f"evidence_budget={budget['changes']['evidence_budget']}", "--json")  # fmt: skip
    assert lost["chunk_id"] in {s["chunk_id"] for s in one_document(again[1])["selected"]}
    assert isinstance(said["faults"], list)
    code, out, _ = run(*words)
    assert code == DONE and lost["sentence"] in out and "What brings it back" in out


def test_why_says_what_each_change_does_to_a_question_set(run, docs, tmp_path):
    questions = tmp_path / "questions.jsonl"
    line = {"id": "fee", "question": WHY[1], "references": [{"quote": "The fee is 14"}]}
    named = next(d.name for d in docs.iterdir() if "fee is 14" in d.read_text().lower())
    questions.write_text(json.dumps(line | {"document": named}) + "\n")
    words = ("why", "--docs", docs, *WHY, "--set", "evidence_budget=0", "--passage", "fee is 14")
    code, out, _ = run(*words, "--questions", questions, "--json")
    assert code == DONE
    prices = [p["recall"] for p in one_document(out)["proposals"]]
    assert prices and all((p["before"], p["after"]) == (0.0, 1.0) for p in prices)
    assert prices[0]["better"] == ["fee"] and "1 gets better" in prices[0]["sentence"]
    assert "recall" not in one_document(run(*words, "--json")[1])["proposals"][0]
    code, out, _ = run(*words, "--questions", questions)
    assert code == DONE and "Recall over 1 question from 0.0% to 100.0%" in out
    questions.write_text(json.dumps(line | {"document": "other.md"}) + "\n")
    assert "no question of the set has evidence" in run(*words, "--questions", questions)[1]
    code, _, err = run(*words, "--questions", tmp_path / "none.jsonl")
    assert code == BAD_INPUT and "none.jsonl" in err


def test_why_takes_a_chunk_and_a_passage_that_is_nowhere(run, docs):
    _, out, _ = run("trace", "--docs", docs, *WHY, "--json")
    chunk = one_document(out)["selected"][0]["chunk_id"]
    code, out, _ = run("why", "--docs", docs, *WHY, "--chunk", chunk, "--json")
    assert code == DONE
    said = one_document(out)
    assert said["verdict"]["arrived"] and said["proposals"] == []
    code, out, _ = run("why", "--docs", docs, *WHY, "--passage", "penguins in the fog", "--json")
    assert code == NOT_FOUND
    said = one_document(out)
    assert said["verdicts"] == [] and said["target"]["found"] == 0
    assert "not in any document's text" in said["verdict"]["sentence"]


def test_why_tells_of_hidden_documents_to_their_owner_alone(run, docs):
    (docs / "south.md").write_text("---\ntenant: south\n---\n\nThe southern fee is 77 EUR.\n")
    words = ("why", "--docs", docs, *WHY, "--tenant", "north", "--passage", "southern fee is 77")
    code, out, _ = run(*words, "--json")
    assert code == NOT_FOUND and "south.md" not in out
    assert one_document(out)["verdicts"] == []
    code, out, _ = run(*words, "--as-owner", "--json")
    (hidden,) = one_document(out)["verdicts"]
    assert code == DONE and hidden["stage"] == "access" and "south.md" in hidden["sentence"]


@pytest.mark.parametrize(
    ("passage", "wanted"),
    [
        ("the FEE is 14 EUR", DONE),
        ("Pilots board the vessel at the harbour when penguins", DONE),  # most of it is there
        ("penguins in the fog", NOT_FOUND),
    ],
)
def test_a_script_can_tell_whether_the_passage_was_found(run, docs, passage, wanted):
    for more in ((), ("--json",)):
        code, out, err = run("why", "--docs", docs, *WHY, "--passage", passage, *more)
        assert (code, err) == (wanted, "") and out
    assert (one_document(out)["target"]["found"] == 0) == (wanted == NOT_FOUND)


def test_what_degraded_counts_more_than_what_was_not_found(run, docs, tmp_path):
    words = ("--mode", "bge_rerank", "--piecewise", tmp_path / "no-model", "--strict")
    code, _, err = run("why", "--docs", docs, *WHY, "--passage", "penguins in the fog", *words)
    assert code == DEGRADED and "no-model" in err


def test_the_readme_and_the_help_name_the_exit_codes(run):
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")
    _, _, table = readme.partition("| exit code | meaning |\n| --- | --- |\n")
    rows = [line.strip("| ").split(" | ") for line in table.partition("\n\n")[0].splitlines()]
    assert {int(n): what.replace("`", "") for n, what in rows} == EXIT_CODES
    _, out, _ = run("--help")
    said = " ".join(out.split())
    assert all(f"{n} {what}" in said for n, what in EXIT_CODES.items())


def test_why_wants_a_passage_or_a_chunk(run, docs):
    assert run("why", "--docs", docs, *WHY)[0] == BAD_INPUT


# What is given and empty, and what would steer a terminal.


def test_an_empty_tenant_is_nobody_and_not_the_owner(run, tmp_path):
    (tmp_path / "hidden.md").write_text("---\ntenant: acme\n---\nThe secret pump pressure.\n")
    (tmp_path / "open.md").write_text("The public pump.\n")
    code, out, _ = run(
        "trace", "--docs", str(tmp_path), "--question", "pump", "--tenant", "", "--json"
    )
    assert code == DONE and "hidden.md" not in out and "secret" not in out


@pytest.mark.parametrize("wanted", [("--chunk", ""), ("--chunk", "nope"), ("--passage", "...!")])
def test_why_of_what_is_not_there_is_bad_input(run, docs, wanted):
    code, out, err = run("why", "--docs", docs, "--question", "fee", *wanted)
    assert code == BAD_INPUT and out == "" and wanted[0] in err


def test_documents_do_not_steer_the_terminal(run, tmp_path):
    (tmp_path / "a.md").write_text("The pump \x1b[31m\x1b]0;owned\x07 is red.\n")
    code, out, err = run("trace", "--docs", str(tmp_path), "--question", "pump")
    assert code == DONE and "\x1b" not in out + err and "\x07" not in out + err
    assert "pump" in out
