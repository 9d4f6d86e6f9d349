"""Ranked lists per stage: the example of the document, what it becomes, and what is refused."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest

from core.errors import TraceFormatError
from core.fates import fates
from core.interchange import load_traces, read_traces
from core.trace import NOT_RECORDED, NOTHING_ARRIVED, Trace
from tests.interchange.exports import imported

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "import.md"


def example() -> dict:
    (block,) = re.findall(
        r"^```json\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return json.loads(block)


def own(trace: Trace) -> dict[str, str]:
    """Our chunk id by the other pipeline's."""
    return {there: here for here, there in trace.foreign_ids.items()}


def test_the_documents_example_is_read_as_it_says():
    (one,) = read_traces(json.dumps(example()))
    trace, ids = one.trace, own(one.trace)
    assert one.name == "monday" and trace.origin == "support-bot"
    assert [(d.name, d.chunks, d.pages, d.date) for d in trace.documents] == [
        ("release-notes.txt", 2, 2, "2026-03-01"),
        ("faq.txt", 2, 0, ""),
    ]
    first = trace.stage("first_stage")
    assert [e.chunk_id for e in first.entries] == [ids[i] for i in ("c-17", "c-03", "c-18", "c-09")]
    assert [e.rank for e in first.entries] == [1, 2, 3, 4]
    assert first.entries[0].score == 0.81 and first.entries[0].scores == {
        "bm25": 7.4,
        "dense": 0.66,
    }
    assert (first.model, first.seconds, first.settings) == ("bge-small-en", 0.031, {"top_k": 4})
    ends = {trace.foreign_ids[c]: (f.stage, f.reason) for c, f in fates(trace).items()}
    assert ends == {
        "c-17": ("prompt", ""),
        "c-09": ("rerank_1", "below the cutoff of 0.1"),
        "c-18": ("dedup", "says the same"),
        "c-03": ("left_out", "its text does not stand in the recorded prompt"),
    }
    assert fates(trace)[ids["c-18"]].cause == ids["c-17"]
    (passage,) = trace.selected
    assert (passage.pages, passage.start, passage.end) == ((2, 2), 1200, 1236)
    assert passage.score == 0.97  # the last list that gave one a score


def test_what_is_not_recorded_says_so_and_has_no_number():
    trace = imported(example())
    for name in ("access", "extend", "rerank_2", "relevance", "diversity", "budget", "order"):
        record = trace.stage(name)
        assert not record.ran and record.how == NOT_RECORDED and record.absence == NOT_RECORDED
        assert not record.entries and not record.seconds and not record.model
    assert trace.stage("rerank_1").absence == "" and trace.stage("prompt").ran
    assert not any(trace.corpus_scores.array(n).size for n in ("bm25", "dense", "fused", "sparse"))
    assert trace.ledger.window == trace.ledger.evidence_budget == 0


def test_the_documents_metadata_are_read_as_it_says():
    named = {"file_name": "a/b/notes.txt", "page": 1, "start": 3, "end": 9}
    run = {"question": "q", "stages": [{"name": "search", "results": [
        {"id": "x", "text": "second", "metadata": {"url": "https://e.example/doc"}},
        {"id": "y", "text": "later", "metadata": named | {"start": 40, "end": 45}},
        {"id": "z", "text": "sooner", "metadata": named},
    ]}]}  # fmt: skip
    trace = imported(run)
    ids = own(trace)
    assert {d.name for d in trace.documents} == {"doc", "notes.txt"}
    assert ids["z"] < ids["y"] and ids["z"].endswith(":000000")  # in the order of the document
    (z,) = [c for c in trace.chunks if c.id == ids["z"]]
    assert (z.start, z.end, z.pages) == (3, 9, (1, 1))


def test_an_imported_trace_comes_back_equal():
    trace = imported(example())
    assert Trace.from_json(trace.to_json()) == trace
    assert read_traces(trace.to_json())[0].trace == trace


def test_counts_of_each_stage_agree():
    trace = imported(example())
    for s in trace.stages:
        assert s.passed == len(s.kept) + len(s.added)
        assert s.entered + len(s.added) - len(s.dropped) == s.passed, s.name


def test_without_a_prompt_the_last_list_is_taken_and_that_is_said():
    run = example()
    del run["prompt"]
    trace = imported(run)
    assert [trace.foreign_ids[p.chunk_id] for p in trace.selected] == ["c-17", "c-03"]
    assert not trace.stage("prompt").ran and any("No prompt" in w for w in trace.warnings)


def test_a_list_of_the_prompt_stage_counts_more_than_its_text():
    run = example()
    run["stages"].append({"name": "prompt", "results": [{"id": "c-03"}, {"id": "c-17"}]})
    trace = imported(run)
    assert [trace.foreign_ids[p.chunk_id] for p in trace.selected] == ["c-03", "c-17"]


def test_a_prompt_that_quotes_nothing_loses_nothing():
    trace = imported(example() | {"prompt": "The notes were summed up elsewhere."})
    assert len(trace.selected) == 2 and any("No chunk stands" in w for w in trace.warnings)


def test_empty_lists_end_in_nothing():
    trace = imported({"question": "q", "stages": [{"name": "search", "results": []}]})
    assert trace.outcome == NOTHING_ARRIVED and not trace.chunks
    assert Trace.from_json(trace.to_json()) == trace


def test_a_result_that_leaves_a_list_and_comes_back_is_not_lost():
    run = {
        "question": "q",
        "stages": [
            {"name": "search", "results": [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]},
            {"name": "rerank", "results": [{"id": "a"}, {"id": "new", "text": "N"}]},
            {"name": "budget", "results": [{"id": "b"}, {"id": "a"}]},
        ],
    }
    trace = imported(run)
    ids, ends = own(trace), fates(trace)
    assert ends[ids["b"]].arrived and ends[ids["a"]].arrived
    assert ends[ids["new"]].stage == "budget"
    assert trace.stage("rerank_1").added == (ids["new"],)


def test_two_lists_called_rerank_and_several_runs_in_one_file():
    run = {
        "question": "q",
        "stages": [
            {"name": n, "results": [{"text": "only text"}]}
            for n in ("Retrieve", "rerank", "re-rank")
        ],
    }
    run["stages"][2]["name"] = "rerank"
    assert imported(run).stage("rerank_2").ran
    for several in (json.dumps({"traces": [run, run]}), json.dumps([run, run])):
        assert len(read_traces(several)) == 2
    assert len(read_traces(f"{json.dumps(run)}\n{json.dumps(run)}\n")) == 2


def broken(change) -> dict:
    run = copy.deepcopy(example())
    change(run)
    return run


FAULTS = [
    (lambda r: r.pop("question"), "question"),
    (lambda r: r.update(question=7), "question"),
    (lambda r: r.update(stages=[]), "stages"),
    (lambda r: r.update(stages={}), "stages"),
    (lambda r: r["stages"][1].pop("results"), "stages[1].results"),
    (lambda r: r["stages"][1].update(name="magic"), "stages[1].name"),
    (lambda r: r["stages"][2].update(stage="first_stage"), "stages[2].stage"),
    (lambda r: r["stages"].reverse(), "stages[1].name"),
    (lambda r: r["stages"][0]["results"][2].update(score="high"), "stages[0].results[2].score"),
    (lambda r: r["stages"][0]["results"][1].update(id="c-17"), "stages[0].results[1].id"),
    (lambda r: r["stages"][0]["results"].append({}), "stages[0].results[4]"),
    (lambda r: r["stages"][1]["dropped"][0].update(id="c-17"), "stages[1].dropped[0].id"),
    (lambda r: r["stages"][0].update(seconds=-1), "stages[0].seconds"),
    (lambda r: r["stages"][0].update(entered=2), "stages[0].entered"),
    (lambda r: r["documents"].append({"name": "faq.txt"}), "documents[2]"),
    (lambda r: r["documents"][0].update(pages="two"), "documents[0].pages"),
    (lambda r: r.update(prompt=["a"]), "prompt"),
]


@pytest.mark.parametrize(("change", "place"), FAULTS)
def test_a_mistake_is_named_with_its_place_and_a_remedy(change, place):
    with pytest.raises(TraceFormatError) as caught:
        imported(broken(change))
    assert caught.value.culprit == place and caught.value.problem and caught.value.remedy


def test_a_file_is_named_in_its_error(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(broken(lambda r: r.pop("question"))))
    with pytest.raises(TraceFormatError, match=r"^run\.json, question: is missing or empty\. Say"):
        load_traces(path)
    with pytest.raises(TraceFormatError, match="cannot be read"):
        load_traces(tmp_path / "none.json")
    for content, said in (
        (b"\xff\xfe{\x00", "text in UTF-16, not in UTF-8. Save it again as UTF-8"),
        ("{}".encode("utf-16-be"), "text in UTF-16, not text in UTF-8"),
        (b'{"a": "caf\xe9"}', "not UTF-8 text: byte 11 fits nothing. Save it again as UTF-8"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "it holds a PDF, not text. Choose another file"),
        (b"\x89PNG\r\n\x1a\n\x00", "it holds a PNG picture, not text"),
    ):
        path.write_bytes(content)
        with pytest.raises(TraceFormatError, match=rf"^run\.json: cannot be read: .*{said}"):
            load_traces(path)
