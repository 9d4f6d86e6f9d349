"""On the sample documents the verdict names what was planted, with the embedded model."""

from __future__ import annotations

import pytest

from core.diagnosis import (
    propose,
    target_of_chunk,
    target_of_evidence,
    targets_of_passage,
    verdict,
    why,
)
from core.diagnosis.facts import Cut, Duplicate, Hidden, Threshold
from core.questions import locate
from core.report import markdown_report
from tests.integration.samples import QUESTIONS

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("name", ["list-over-page", "full-essay"])
@pytest.mark.parametrize("mode", ["no_rerank", "context_rerank"])
def test_what_shares_no_word_with_the_question_is_cut_first(world, name, mode):
    lost = world.lost(QUESTIONS[name], world.ask(QUESTIONS[name], mode))
    assert lost
    for found in lost:
        first = next(c for c in found.lost if c.stage == found.stage)
        assert found.stage == "first_stage" and isinstance(first.facts, Cut)
        assert first.standing.has == () and first.standing.bm25_rank is None
        assert first.facts.rank > first.facts.limit
        assert "none of the question's words" in found.sentence


def test_the_page_break_is_bridged_by_windows(world):
    """What the tour says of its first question, found by the search."""
    question = QUESTIONS["list-over-page"]
    trace = world.ask(question, "no_rerank")
    target = world.lost(question, trace)[0].target
    found = propose(world.pipeline, world.index, trace, target, seconds=20)
    modes = [p for p in found.proposals if set(p.changes) == {"mode"}]
    assert next(p.changes["mode"] for p in modes) in ("extend_rerank", "rerank_extend_rerank")
    assert all(p.proved for p in found.proposals)


def test_the_exception_that_looks_like_a_copy(world):
    question = QUESTIONS["rule-and-exception"]
    trace = world.ask(question, protect_exceptions=False)
    (found,) = world.lost(question, trace)
    facts = found.chunks[0].facts
    assert found.stage == "dedup" and isinstance(facts, Duplicate)
    assert "Staff may book business class" in world.text(facts.twin)
    assert ("not", "negation") in {(m.word, m.kind) for m in facts.difference.only_here}
    proposals = propose(world.pipeline, world.index, trace, found.target, seconds=20).proposals
    assert {"protect_exceptions": True} in [p.changes for p in proposals]
    answer = why(world.pipeline, world.index, trace, [found.target], seconds=5)
    assert "eager_dedup" in {f.name for f in answer.faults}


def test_the_same_paragraph_in_two_files(world):
    trace = world.ask(QUESTIONS["boilerplate"])
    targets = targets_of_passage(
        world.index, "Treat a key as compromised when it has been seen in a public repository"
    )
    assert len(targets) == 2
    said = {v.arrived: v for v in (verdict(trace, world.index, t) for t in targets)}
    facts = said[False].chunks[0].facts
    assert isinstance(facts, Duplicate) and facts.twin in said[True].target.chunk_ids
    assert facts.overlap == pytest.approx(1, abs=0.05) and facts.twin_arrived
    answer = why(world.pipeline, world.index, trace, targets, seconds=1)
    assert answer.verdict.arrived and len(answer.elsewhere) == 1
    assert not answer.proposals.needed


def test_two_copies_with_two_numbers(world):
    """Without protection, and with a low threshold, one goes: the numbers are the difference."""
    knobs = {"protect_exceptions": False, "dedup_threshold": 0.6}
    trace = world.ask(QUESTIONS["deadline-by-region"], **knobs)
    deadline = "informs the national regulator within"
    said = [verdict(trace, world.index, t) for t in targets_of_passage(world.index, deadline)]
    (lost,) = [v for v in said if not v.arrived]
    assert lost.stage == "dedup"
    apart = lost.chunks[0].facts.difference
    values = {m.word for m in (*apart.only_here, *apart.only_there) if m.kind == "value"}
    assert {"30", "72"} <= values


def test_a_question_in_other_words_is_beyond_bm25(world):
    question = QUESTIONS["other-words"]
    (found,) = world.lost(question, world.ask(question, "bm25_top_k"))
    facts = found.chunks[0].facts
    assert found.stage == "first_stage" and facts.by == "BM25"
    assert {"food", "Japan"} <= set(found.chunks[0].standing.lacks)


def test_an_identifier_is_first_by_bm25_alone(world):
    question = QUESTIONS["cve"]
    trace = world.ask(question, "no_rerank", fusion="dense")
    (evidence,) = locate(question, world.documents)
    said = verdict(trace, world.index, target_of_evidence(world.index, evidence))
    where = said.chunks[0].standing
    assert where.bm25_rank == 1 < where.dense_rank


@pytest.mark.parametrize(
    ("name", "other"), [("invoice-northwind", "southbay"), ("invoice-southbay", "northwind")]
)
def test_the_other_tenant_learns_nothing(world, name, other):
    trace = world.ask(QUESTIONS[name])
    hidden = next(q for n, q in QUESTIONS.items() if n == f"invoice-{other}").references[0].quote
    (target,) = targets_of_passage(world.index, hidden)
    owner = verdict(trace, world.index, target, viewer=None)
    assert owner.stage == "access" and isinstance(owner.chunks[0].facts, Hidden)
    assert other in owner.sentence
    blind = verdict(trace, world.index, target)
    assert other not in blind.sentence.lower()
    seen = world.index.restricted(trace.principal)
    answer = why(world.pipeline, world.index, trace, targets_of_passage(seen, hidden), seconds=1)
    assert f"{other}-terms" not in str(answer.to_dict())


def test_a_question_without_an_answer(world):
    trace = world.ask(QUESTIONS["not-there-canteen"])
    best = trace.stage("relevance").dropped[0]
    found = verdict(trace, world.index, target_of_chunk(world.index, best))
    assert found.stage == "relevance"
    facts = found.chunks[0].facts
    assert isinstance(facts, Threshold) and facts.relevance < facts.threshold == 0.1
    answer = why(world.pipeline, world.index, trace, [found.target], seconds=1)
    assert "everything_removed" in {f.name for f in answer.faults}


def test_the_report_begins_with_the_verdict(world):
    question = QUESTIONS["rule-and-exception"]
    trace = world.ask(question, protect_exceptions=False)
    (lost,) = world.lost(question, trace)
    answer = why(world.pipeline, world.index, trace, [lost.target], seconds=5)
    text = markdown_report(
        trace, verdict=answer.verdict, proposals=answer.proposals, faults=answer.faults
    )
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["## Why it is missing", "## What brings it back", "## Faults"]
    assert "was dropped as a duplicate" in text
    assert all(p.sentence.split(" from ")[0] in text for p in answer.proposals.proposals)
    assert "## Why" not in markdown_report(trace)
