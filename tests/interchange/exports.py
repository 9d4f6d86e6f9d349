"""Made-up exports of spans, written as the instrumentations of LangChain and LlamaIndex write."""

from __future__ import annotations

import json
from typing import Any

from core.interchange import read_traces
from core.tokens import WordCounter
from core.trace import Trace

QUESTION = "When is a deposit refunded?"
TEXTS = {
    "n1": "A deposit is refunded within seven days of the return of the boat, by bank transfer.",
    "n2": "Pilots board vessels at the outer buoy.",
    "n3": "No deposit is refunded for boats that are returned more than a day late.",
    "n4": "Fees are waived on Sundays.",
}
BASE = 1_760_000_000_000_000_000


def imported(run: object) -> Trace:
    """The only trace of a file that holds this."""
    (one,) = read_traces(json.dumps(run), counter=WordCounter())
    return one.trace


def document(prefix: str, at: int, node: str, score: float | None, ids: bool = True) -> dict:
    key = f"{prefix}.{at}.document"
    source = {"file_name": "terms.md" if node in ("n1", "n3") else "harbour.txt"}
    out: dict[str, Any] = {
        f"{key}.content": TEXTS[node],
        f"{key}.metadata": json.dumps(source),
    }
    if ids:
        out[f"{key}.id"] = node
    if score is not None:
        out[f"{key}.score"] = score
    return out


def documents(prefix: str, nodes: dict[str, float | None], ids: bool = True) -> dict:
    out: dict[str, Any] = {}
    for at, (node, score) in enumerate(nodes.items()):
        out |= document(prefix, at, node, score, ids)
    return out


def llama_index(trace_id: str = "a" * 32) -> list[dict]:
    """Spans with flat attributes, in the order in which they end: search, rerank, answer."""
    found = {"n2": 0.71, "n1": 0.69, "n3": 0.66, "n4": 0.2}
    reranked = {"n1": 5.2, "n3": 3.1, "n2": -4.0}
    query = json.dumps({"query_str": QUESTION, "image_path": None})
    prompt = f"Context:\n{TEXTS['n1']}\n\n{TEXTS['n3']}\nQuery: {QUESTION}"
    return [
        _span(trace_id, "01", "10", "_retrieve", 10, 30, "RETRIEVER", {"input.value": query, "input.mime_type": "application/json"} | documents("retrieval.documents", found)),
        _span(trace_id, "10", "99", "retrieve", 9, 31, "RETRIEVER", {"input.value": QUESTION} | documents("retrieval.documents", found)),
        _span(trace_id, "11", "99", "postprocess_nodes", 32, 82, "RERANKER", {"reranker.query": QUESTION, "reranker.model_name": "ms-marco-MiniLM", "reranker.top_k": 3} | documents("reranker.input_documents", found) | documents("reranker.output_documents", reranked)),
        _span(trace_id, "12", "99", "chat", 90, 190, "LLM", {"llm.model_name": "small-llm", "llm.token_count.prompt": 61, "llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": "Answer from the context.", "llm.input_messages.1.message.role": "user", "llm.input_messages.1.message.content": prompt}),
        _span(trace_id, "99", None, "query", 8, 200, "CHAIN", {"input.value": QUESTION}),
    ]  # fmt: skip


def _span(trace_id, span_id, parent, name, start, end, kind, attributes) -> dict:
    return {
        "name": name,
        "context": {"trace_id": f"0x{trace_id}", "span_id": f"0x{span_id:0>16}"},
        "parent_id": f"0x{parent:0>16}" if parent else None,
        "start_time": BASE + start * 1_000_000,
        "end_time": BASE + end * 1_000_000,
        "attributes": {"openinference.span.kind": kind, **attributes},
    }


def langchain() -> dict:
    """OTLP JSON: two searches inside an ensemble inside a compressor; no ids, no scores."""

    def found(*nodes: str) -> dict:
        return documents("retrieval.documents", dict.fromkeys(nodes), ids=False)

    asked = {"input.value": QUESTION}
    spans = [
        _span("b" * 32, "03", "02", "BM25Retriever", 10, 20, "RETRIEVER", asked | found("n1", "n4")),
        _span("b" * 32, "04", "02", "VectorStoreRetriever", 20, 40, "RETRIEVER", asked | found("n2", "n1", "n3")),
        _span("b" * 32, "02", "01", "EnsembleRetriever", 10, 41, "RETRIEVER", asked | found("n1", "n2", "n3", "n4")),
        _span("b" * 32, "01", "00", "ContextualCompressionRetriever", 9, 91, "RETRIEVER", asked | found("n3", "n1")),
        _span("b" * 32, "05", "00", "ChatModel", 92, 99, "LLM", {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.contents.0.message_content.type": "text", "llm.input_messages.0.message.contents.0.message_content.text": f"{TEXTS['n3']}\n\n{TEXTS['n1']}\n\n{QUESTION}"}),
        _span("b" * 32, "00", None, "RunnableSequence", 8, 100, "CHAIN", {"input.value": json.dumps({"input": "and my deposit?"}), "input.mime_type": "application/json"}),
    ]  # fmt: skip
    return otlp(spans, "rag-service")


def otlp(spans: list[dict], service: str) -> dict:
    """The same spans in OTLP's JSON form."""
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [{"key": "service.name", "value": {"stringValue": service}}]
                },
                "scopeSpans": [
                    {"scope": {"name": "openinference"}, "spans": [_otlp(s) for s in spans]}
                ],
            }
        ]
    }


def _otlp(span: dict) -> dict:
    return {
        "traceId": span["context"]["trace_id"][2:],
        "spanId": span["context"]["span_id"][2:],
        "parentSpanId": (span["parent_id"] or "0x")[2:],
        "name": span["name"],
        "startTimeUnixNano": str(span["start_time"]),
        "endTimeUnixNano": str(span["end_time"]),
        "attributes": [{"key": k, "value": _value(v)} for k, v in span["attributes"].items()],
    }


def _value(value: Any) -> dict:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def nested(spans: list[dict]) -> list[dict]:
    """The same spans with attributes as objects and lists, as Phoenix keeps them."""
    out = []
    for span in spans:
        tree: dict[str, Any] = {}
        for key, value in span["attributes"].items():
            here = tree
            *path, last = key.split(".")
            for part in path:
                here = here.setdefault(part, {})
            here[last] = value
        out.append(span | {"attributes": _lists(tree)})
    return out


def _lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(k.isdigit() for k in tree):
        return [_lists(tree[k]) for k in sorted(tree, key=int)]
    return {k: _lists(v) for k, v in tree.items()}
