"""Spans as LangChain's and LlamaIndex's instrumentations write them, in each form of file."""

from __future__ import annotations

import json

import pytest

from core.errors import TraceFormatError
from core.fates import fates
from core.interchange import read_traces
from core.tokens import WordCounter
from core.trace import NOT_RECORDED, Trace
from tests.interchange.exports import (
    QUESTION,
    TEXTS,
    _span,
    documents,
    langchain,
    llama_index,
    nested,
    otlp,
)


def traces(data: object) -> list[Trace]:
    return [i.trace for i in read_traces(json.dumps(data), counter=WordCounter())]


def order(trace: Trace, stage: str) -> list[str]:
    """The texts' names in the order that left a stage."""
    names = {text: node for node, text in TEXTS.items()}
    texts = {c.id: names[c.text] for c in trace.chunks}
    entries = [e for e in trace.stage(stage).entries if e.rank]
    return [texts[e.chunk_id] for e in sorted(entries, key=lambda e: e.rank)]


FORMS = {
    "flat": llama_index(),
    "nested": nested(llama_index()),
    "otlp": otlp(llama_index(), "llama"),
    "wrapped": {"data": llama_index(), "next_cursor": None},
    "frame": [
        {"context.trace_id": s["context"]["trace_id"], "context.span_id": s["context"]["span_id"], "parent_id": s["parent_id"], "name": s["name"], "start_time": s["start_time"], "end_time": s["end_time"]}
        | {f"attributes.{k}": v for k, v in s["attributes"].items()}
        for s in llama_index()
    ],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_search_rerank_and_prompt_are_read_from_every_form(form):
    (trace,) = traces(FORMS[form])
    assert trace.question == QUESTION
    assert order(trace, "first_stage") == ["n2", "n1", "n3", "n4"]  # once, though two spans say it
    assert order(trace, "rerank_1") == ["n1", "n3", "n2"]
    rerank = trace.stage("rerank_1")
    assert (rerank.model, rerank.settings) == ("ms-marco-MiniLM", {"top_k": 3})
    assert rerank.seconds == pytest.approx(0.05) and rerank.entries[0].score == 5.2
    assert trace.stage("rerank_2").how == NOT_RECORDED
    ends = {trace.foreign_ids[c]: f.stage for c, f in fates(trace).items() if not f.arrived}
    assert ends == {"n2": "left_out", "n4": "rerank_1"}
    lost = {trace.foreign_ids[c]: f.reason for c, f in fates(trace).items() if f.reason}
    assert lost["n2"] == "its text does not stand in the recorded prompt"
    assert [trace.foreign_ids[p.chunk_id] for p in trace.selected] == ["n1", "n3"]
    assert trace.prompt.startswith("system:\nAnswer from the context.\n\nuser:\nContext:")
    assert trace.models == {"reranker": "ms-marco-MiniLM", "llm": "small-llm"}
    assert {d.name for d in trace.documents} == {"terms.md", "harbour.txt"}
    assert trace.settings == {"llm.token_count.prompt": 61}
    assert Trace.from_json(trace.to_json()) == trace


def test_one_span_a_line_is_read():
    lines = "\n".join(json.dumps(s) for s in llama_index())
    (one,) = read_traces(lines, counter=WordCounter())
    assert one.trace == traces(llama_index())[0]


def test_langchains_ensemble_and_compressor():
    (trace,) = traces(langchain())
    assert order(trace, "first_stage") == ["n1", "n2", "n3", "n4"]
    first = trace.stage("first_stage")
    assert "EnsembleRetriever, from 2 searches: BM25Retriever, VectorStoreRetriever" in first.how
    assert first.entries[0].score is None
    assert first.entries[0].scores == {"rank in search 1": 1.0, "rank in search 2": 2.0}
    assert order(trace, "rerank_1") == ["n3", "n1"]
    rerank = trace.stage("rerank_1")
    assert rerank.how == "ContextualCompressionRetriever"
    assert rerank.seconds == pytest.approx(0.082 - 0.010 - 0.020 - 0.031, abs=1e-3)
    assert trace.origin == "rag-service" and len(trace.selected) == 2
    assert any("Asked was “and my deposit?”" in w for w in trace.warnings)
    assert all(there.startswith("text:") for there in trace.foreign_ids.values())


def test_searches_side_by_side_are_joined_by_best_rank():
    found = {"a": ("n1", "n4"), "b": ("n2", "n1")}
    spans = [
        _span("c" * 32, i, None, i, 1, 2, "RETRIEVER", documents("retrieval.documents", dict.fromkeys(nodes)))
        for i, nodes in found.items()
    ]  # fmt: skip
    (trace,) = traces(spans)
    assert order(trace, "first_stage") == ["n1", "n2", "n4"]
    assert "their own order is not recorded" in trace.stage("first_stage").how
    assert "not recorded" in trace.question


def test_a_reranker_alone_says_what_it_had_read():
    (trace,) = traces(
        [s for s in llama_index() if s["name"] != "chat" and "retrieve" not in s["name"]]
    )
    assert order(trace, "first_stage") == ["n2", "n1", "n3", "n4"]
    assert "the search itself is not recorded" in trace.stage("first_stage").how
    assert trace.question == QUESTION and not trace.prompt


def test_every_trace_of_a_file_is_listed():
    both = llama_index("a" * 32) + llama_index("d" * 32)
    names = [i.name for i in read_traces(json.dumps(both), counter=WordCounter())]
    assert names == [f"query {'a' * 8}", f"query {'d' * 8}"]


def test_hidden_contents_and_nameless_documents_do_no_harm():
    spans = llama_index()
    for span in spans:
        for key in span["attributes"]:
            if key.endswith(("document.content", "message.content", "input.value")):
                span["attributes"][key] = "__REDACTED__"
    del spans[0]["attributes"]["retrieval.documents.1.document.id"]
    del spans[1]["attributes"]["retrieval.documents.1.document.id"]
    (trace,) = traces(spans)
    assert all(c.text == "" for c in trace.chunks) and len(trace.chunks) == 4
    assert any("neither id nor content" in w for w in trace.warnings)


def test_spans_without_a_search_are_refused():
    chat = [s for s in llama_index() if s["name"] == "chat"]
    with pytest.raises(TraceFormatError, match="hold no list of documents"):
        traces(chat)
    bad = llama_index()
    del bad[2]["context"]
    with pytest.raises(TraceFormatError) as caught:
        traces(bad)
    assert caught.value.culprit == "[2].context.trace_id"
