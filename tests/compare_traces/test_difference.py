"""The difference of two traces: joined chunks, reasons on each side, settings, prompts."""

from __future__ import annotations

import dataclasses
import json
import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compare_traces import difference, join, line_diff, markdown
from core.fates import fate_of
from core.modes import MODES
from core.records import Principal
from core.settings import Settings
from core.trace import Trace
from tests import worlds
from tests.dashboard.traces import HOSTILE, every_mode, small
from tests.interchange.exports import imported, langchain, llama_index


def as_ranked_lists(trace: Trace, pipeline: str = "copy", ids: bool = True) -> dict:
    """A trace as another pipeline would export its lists."""
    names = {d.id: d.name for d in trace.documents}
    chunks = {c.id: c for c in trace.chunks}
    stages = []
    for record in trace.stages:
        if not record.ran or record.name in ("access", "prompt"):
            continue
        ranked = sorted((e for e in record.entries if e.rank), key=lambda e: e.rank)
        results = [
            {"id": e.chunk_id, "text": chunks[e.chunk_id].text, "score": e.score, "metadata": {"source": names[chunks[e.chunk_id].document_id]}}
            for e in ranked
        ]  # fmt: skip
        if not ids:
            results = list({r.pop("id") and r["text"]: r for r in results}.values())
        stages.append({"name": record.name, "results": results})
    return {"question": trace.question, "pipeline": pipeline, "stages": stages, "prompt": trace.prompt}  # fmt: skip


@cache
def copy_of(mode: str, pipeline: str = "copy") -> Trace:
    return imported(as_ranked_lists(small(mode), pipeline))


PAIRS = {
    "modes": lambda: (small("no_rerank"), small()),
    "settings": lambda: (small(), small(candidate_k=6, max_radius=0)),
    "chunking": lambda: (small(), worlds_trace(chunk_tokens=48)),
    "imported": lambda: (small(), copy_of("no_rerank")),
    "two imports of one": lambda: (copy_of("no_rerank"), copy_of("rerank_extend_rerank")),
    "two imports": lambda: (copy_of("no_rerank"), copy_of("no_rerank", "other")),
    "frameworks": lambda: (imported(llama_index()), imported(langchain())),
    "strangers": lambda: (small(), imported(langchain())),
}


def worlds_trace(**knobs) -> Trace:
    docs = [worlds.document("Harbour fee waived. " * 40, "file-1.md")]
    chosen = Settings(candidate_k=20, **knobs)
    return worlds.pipeline().run(worlds.index(docs, chosen), "harbour fee", chosen)


@pytest.mark.parametrize("name", PAIRS)
def test_the_parts_of_both_prompts_are_all_there(name):
    a, b = PAIRS[name]()
    found = difference(a, b)
    in_a = {c.a.chunk_id for c in (*found.lost, *found.both)}
    in_b = {c.b.chunk_id for c in (*found.gained, *found.both)}
    assert in_a == {p.chunk_id for p in a.selected}
    assert in_b == {p.chunk_id for p in b.selected}
    for row in found.chunks:
        for trace, standing in ((a, row.a), (b, row.b)):
            if standing.chunk_id:
                fate = fate_of(trace, standing.chunk_id)
                assert (standing.stage, standing.arrived) == (fate.stage, fate.arrived)
                assert standing.arrived or standing.reason
            else:
                assert standing.reason and not standing.ranks
    for one in (*found.gained, *found.lost):
        assert one.name and one.words


@pytest.mark.parametrize("name", PAIRS)
def test_each_chunk_is_in_one_pair_and_swapping_swaps(name):
    a, b = PAIRS[name]()
    pairs = join(a, b)
    for side, trace in (("a", a), ("b", b)):
        ids = [i for p in pairs if (i := getattr(p, side))]
        assert len(ids) == len(set(ids)) and {c.id for c in trace.chunks} <= set(ids)
    assert {(p.b, p.a) for p in pairs} == {(p.a, p.b) for p in join(b, a)}
    there, back = difference(a, b), difference(b, a)
    assert {c.b.chunk_id for c in there.gained} == {c.a.chunk_id for c in back.lost}
    assert {c.a.chunk_id for c in there.lost} == {c.b.chunk_id for c in back.gained}
    assert [(s.name, s.b, s.a) for s in sorted(there.settings, key=str_name)] == [
        (s.name, s.a, s.b) for s in sorted(back.settings, key=str_name)
    ]


def str_name(setting) -> str:
    return setting.name


@pytest.mark.parametrize("mode", MODES)
def test_a_trace_and_itself_do_not_differ(mode):
    one = every_mode()[mode]
    found = difference(one, Trace.from_json(one.to_json()))
    assert not found.gained and not found.lost and not found.settings and not found.notes
    assert all(line.kind == "same" for line in found.prompt)
    assert all(c.a == c.b and c.joined == "id" for c in found.chunks)


def test_a_copy_in_another_system_is_joined_by_text():
    own, copy = small(), copy_of("rerank_extend_rerank")
    found = difference(own, copy)
    texts = {c.text.strip() for c in own.chunks}
    assert len(found.both) == len(own.selected) == len(copy.selected)
    assert not found.gained and not found.lost
    assert {c.joined for c in found.both} == {"text"} and texts
    assert any("joined by their text" in n for n in found.notes)
    for row in found.both:
        assert row.a.ranks["rerank_2"] == row.b.ranks["rerank_2"]


def test_ids_of_one_pipeline_join_though_its_texts_changed():
    run = as_ranked_lists(small())
    other = json.loads(json.dumps(run))
    for stage in other["stages"]:
        for result in stage["results"]:
            result["text"] += " (revised)"
    del other["prompt"]
    found = difference(imported(run), imported(other))
    assert {c.joined for c in found.chunks} == {"id"}


def test_reasons_are_those_of_each_side():
    a, b = small("no_rerank"), small()
    found = difference(a, b, ("Basic", "Expanded"))
    assert found.gained and found.lost
    below = [c for c in found.gained if c.a.stage == "first_stage"]
    assert below and all("ranked" in c.a.reason and "of 110" in c.a.reason for c in below)
    for row in (*found.gained, *found.lost):
        assert ":00" not in row.a.sentence + row.b.sentence  # names, not ids
    assert {s.name: (s.a, s.b) for s in found.settings}["mode"] == (a.mode, b.mode)


def test_another_way_of_cutting_says_so():
    fine, coarse = worlds_trace(chunk_tokens=16), worlds_trace(chunk_tokens=48)
    found = difference(fine, coarse)
    assert any("cut into other chunks" in c.b.reason for c in found.lost)
    assert any("not the same" in n for n in found.notes)


def test_questions_principals_and_counters_are_noted():
    one = small()
    other = dataclasses.replace(
        one,
        question="another",
        principal=Principal("north"),
        ledger=dataclasses.replace(one.ledger, counter="bytes"),
    )
    said = " ".join(difference(one, other).notes)
    assert "different questions" in said and "two principals" in said and "bytes" in said


@given(st.lists(st.sampled_from("abc ")), st.lists(st.sampled_from("abc ")))
def test_every_line_of_both_prompts_is_there_once_and_in_order(a, b):
    one, two = "\n".join(a), "\n".join(b)
    lines = line_diff(one, two)
    assert [x.a for x in lines if x.kind != "b"] == (one.split("\n") if one else [])
    assert [x.b for x in lines if x.kind != "a"] == (two.split("\n") if two else [])
    assert all(x.a == x.b for x in lines if x.kind == "same")
    if one == two:
        assert {x.kind for x in lines} <= {"same"}


@pytest.mark.parametrize("name", PAIRS)
def test_json_and_markdown_of_every_pair(name):
    a, b = PAIRS[name]()
    found = difference(a, b, (f"A {HOSTILE}", "B"))
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["counts"] == {
        "gained": len(found.gained),
        "lost": len(found.lost),
        "both": len(found.both),
    }
    assert [c["in"] for c in data["chunks"]].count("b") == len(found.gained)
    text = markdown(found)
    outside = "\n".join(part for i, part in enumerate(text.split("```")) if i % 2 == 0)
    outside = "\n".join(p for i, p in enumerate(outside.split("`")) if i % 2 == 0)
    assert "<img" not in outside.replace("\\<img", "") and "](http" not in outside
    assert "## Settings that differ" in text and "None\n" not in text
    for line in text.splitlines():
        if line.startswith("| "):
            assert line.endswith(" |")


def test_many_empty_lines_take_no_time():
    a, b = "\n".join(["", "x"] * 950), "\n".join(["", "y"] * 950)
    began = time.process_time()
    assert len(line_diff(a, b)) >= 1900
    assert time.process_time() - began < 5  # it would be a minute, each tried with each
