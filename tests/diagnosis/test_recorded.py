"""A verdict from what a trace records, where its documents are not at hand."""

from __future__ import annotations

import json

import pytest

from core.diagnosis.recorded import UNKNOWN, recorded_answer
from core.fates import LEFT_OUT, fates
from core.interchange import read_traces
from core.settings import STAGES
from core.tokens import WordCounter
from core.trace import Trace
from tests.interchange.exports import langchain, llama_index
from tests.interchange.test_ranked_lists import example
from tests.stages.made import ask, index_of

FILES = {"lists": example(), "llama_index": llama_index(), "langchain": langchain()}


def imported(name: str) -> Trace:
    return read_traces(json.dumps(FILES[name]), counter=WordCounter())[0].trace


def steps(one) -> dict[str, tuple]:
    return {s.stage: (s.said, s.rank, s.score) for s in one.steps}


@pytest.mark.parametrize("name", FILES)
def test_every_text_of_an_import_has_a_verdict_that_agrees_with_its_fate(name):
    one = imported(name)
    ends = fates(one)
    for chunk in one.chunks:
        found = {v.chunk_id: v for v in recorded_answer(one, chunk.text).verdicts}
        assert chunk.id in found
        for own, said in found.items():
            end = ends.get(own)
            assert said.stage == (end.stage if end else UNKNOWN)
            assert said.arrived == any(p.chunk_id == own for p in one.selected)
            assert [s.stage for s in said.steps] == list(STAGES)


def test_a_list_that_leaves_it_out_is_named_with_rank_score_reason_and_what_is_not_recorded():
    (said,) = recorded_answer(imported("lists"), "ask for a REFUND by letter").verdicts
    assert said.stage == "rerank_1" and not said.arrived
    assert said.name == "faq.txt (c-09)"
    assert "left out at the first rerank (rerank), with a score of 0.020: below the cutoff of 0.1." in said.sentence  # fmt: skip
    assert "The last that it let through was faq.txt (c-03) (score 0.40)." in said.sentence
    assert "It was 4th of 4 after the first stage (score 0.11)." in said.sentence
    assert "Not recorded: access, the windows" in said.sentence
    own = steps(said)
    assert own["first_stage"] == ("kept", 4, 0.11)
    assert own["rerank_1"] == ("dropped", None, 0.02)
    assert own["extend"][0] == "not recorded" and own["dedup"][0] == "not listed"


def test_what_arrived_has_its_citation_and_the_furthest_place_comes_first():
    answer = recorded_answer(imported("lists"), "Release 4.2.1 closes CVE-2026-90417")
    best, other = answer.verdicts
    assert best.arrived and other.stage == "dedup"
    assert answer.sentence.startswith("It is in the prompt, as [1]: release-notes.txt, page 2")
    assert answer.sentence.endswith("1 other chunk of the trace holds it too.")
    assert "says the same. The cause named is release-notes.txt, page 2 (c-17)." in other.sentence


def test_a_reason_that_the_import_lacks_is_not_made_up():
    (said,) = recorded_answer(imported("llama_index"), "Fees are waived on Sundays.").verdicts
    assert "the import gives no reason" in said.sentence
    (left,) = recorded_answer(imported("llama_index"), "Pilots board vessels at the outer").verdicts
    assert left.stage == LEFT_OUT and "does not stand in the recorded prompt" in left.sentence


def test_a_text_that_is_on_no_list_says_what_is_not_known():
    answer = recorded_answer(imported("lists"), "zebras on the quay at noon")
    assert answer.verdicts == ()
    assert "in the text of none of the 4 chunks that this trace records" in answer.sentence
    assert "the first stage (retrieve), which let 4 on, is not recorded" in answer.sentence
    assert "no word to look for" in recorded_answer(imported("lists"), " … ").sentence


def test_a_part_of_a_passage_is_found_and_said():
    passage = "Ask for a refund by letter. And wait for nine long days at the office."
    answer = recorded_answer(imported("lists"), passage)
    assert answer.sentence.startswith("40% of the passage stands in this chunk. faq.txt (c-09)")
    assert answer.verdicts[0].share == pytest.approx(6 / 15)


def test_a_saved_trace_of_our_own_names_its_chunks_without_the_documents():
    made = index_of({"a": ["alpha kelp moss", "beta kelp moss", "gamma fern oak"]})
    trace = ask(made, question="alpha beta gamma", evidence_budget=10, dedup_method="off")
    loaded = Trace.from_json(trace.to_json())
    for chunk in loaded.chunks:
        (said,) = recorded_answer(loaded, chunk.text).verdicts
        assert said.name == f"a, chunk {chunk.ordinal + 1}"
        assert said.stage == fates(loaded)[chunk.id].stage
        assert "Not recorded" not in said.sentence and chunk.id not in said.sentence
