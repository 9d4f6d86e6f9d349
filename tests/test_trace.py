"""A saved trace comes back equal, or with one kind of error and its reason."""

from __future__ import annotations

import dataclasses
import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import TraceFormatError
from core.records import Page, Principal
from core.settings import STAGES, Settings
from core.trace import SCHEMA_VERSION, CorpusScores, Trace
from tests.stages.made import index_of
from tests.worlds import pipeline


@cache
def sample() -> Trace:
    """A trace in which every kind of field holds something."""
    texts = {
        "a": ["alpha pump stands here", "beta valve\nworks “now”", "gamma pump: 押金 é 🙂"],
        "b": ["alpha pump stands here!", "delta"],
    }
    whole = "\n\n".join(texts["a"])
    pages = (Page(1, 0, 30), Page(2, 30, len(whole)))
    made = index_of(texts, pages={"a": pages}, date={"b": "2026-01-02"}, priority={"b": 1})
    knobs = Settings(candidate_k=3, max_radius=1, extend_threshold=0.0, evidence_budget=40)
    return pipeline().run(made, "alpha pump", knobs, principal=Principal("t", ("r",), ("l",)))


@cache
def saved() -> str:
    return sample().to_json()


def test_the_sample_holds_something_of_everything():
    trace = sample()
    assert trace.selected and any(s.dropped for s in trace.stages) and trace.stage("extend").ran
    assert any(e.fate == "added" for e in trace.stage("extend").entries)
    assert [d.page_chunks for d in trace.documents if d.name == "a"] == [(0, 2)]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_a_trace_comes_back_equal(indent):
    back = Trace.from_json(sample().to_json(indent))
    assert back == sample()
    assert back.to_json() == saved()
    assert type(back.settings["candidate_k"]) is int and type(back.principal) is Principal


def test_numpys_numbers_are_saved_as_plain_ones():
    odd = dataclasses.replace(sample(), settings={"x": np.float64(0.5), "y": np.int64(3)})
    assert Trace.from_json(odd.to_json()).settings == {"x": 0.5, "y": 3}


def test_scores_are_the_same_bytes_on_every_machine():
    packed = CorpusScores(bm25=CorpusScores.pack(np.array([1.0, -2.5])))
    assert packed.bm25 == bytes.fromhex("0000803f000020c0")
    assert packed.array("bm25").tolist() == [1.0, -2.5]
    assert len(packed.array("dense")) == 0
    with pytest.raises(ValueError, match="read-only"):
        packed.array("bm25")[0] = 3


def test_fields_of_a_later_minor_version_are_passed_over():
    data = json.loads(saved())
    data["mood"] = "good"
    data["stages"][0]["weather"] = {"rain": 1}
    assert Trace.from_json(json.dumps(data)) == sample()


def test_stages_are_found_by_name():
    assert [sample().stage(name).name for name in STAGES] == list(STAGES)
    with pytest.raises(KeyError):
        sample().stage("nothing")


def test_without_timings_nothing_but_the_seconds_differ():
    bare = sample().without_timings()
    assert all(s.seconds == 0 for s in bare.stages)
    assert [dataclasses.replace(s, seconds=0.0) for s in sample().stages] == list(bare.stages)


# What is not a trace.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("\x00", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 5_000, "not JSON"),
        ("NaN", "not JSON"),
        (r'{"question": "\ud800"}', "half a character"),
        ("null", "not a saved trace"),
        ("[]", "not a saved trace"),
        ('"trace"', "not a saved trace"),
        ("{}", "not a saved trace"),
        ('{"nodes": [], "schema": 1}', "not a saved trace"),
        ('{"schema": 1, "stages": []}', "damaged"),
        ('{"schema": 1, "stages": {}}', "damaged"),
    ],
)
def test_foreign_files_are_refused_in_words(text, said):
    with pytest.raises(TraceFormatError, match=said):
        Trace.from_json(text)


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None, [], {}, 10**50])
def test_another_schema_version_is_named(version):
    data = json.loads(saved()) | {"schema": version}
    with pytest.raises(TraceFormatError, match="schema version") as caught:
        Trace.from_json(json.dumps(data))
    assert f"reads version {SCHEMA_VERSION}" in str(caught.value)
    assert len(str(caught.value)) < 200


def _at(data, path):
    for step in path[:-1]:
        data = data[step]
    return data, path[-1]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["outcome"], "victory"),
        (["stages"], []),
        (["stages", 0, "name"], "first_stage"),
        (["stages", 1, "seconds"], "fast"),
        (["stages", 1, "seconds"], 10**400),
        (["stages", 1, "kept"], "abc"),
        (["stages", 1, "entries", 0, "chunk_id"], "0123456789abcdef:000000"),
        (["stages", 1, "entries", 0, "rank"], 1.5),
        (["stages", 1, "entries", 0, "rank"], True),
        (["stages", 1, "entries", 0, "scores"], []),
        (["corpus_scores", "bm25"], "AAAA"),
        (["corpus_scores", "bm25"], "not base64!"),
        (["corpus_scores", "bm25"], "é"),
        (["corpus_scores", "bm25"], 3),
        (["corpus_scores"], None),
        (["documents", 0, "chunks"], 99),
        (["documents", 0, "chunks"], -1),
        (["documents", 0, "id"], "other"),
        (["chunks", 0, "ordinal"], 7),
        (["chunks", 0, "id"], "other"),
        (["chunks"], []),
        (["selected", 0, "chunk_id"], "other"),
        (["selected", 0, "text"], None),
        (["principal"], "me"),
        (["settings"], []),
        (["ledger"], {"total": "many"}),
    ],
)  # fmt: skip
def test_damage_is_named_and_not_shown_at_length(path, value):
    data = json.loads(saved())
    holder, last = _at(data, path)
    holder[last] = value
    with pytest.raises(TraceFormatError, match="damaged") as caught:
        Trace.from_json(json.dumps(data))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(number):
    data = json.loads(saved())
    data["stages"][1]["cut_score"] = "HERE"
    with pytest.raises(TraceFormatError):
        Trace.from_json(json.dumps(data).replace('"HERE"', number))


# Hypothesis: cut, flipped and swapped. Only an equal or a valid trace, or the one error.


def survives(text: str) -> None:
    try:
        trace = Trace.from_json(text)
    except TraceFormatError as error:
        assert str(error)
        return
    assert Trace.from_json(trace.to_json()) == trace
    for name in ("bm25", "dense", "fused"):
        trace.corpus_scores.array(name)


@given(st.data())
def test_a_file_cut_short_or_with_a_changed_character(data):
    text = saved()
    at = data.draw(st.integers(0, len(text) - 1))
    kind = data.draw(st.sampled_from(["cut", "drop", "change", "insert"]))
    other = data.draw(st.sampled_from(list('"{}[],:0-9eE.\\ \x00é') + ["null", "1e999", "[[["]))
    survives(
        {
            "cut": text[:at],
            "drop": text[:at] + text[at + 1 :],
            "change": text[:at] + other + text[at + 1 :],
            "insert": text[:at] + other + text[at:],
        }[kind]
    )


anything = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(allow_nan=False),
        st.text(max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)  # fmt: skip


@given(st.data())
def test_a_value_replaced_or_taken_out(data):
    trace = json.loads(saved())
    holder: object = trace
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = data.draw(st.sampled_from(keys))
        inner = holder[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.integers(0, 3)) == 0:
            break
        holder = inner
    if data.draw(st.booleans()):
        holder[key] = data.draw(anything)
    else:
        del holder[key]
    survives(json.dumps(trace))


@given(anything)
def test_any_json(value):
    survives(json.dumps(value))
    survives(json.dumps({"schema": 1, "stages": value}))


@given(st.text(max_size=40))
def test_any_text(text):
    survives(text)
