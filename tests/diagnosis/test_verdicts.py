"""Each way to be lost, with its numbers worked out by hand."""

from __future__ import annotations

import pytest

from core.diagnosis import (
    places,
    target_of_chunk,
    target_of_span,
    targets_of_passage,
    verdict,
    verdicts,
)
from core.diagnosis.differences import difference
from core.diagnosis.facts import Capped, Cut, Duplicate, Hidden, OverBudget, Threshold, Trimmed
from core.diagnosis.naming import amount, beside, shares
from core.diagnosis.sentences import WINDOW_SCORE
from core.diagnosis.windows import score_for_radius
from core.records import Access, Principal
from core.stages.extend import radius
from tests.stages.made import ask, index_of, named, scores_by_word
from tests.worlds import document, index, pipeline

TEXTS = {
    "a": ["alpha kelp moss", "beta kelp moss", "gamma fern oak", "delta stone sand"],
    "b": ["alpha kelp moss!", "zeta rain wind", "eta " + "word " * 60],
}
SCORES = {
    "alpha kelp moss!": 0.8,
    "alpha": 0.9,
    "beta": 0.6,
    "zeta": 0.1,
    "eta": 0.7,
    "gamma": 0.65,
}


def judged(name: str, texts=TEXTS, scores=SCORES, **knobs):
    """The verdict on one chunk, its index and its trace."""
    made = index_of(texts)
    base = {"evidence_budget": 50, "relevance_threshold": 0.2, "candidate_k": 6}
    question = knobs.pop("question", "alpha beta gamma zeta eta")
    trace = ask(made, scores_by_word(scores), question=question, **(base | knobs))
    found = verdict(trace, made, target_of_chunk(made, named(made, name)))
    return found.chunks[0], made, trace


def test_below_the_candidates():
    found, _, trace = judged("a4")
    facts = found.facts
    assert isinstance(facts, Cut)
    assert (facts.rank, facts.total, facts.limit) == (7, 7, 6)
    assert facts.last == trace.stage("first_stage").last_kept == found.cause
    assert facts.gap == pytest.approx(-found.margin, abs=1e-6)
    assert found.standing.bm25_rank is None and found.standing.fused_rank == 7
    assert found.standing.has == () and set(found.standing.lacks) == {
        "alpha", "beta", "gamma", "zeta", "eta",
    }  # fmt: skip
    assert "ranked 7th of 7" in found.sentence and "the best 6 went on" in found.sentence
    assert "none of the question's words" in found.sentence


def test_the_words_of_the_question_that_a_chunk_has():
    found, _, _ = judged("b2", question="How do the zetas bring rain to alpha?")
    assert found.standing.has == ("zetas", "rain") and found.standing.lacks == ("bring", "alpha")


def test_below_the_threshold():
    found, _, _ = judged("b2")
    assert found.facts == Threshold(0.1, 0.2, pytest.approx(0.1), "")
    assert (
        "its relevance (a probability from 0 to 1) is 0.10, 0.10 below the threshold of 0.20"
        in found.sentence
    )


def test_a_duplicate_names_the_words_in_which_it_differs():
    texts = {
        "a": ["Refunds are given within 14 days to Lisbon guests", "other text entirely"],
        "b": ["Refunds are not given within 7 days to Lisbon guests"],
    }
    scores = {"14": 0.9, "7": 0.8, "other": 0.1}
    found, made, _ = judged(
        "b1", texts, scores, protect_exceptions=False, dedup_threshold=0.6, question="refunds days"
    )
    assert isinstance(found.facts, Duplicate)
    assert found.facts.twin == named(made, "a1") == found.cause and found.facts.twin_arrived
    here = {m.word: m.kind for m in found.facts.difference.only_here}
    assert here == {"not": "negation", "7": "value"}
    assert {m.word: m.kind for m in found.facts.difference.only_there} == {"14": "value"}
    assert "“not” (negation) and “7” (value)." in found.sentence
    assert (
        f"share {found.facts.overlap:.0%} of the words" in found.sentence
        and "chunk 1" in found.sentence
    )


def test_words_that_only_stand_elsewhere_are_plain():
    apart = difference("we ask Berlin for stone", "we ask for sand")
    assert [(m.word, m.kind) for m in apart.only_here] == [("berlin", "name"), ("stone", "word")]
    assert [(m.word, m.matters) for m in apart.only_there] == [("sand", False)]
    assert difference("a b", "a b").only_here == ()


def test_over_the_budget_names_what_spent_it():
    found, _, trace = judged("a2", evidence_budget=30, dedup_method="off")
    facts = found.facts
    assert isinstance(facts, OverBudget)
    assert facts.needed - facts.left == -found.margin > 0 and facts.room == 30
    assert {s.chunk_id for s in facts.before} == {p.chunk_id for p in trace.selected}
    assert sum(s.tokens for s in facts.before) == trace.ledger.evidence
    assert f"{facts.needed - facts.left} too few" in found.sentence


def test_larger_than_the_whole_budget():
    found, _, _ = judged("b3")
    assert "more than the whole evidence budget of 50" in found.sentence


def test_after_as_many_of_its_source_as_the_cap_lets_in():
    found, made, _ = judged("a2", diversity="source_cap", per_source_cap=2, dedup_method="off")
    assert found.facts == Capped(2, (named(made, "a1"), named(made, "a3")))
    assert "2 better passages of its source" in found.sentence


def test_in_the_prompt_and_trimmed_there():
    made = index_of({"a": ["Alpha one two. " + "Beta three four. " * 30]})
    knobs = {"oversize": "trim", "evidence_budget": 30, "dedup_method": "off"}
    trace = ask(made, question="alpha beta", **knobs)
    text = made.documents[0].text
    found = verdict(trace, made, target_of_span(made, made.documents[0].id, 0, len(text)))
    assert found.stage == "prompt" and not found.arrived
    assert isinstance(found.chunks[0].facts, Trimmed) and 0 < found.chunks[0].shown < 1
    assert "trimmed" in found.sentence
    beginning = verdict(trace, made, target_of_span(made, made.documents[0].id, 0, 14))
    assert beginning.arrived and "is in the prompt" in beginning.sentence


def test_the_window_that_stopped_short():
    texts = {"a": ["alpha key fact", *(f"filler number {w}" for w in "one two three four".split())]}
    made = index_of(texts | {"b": ["alpha beside", "beta other"]})
    trace = ask(
        made,
        scores_by_word({"key": 1.0, "filler": 0.1, "beside": 0.5, "beta": 0.2}),
        mode="rerank_extend_rerank",
        question="alpha",
        candidate_k=2,
        max_radius=2,
        extend_threshold=0.2,
    )
    found = verdict(trace, made, target_of_chunk(made, named(made, "a4"))).chunks[0]
    window = found.facts.window
    assert window.anchor == named(made, "a1")
    assert (window.radius, window.distance, window.short_by) == (2, 3, 1)
    assert window.score == 1.0 and window.needed_score is None
    assert "1 chunk short of it: radius 3 is more than the largest, 2" in found.sentence
    whole = verdict(trace, made, target_of_chunk(made, named(made, "a4")))
    assert whole.sentence == f"{found.sentence} {WINDOW_SCORE}"  # what that score is, once


@pytest.mark.parametrize(("threshold", "most"), [(0.0, 1), (0.35, 4), (0.8, 6), (0.99, 20)])
def test_the_score_that_gives_a_radius(threshold, most):
    for wide in range(1, most + 1):
        needed = score_for_radius(wide, threshold, most)
        assert radius(needed + 1e-6, threshold, most) >= wide
        if needed > threshold:
            assert radius(needed - 1e-6, threshold, most) < wide
    assert score_for_radius(most + 1, threshold, most) is None


def test_a_hidden_document_is_told_to_its_owner_alone():
    hidden = document("The secret deposit is seven days.", "s.md", Access("south", labels=("pii",)))
    made = index([hidden, document("The open deposit is two weeks.", "o.md")])
    north = Principal("north")
    trace = pipeline().run(made, "deposit", principal=north)
    target = targets_of_passage(made, "secret deposit")[0]
    owner = verdict(trace, made, target, viewer=None)
    assert owner.stage == "access" and isinstance(owner.chunks[0].facts, Hidden)
    assert "s.md takes the tenant south and clearance for pii, and whoever asked" in owner.sentence
    blind = verdict(trace, made, target, viewer=north)
    assert "s.md" not in blind.sentence and "south" not in blind.sentence
    assert blind.chunks[0].facts is None


def test_a_whole_of_several_chunks():
    made = index_of(TEXTS)
    trace = ask(
        made,
        scores_by_word(SCORES),
        question="alpha beta gamma zeta eta",
        evidence_budget=50,
        relevance_threshold=0.2,
        candidate_k=6,
    )
    source = next(d for d in made.documents if d.name == "a")
    found = verdict(trace, made, target_of_span(made, source.id, 0, len(source.text)))
    assert [c.arrived for c in found.chunks] == [True, True, True, False]
    assert found.stage == "first_stage"
    assert found.sentence.startswith(
        "3 of its 4 chunks are in the prompt, as [1], [2] and [3]; the first loss is at the first stage"
    )


def test_a_passage_of_no_text_has_a_verdict_too():
    made = index_of(TEXTS)
    trace = ask(made, question="alpha")
    (target,) = targets_of_passage(made, "nothing like this was ever written")
    found = verdict(trace, made, target)
    assert found.stage == "documents" and found.chunks == ()
    assert "is not in any document's text" in found.sentence
    assert "paste 4 words or more in a row" in found.sentence.lower()


def test_what_comes_nearest_is_quoted_with_its_place_and_what_to_do():
    text = "Guests pay the harbour fee on arrival. A late departure costs extra."
    made = index_of({"a": ["Other words entirely."], "b": [text]})
    trace = ask(made, question="fee")

    def said(pasted):
        return verdict(trace, made, targets_of_passage(made, pasted)[0]).sentence

    near = said("harbour charges: guests who arrive late pay")
    assert (
        "has 3 of its 6 words and stands in b" in near
        and "“Guests pay the harbour fee on arrival”" in near
    )
    assert "if that is what is meant, paste it as it stands there" in near.lower()
    assert "The nearest word is “harbour” in b" in said("habour")
    assert "nearest" not in said("zzz qqq vvv")


def test_a_passage_without_a_letter_says_what_to_paste():
    made = index_of(TEXTS)
    trace = ask(made, question="alpha")
    said = verdict(trace, made, targets_of_passage(made, "— … —")[0])
    assert said.sentence.endswith("holds no word to look for. Paste letters or digits.")


def test_a_passage_that_is_in_the_prompt_has_its_citation():
    made = index_of(TEXTS)
    trace = ask(made, question="alpha", dedup_method="off")
    for chunk in (named(made, "a2"), named(made, "b2")):
        passage = next(p for p in trace.selected if p.chunk_id == chunk)
        found = verdict(trace, made, target_of_chunk(made, chunk))
        name = found.chunks[0].name
        assert found.sentence == f"It is in the prompt, as [{passage.number}]: {name}."


def test_a_passage_that_stands_in_many_places_is_counted_and_not_listed():
    made = index_of({"a": [f"The same words stand here. Number{n} now." for n in range(300)]})
    knobs = {"candidate_k": 40, "dedup_method": "off", "evidence_budget": 200}
    trace = ask(made, question="same words", **knobs)
    best, *others = verdicts(trace, made, targets_of_passage(made, "the same words stand here"))
    assert best.arrived and len(others) == 299
    shown = len(trace.selected) - 1
    assert places(others) == (
        "The same text stands in 299 other places: 260 lost at the first stage, "
        f"{39 - shown} lost at the evidence budget and {shown} in the prompt. The first 5:"
    )
    assert places(others[:1]) == "The same text stands in 1 other place:"


def test_two_numbers_that_differ_never_look_equal():
    assert beside(0.488, 0.5) == ("0.488", "0.500", "0.012")
    assert beside(0.0139, 0.0167) == ("0.0139", "0.0167", "0.0028")
    assert beside(12.0, 4.5) == ("12.00", "4.50", "7.50")
    assert beside(0.5, 0.5) == ("0.50", "0.50", "0.00")
    assert beside(0.49999, 0.5)[:2] == ("0.499990", "0.500000")
    assert shares(0.7501, 0.75) == ("75.01%", "75.00%")
    assert shares(0.8, 0.75) == ("80%", "75%")
    assert [amount(v) for v in (0, 0.5, 0.00285, -0.012, 31.4159)] == [
        "0.00", "0.50", "0.0029", "-0.012", "31.42",
    ]  # fmt: skip


def test_a_part_of_a_word_is_no_word_of_the_question():
    found, _, _ = judged("b2", question="zeta-rain and wind-mill?")
    assert found.standing.has == ("zeta-rain", "wind-mill") and found.standing.lacks == ()
