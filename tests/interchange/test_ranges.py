"""Numbers of an import that cannot be: named with record, field and remedy, by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import BAD_INPUT, DONE, main
from core.errors import TraceFormatError
from core.interchange import read_traces
from core.tokens import WordCounter
from core.trace import Trace
from dashboard import saved
from tests.dashboard.traces import small
from tests.interchange.exports import llama_index
from tests.interchange.test_ranked_lists import example


@pytest.fixture
def bring(tmp_path: Path, capfd):
    """``chunkscope import`` of a file that holds this: (exit code, standard output and error)."""

    def called(content: object, *words: str):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "run.json").write_text(text, encoding="utf-8")
        code = main(["import", str(tmp_path / "run.json"), *words])
        return (code, *capfd.readouterr())

    return called


def refused(bring, content: object, place: str, said: str) -> None:
    """Command and page refuse it in the same words."""
    code, out, err = bring(content)
    assert (code, out) == (BAD_INPUT, "") and err.count("\n") == 1
    assert err.startswith(f"chunkscope: run.json, {place}: ") and said in err
    assert err.rstrip().endswith(".") and err.count(". ") == 1, "a fault and a remedy"
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises(TraceFormatError) as caught:
        saved.take_in("run.json", text.encode())
    assert f"chunkscope: run.json, {caught.value}\n" == err


FIRST, META = "stages[0].results[0]", "stages[0].results[0].metadata"


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"metadata": {"page": -1}}, f"{META}.page", "is -1, which is no page. Write a whole number from 1"),
        ({"metadata": {"page": 0}}, f"{META}.page", "is 0, which is no page"),
        ({"metadata": {"page": 2.5}}, f"{META}.page", "is 2.5, which is no page"),
        ({"metadata": {"page": True}}, f"{META}.page", "is True, which is no page"),
        ({"metadata": {"page": [2]}}, f"{META}.page", "is [2], which is no page"),
        ({"metadata": {"page_number": "-3"}}, f"{META}.page_number", "is '-3', which is no page"),
        ({"metadata": {"start": -5, "end": 4}}, f"{META}.start", "is -5, which is no place in a text"),
        ({"metadata": {"start": 1.5}}, f"{META}.start", "a whole number from 0, or leave it out"),
        ({"metadata": {"start": 9, "end": 3}}, f"{META}.end", "is 3, and start is 9. Let end be at least start"),
        ({"metadata": {"start_char_idx": 9, "end_char_idx": 3}}, f"{META}.end_char_idx", "and start_char_idx is 9"),
        ({"metadata": {"start": 0, "end": 10**20}}, f"{META}.end", "which is no place in a text"),
        ({"rank": -3}, f"{FIRST}.rank", "is -3, which is no rank. Write a whole number, or leave it out"),
        ({"rank": "best"}, f"{FIRST}.rank", "is 'best', which is no rank"),
        ({"score": "high"}, f"{FIRST}.score", "is 'high', which is no number. Write a number, or leave it out"),
        ({"score": "0.5"}, f"{FIRST}.score", "is '0.5', which is no number"),
        ({"score": True}, f"{FIRST}.score", "is True, which is no number"),
        ({"scores": {"bm25": []}}, f"{FIRST}.scores.bm25", "is [], which is no number"),
        ({"score": float("nan")}, f"{FIRST}.score", "is NaN or infinite, which is no number. Write a number, or null"),
        ({"scores": {"bm25": float("-inf")}}, f"{FIRST}.scores.bm25", "is NaN or infinite"),
    ],
)  # fmt: skip
def test_a_result_of_a_ranked_list(bring, change, place, said):
    run = example()
    run["stages"][0]["results"][0] |= change
    refused(bring, run, place, said)
    refused(bring, {"traces": [example(), run]}, f"traces[1].{place}", said)


def test_a_line_is_named_too(bring):
    run = example()
    run["stages"][0]["results"][1]["score"] = float("inf")
    lines = f"{json.dumps(example())}\n{json.dumps(run)}\n"
    refused(bring, lines, "line 2, stages[0].results[1].score", "is NaN or infinite")
    refused(bring, lines.replace("Infinity", "1e999"), "line 2, stages[0].results[1].score", "NaN")


def test_a_dropped_result_is_looked_at_too(bring):
    run = example()
    run["stages"][1]["dropped"][0]["metadata"] = {"page": -1}
    refused(bring, run, "stages[1].dropped[0].metadata.page", "which is no page")


def test_what_can_be_is_read(bring):
    run = example()
    odd = {"page": "iv", "page_label": "0", "start": 1200.0, "end": 1236.0, "rank": -1}
    run["stages"][0]["results"][0] |= {"metadata": odd | {"document": "notes"}, "rank": 0}
    run["stages"][0]["results"][1]["metadata"] |= {"start": "0:42", "end": None, "page": 3.0}
    code, out, err = bring(run, "--json")
    assert (code, err) == (DONE, "")
    trace = Trace.from_json(out)
    by_id = {trace.foreign_ids[c.id]: c for c in trace.chunks}
    assert (by_id["c-17"].start, by_id["c-17"].end, by_id["c-17"].pages) == (1200, 1236, ())
    assert (by_id["c-03"].start, by_id["c-03"].end, by_id["c-03"].pages) == (0, 0, (3, 3))


# A trace of Chunkscope's own, changed by a script or by hand.


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("stages", 1, "entries", 0, "rank"), -3, "is -3, and ranks count from 1"),
        (("stages", 1, "entries", 0, "rank"), 0, "is 0, and ranks count from 1"),
        (("stages", 1, "entries", 0, "relevance"), 1.5, "is 1.5, and a probability is 0 to 1"),
        (("stages", 1, "entries", 0, "fate"), "lucky", "is 'lucky', which is none"),
        (("stages", 1, "seconds"), -1, "is -1.0, and a time is at least 0"),
        (("stages", 1, "passed"), -1, "is -1, and a count is at least 0"),
        (("chunks", 0, "pages"), [-1, 2], "names page -1, and pages count from 1"),
        (("chunks", 0, "pages"), [3, 2], "is not a first page and a last one"),
        (("chunks", 0, "start"), -4, "is -4, and characters count from 0"),
        (("chunks", 0, "tokens"), -4, "is -4, and tokens are at least 0"),
        (("documents", 0, "pages"), -1, "is -1, and a count is at least 0"),
        (("selected", 0, "end"), -1, "is -1, before start, which is "),
        (("selected", 0, "pages"), [0, 0], "names page 0, and pages count from 1"),
        (("selected", 0, "number"), 0, "is 0, and citations count from 1"),
        (("ledger", "total"), -9, "is -9, and tokens are at least 0"),
    ],
)
def test_a_saved_trace(bring, path, value, said):
    data = json.loads(small().to_json())
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
    refused(bring, data, place, said)


def test_a_score_of_a_saved_trace_that_is_no_number(bring):
    data = json.loads(small().to_json())
    data["stages"][1]["entries"][2]["score"] = "high"
    said = "is damaged (stages[1].entries[2].score: 'high' is not a number). Save it again"
    refused(bring, data, "trace", said)
    data["stages"][1]["entries"][2]["score"] = float("nan")
    refused(bring, data, "stages[1].entries[2].score", "is NaN or infinite")


# Spans are written by tools: what cannot be in them is left out, and said.


def test_spans_say_what_they_leave_out(bring):
    spans = llama_index()
    for member in (*spans[0:2], spans[2]):
        prefix = "reranker.output_documents" if member is spans[2] else "retrieval.documents"
        attributes = member["attributes"]
        for at in (0, 1):
            attributes[f"{prefix}.{at}.document.score"] = "high"
            attributes[f"{prefix}.{at}.document.metadata"] = json.dumps(
                {
                    "file_name": "terms.md",
                    "page": -1,
                    "start": 9,
                    "end": 3,
                    "relevance_score": "low",
                }
            )
    code, out, err = bring(spans)
    assert (code, err) == (DONE, "")
    place = "note: _retrieve: retrieval.documents.0.document"
    assert f"{place}.score is 'high', which is no number; such values are left out." in out
    assert f"{place}.metadata.relevance_score is 'low', which is no number" in out
    assert f"{place}.metadata.page is -1, which is no page" in out
    assert f"{place}.metadata.end is 3, and start is 9" in out
    assert "documents.1.document" not in out, "each field is named once a span"
    (one,) = read_traces(json.dumps(spans), counter=WordCounter())
    first = one.trace.stage("first_stage").entries
    assert [e.score for e in first] == [None, None, 0.66, 0.2]
    assert all(c.pages == () and (c.start, c.end) == (0, 0) for c in one.trace.chunks)
    assert "left out" not in bring(llama_index())[1]
