"""Verdicts and proposals as numbers, words and HTML, on true runs."""

from __future__ import annotations

import re

import pytest

from core.diagnosis import propose, target_of_chunk, verdict
from core.diagnosis.differences import difference
from core.diagnosis.facts import Cut, Duplicate, OverBudget, Threshold
from core.fates import fates
from core.report import markdown_report
from core.trace import Trace
from dashboard import diagnosing, facts_html, tables
from dashboard.tables.verdict import differing, knob_title, knob_value, price, proof, turns
from dashboard.views import wanted
from tests.dashboard import traces


def judged(trace: Trace, stage: str):
    """The verdict on some chunk that this stage lost."""
    ends = fates(trace)
    named = [c for c, f in ends.items() if f.stage == stage]
    below = [c.id for c in traces._index().chunks if c.id not in ends]
    (chunk, *_) = below if stage == "first_stage" else named
    return verdict(trace, traces._index(), target_of_chunk(traces._index(), chunk))


@pytest.mark.parametrize(
    ("stage", "kind"),
    [("first_stage", Cut), ("dedup", Duplicate), ("budget", OverBudget), ("relevance", Threshold)],
)
def test_each_way_to_be_lost_shows_its_numbers(stage: str, kind: type) -> None:
    said = judged(traces.small(), stage)
    one = said.chunks[0]
    assert isinstance(one.facts, kind)
    rows = dict(tables.fact_rows(one, traces._index()))
    ranks = rows[f"Rank among {one.standing.total:,} chunks"]
    assert f"fused {one.standing.fused_rank:,}" in ranks
    told = " ".join(rows.values())
    match one.facts:
        case Cut(limit=limit):
            assert f"the best {limit:,} went on" in told and "Took the last place" in rows
        case Duplicate(overlap=overlap):
            assert f"{overlap:.0%}" in told and differing(one) is one.facts.difference
        case OverBudget(needed=needed, left=left):
            assert f"{needed:,} needed, {left:,} of" in told
        case Threshold(relevance=relevance):
            assert f"{relevance:.3f}" in told
    table = tables.verdict_table(said)
    assert list(table.index) == [one.chunk_id]
    assert table["Fused rank"].iloc[0] == one.standing.fused_rank
    assert table["What happened"].iloc[0] == one.sentence


def test_words_of_a_difference_are_marked_and_escaped() -> None:
    apart = difference(
        "Staff may not fly <script> for 7 hours to Berlin.", "Staff may fly for 9 hours."
    )
    html = facts_html.difference_html(apart)
    assert '<b class="negation">not</b>' in html
    assert '<b class="value">7</b>' in html and '<b class="value">9</b>' in html
    assert '<span class="negation">negation</span>' in html  # the legend
    assert "<script" not in html
    bare = re.sub(r"</?(div|span|b)( class=\"[a-z ]+\")?>", "", html)
    assert "<" not in bare


def test_facts_are_escaped() -> None:
    html = facts_html.facts_html([("Rank", "<img src=x> & more")])
    assert "<img" not in html and "&lt;img" in html
    assert facts_html.facts_html([]) == ""


def test_a_proposal_is_told_with_its_price_and_its_proof() -> None:
    trace, index = traces.small(), traces._index()
    chunk = next(c for c, f in fates(trace).items() if f.stage == "budget")
    found = propose(traces._pipeline(), index, trace, target_of_chunk(index, chunk), seconds=20)
    assert found.proposals
    for proposal in found.proposals:
        for (knob, old, new), name in zip(turns(proposal), proposal.changes, strict=True):
            assert knob == knob_title(name)
            assert knob_value(name, proposal.changes[name]) == new
            assert old != new
        told = dict(price(proposal, index))
        assert f"{proposal.tokens:+,}" in told["Tokens"]
        assert told["Comes in"].startswith(f"{len(proposal.gained)} chunk")
        assert bool(proposal.lost) == (told["Falls out"] != "nothing")
        assert "it arrives" in proof(proposal)
        html = facts_html.turns_html(turns(proposal))
        assert html.count("→") == len(proposal.changes)
    tried = tables.tried_table(found)
    assert list(tried["Settings run"]) == [t.runs for t in found.tried]


def test_values_have_their_unit_once_and_words_of_their_own() -> None:
    assert knob_value("candidate_k", 1200) == "1,200 chunks"
    assert knob_value("candidate_k", 1200, unit=False) == "1,200"
    assert knob_value("neighbour_share", 0.15) == "0.15"  # the title says "share"
    assert knob_value("protect_exceptions", True) == "on"
    assert knob_value("mode", "no_rerank") == "Basic"
    assert knob_title("mode") == "Mode" and knob_title("dedup_method") == "Duplicate method"


def test_the_report_tells_why_evidence_is_missing() -> None:
    trace = traces.small()
    lost, kept = judged(trace, "budget"), trace.selected[0].chunk_id
    there = verdict(trace, traces._index(), target_of_chunk(traces._index(), kept))
    text = markdown_report(trace, verdicts=(lost, there))
    assert "## Why evidence is missing" in text
    assert "1 of 2 pieces of the expected evidence" in text
    facts = lost.chunks[0].facts
    assert f"{facts.left:,} of" in text
    assert "## Why evidence" not in markdown_report(trace, verdicts=(there,))


def test_what_is_looked_for_follows_the_link_and_else_what_is_there() -> None:
    from dashboard.link import View

    trace, index = traces.small(), traces._index()
    lost = next(c for c, f in fates(trace).items() if f.stage == "budget")
    here = trace.selected[0].chunk_id
    items = [diagnosing.Item(c, target_of_chunk(index, c)) for c in (here, lost)]
    chosen = diagnosing.chosen
    assert chosen(View(), (), trace) == ""
    assert chosen(View(), items, trace) == "2"  # the one that did not arrive
    assert chosen(View(), items[:1], trace) == "1"
    assert chosen(View(chunk=lost), items, trace) == "chunk"
    assert chosen(View(chunk=lost, passage="fee"), items, trace) == "passage"
    assert chosen(View(chunk=lost, passage="fee", why="chunk"), items, trace) == "chunk"
    assert chosen(View(passage="fee", why="1"), items, trace) == "1"
    assert chosen(View(passage="fee", why="7"), items, trace) == "passage"
    labels = wanted.choices(View(chunk=lost, passage="fee"), trace, index, items)
    assert list(labels) == ["passage", "chunk", "1", "2"]
    assert labels["1"].startswith("✓") and labels["2"].startswith("✗")
