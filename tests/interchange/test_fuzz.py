"""Whatever a file holds, it gives traces that hold together, or one kind of error."""

from __future__ import annotations

import json
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from core.errors import TraceFormatError
from core.fates import fates
from core.interchange import read_traces
from core.tokens import WordCounter
from tests.interchange.exports import langchain, llama_index, nested, otlp
from tests.interchange.test_ranked_lists import example

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["c-17", "rerank", "dedup", "RETRIEVER", "LLM", "0x1", "1e999", "Infinity"]),
    st.just([]),
    st.just({}),
    st.lists(st.integers(), max_size=2),
    st.just({"values": [{"stringValue": "x"}]}),
)


@cache
def seeds() -> tuple[object, ...]:
    return (
        example(),
        {"traces": [example(), example()]},
        llama_index(),
        nested(llama_index()),
        langchain(),
        otlp(llama_index(), "s"),
    )


def places(value: object, path: tuple = ()) -> list[tuple]:
    out = [path]
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return out
    for key, inner in items:
        out += places(inner, (*path, key))
    return out


def changed(value: object, path: tuple, new: object, how: str) -> object:
    copied = json.loads(json.dumps(value))
    if not path:
        return new
    *outer, last = path
    here = copied
    for key in outer:
        here = here[key]
    match how:
        case "replace":
            here[last] = new
        case "remove":
            del here[last]
        case _:  # the same once more
            if isinstance(here, list):
                here.append(here[last])
            else:
                here[f"{last}.x"] = here[last]
    return copied


def holds(text: str) -> None:
    """What a page relies on is so, or the file is refused as one."""
    try:
        found = read_traces(text, counter=WordCounter())
    except TraceFormatError as error:
        assert error.culprit and error.problem and error.remedy
        return
    assert found
    for one in found:
        trace = one.trace
        assert read_traces(trace.to_json())[0].trace == trace
        ends = fates(trace)
        assert {c.id for c in trace.chunks} <= ends.keys()
        selected = {p.chunk_id for p in trace.selected}
        if one.form != "trace":
            assert selected.isdisjoint(c for s in trace.stages for c in s.dropped)
            assert all(s.passed == len(s.kept) + len(s.added) for s in trace.stages)


@given(st.data())
def test_a_changed_export_is_read_or_refused(data):
    value = data.draw(st.sampled_from(seeds()))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(value)))
        how = data.draw(st.sampled_from(["replace", "remove", "again"]))
        value = changed(value, path, data.draw(leaves), how)
    holds(json.dumps(value))


@given(st.recursive(leaves, lambda s: st.lists(s, max_size=3) | st.dictionaries(
    st.sampled_from(["question", "stages", "name", "results", "id", "attributes", "traces", "data",
                     "resourceSpans", "scopeSpans", "spans", "context", "schema"]), s, max_size=4)))  # fmt: skip
def test_any_json_is_read_or_refused(value):
    holds(json.dumps(value))


@given(st.one_of(st.text(), st.text(alphabet='{}[]",:\n0123456789eE+-nul ')))
def test_any_text_is_read_or_refused(text):
    holds(text)


def test_depth_and_size_do_no_harm():
    for text in ("[" * 100_000, '{"stages":' * 900 + "1" + "}" * 900, '{"data":' * 400 + "[]" + "}" * 400,
                 '{"a":' * 5000 + "1" + "}" * 5000, "9" * 5000, '{"question":"q","stages":[{"name":"search","results":[{"id":' + "9" * 4000 + "}]}]}"):  # fmt: skip
        holds(text)
    span = {"context": {"trace_id": "1", "span_id": "2"}, "attributes": {"retrieval." * 9000: 1}}
    holds(json.dumps([span]))
    deep: object = "x"
    for _ in range(600):
        deep = {"retrieval": deep}
    holds(json.dumps([span | {"attributes": deep}]))
