"""Stage 7: near-duplicates go, and what says something else stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings import Settings
from core.stages.dedup import dedup
from core.stages.exceptions import wording
from core.stages.overlaps import Overlaps, minhash_overlap, overlap
from tests.stages.made import entries, index_of, named, names, ranked, run_over
from tests.worlds import WORDS, index, pipeline


def judged(better: str, worse: str, **knobs):
    """The record of dedup over two chunks, the better-ranked one first."""
    made = index_of({"a": [better], "b": [worse]})
    state = ranked(made, {"a1": 0.9, "b1": 0.8})
    _, record = dedup(state, Settings(**knobs), run_over(made))
    return made, record


RULE = "The deadline for all applications in this region is {}."
PAIRS = [
    (RULE.format("15 October"), RULE.format("16 October")),
    (RULE.format("15 October"), RULE.format("15 November")),
    (RULE.format("the fifteenth of June"), RULE.format("the fifteenth of July")),
    (RULE.format("fifteen days"), RULE.format("sixteen days")),
    (RULE.format("Monday"), RULE.format("Tuesday")),
    ("Monday is a day off for all staff.", "Tuesday is a day off for all staff."),
    ("The fix is part of release v2.3.1 of the server.", "The fix is part of release v2.3.2 of the server."),
    ("A fee of 500 EUR is due on the first day.", "A fee of 5000 EUR is due on the first day."),
    ("A fee of 1.5 % is due on the first day.", "A fee of 1,5 % is due on the first day."),
    ("See CVE-2024-1234 for the details of it.", "See CVE-2024-1235 for the details of it."),
    ("The office in Berlin is closed today for all.", "The office in Lisbon is closed today for all."),
    ("Guests may bring a dog into the room.", "Guests may not bring a dog into the room."),
    ("Guests may bring a dog into the room.", "Guests can't bring a dog into the room."),
    ("All rooms have a view of the sea.", "All rooms except cabins have a view of the sea."),
    ("Hunde sind im Haus erlaubt und gern gesehen.", "Hunde sind im Haus nicht erlaubt und gern gesehen."),
]  # fmt: skip


# E1: chunks that differ in a number, a date, a version, a name or a negation.


@pytest.mark.parametrize("method", ["overlap", "minhash"])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_both_are_kept_whichever_is_better(one, other, method):
    for better, worse in ((one, other), (other, one)):
        made, record = judged(better, worse, dedup_method=method, dedup_threshold=0.5)
        assert names(made, record.kept) == ["a1", "b1"], entries(record, made)


@pytest.mark.parametrize(("one", "other"), PAIRS[:4])
def test_without_protection_the_worse_one_goes(one, other):
    made, record = judged(one, other, protect_exceptions=False)
    assert names(made, record.dropped) == ["b1"]


# E3: a rule and its exception; the log says why both stand.


@pytest.mark.parametrize("swapped", [False, True])
def test_a_rule_and_its_exception_are_kept_and_the_log_says_why(swapped):
    pair = ["Deposits are refundable.", "Deposits are not refundable for bookings under 7 days."]
    if swapped:
        pair.reverse()
    made, record = judged(*pair)
    assert names(made, record.kept) == ["a1", "b1"]
    reason = entries(record, made)["b1"].reason
    assert reason.startswith("kept although it shares 100% of the smaller one's words with")
    assert named(made, "a1") in reason and "not" in reason


@pytest.mark.parametrize("swapped", [False, True])
def test_a_rule_and_its_exception_reach_the_prompt(swapped):
    from tests.worlds import document

    pair = ["Deposits are refundable.", "Deposits are not refundable for bookings under 7 days."]
    question = "Are deposits refundable" + (" for bookings under 7 days?" if swapped else "?")
    made = index([document(text, f"{n}.md") for n, text in enumerate(pair)])
    trace = pipeline().run(made, question)
    assert sorted(p.text for p in trace.selected) == sorted(pair)


# What is the same goes, and names what it repeats.


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("Pilots board the vessel at the harbour.", "Pilots board the vessel at the harbour!"),
        ("Pilots board the vessel at the harbour.", "pilots BOARD the vessel, at the harbour"),
        ("On 15 October pilots board (at 7:30).", "On 15 October, pilots board at 7:30."),
        ("It’s due in Berlin.", "it's due in Berlin"),
    ],
)
def test_a_copy_goes_and_names_what_it_repeats(better, worse):
    made, record = judged(better, worse)
    assert names(made, record.dropped) == ["b1"]
    lost = entries(record, made)["b1"]
    assert lost.cause == named(made, "a1") and lost.margin == pytest.approx(0.75 - 1)
    assert "100%" in lost.reason


def test_a_chunk_is_measured_against_what_was_kept_only():
    """c repeats b, b repeats a, but c is far from a: with b gone, c stays."""
    words = "one-a two-b three-c four-d five-e six-f seven-g eight-h".replace("-", "").split()
    a, b, c = " ".join(words[0:4]), " ".join(words[1:5]), " ".join(words[2:6])
    made = index_of({"a": [a], "b": [b], "c": [c]})
    state = ranked(made, {"a1": 3, "b1": 2, "c1": 1})
    _, record = dedup(state, Settings(dedup_threshold=0.75), run_over(made))
    assert names(made, record.kept) == ["a1", "c1"] and names(made, record.dropped) == ["b1"]


@pytest.mark.parametrize(("threshold", "goes"), [(0.74, True), (0.75, True), (0.76, False)])
def test_the_threshold_is_inclusive(threshold, goes):
    _, record = judged("kelp mist fern moss", "kelp mist fern oak", dedup_threshold=threshold)
    assert bool(record.dropped) == goes


def test_off_and_alone_are_passed_on():
    _, record = judged("same words here", "same words here", dedup_method="off")
    assert len(record.kept) == 2
    alone = index_of({"a": ["same"]})
    _, record = dedup(ranked(alone, {"a1": 1.0}), Settings(), run_over(alone))
    assert record.kept == (named(alone, "a1"),)


# Oracles: sets counted one by one.


word_sets = st.lists(st.frozensets(st.sampled_from(WORDS + list("abcdefgh")), max_size=12), min_size=1, max_size=8)  # fmt: skip


@given(word_sets)
def test_overlap_is_what_counting_gives(sets):
    measured = overlap(sets)
    for i, a in enumerate(sets):
        for j, b in enumerate(sets):
            expected = len(a & b) / min(len(a), len(b)) if a and b else 0.0
            assert measured[i, j] == pytest.approx(expected, abs=1e-6)


@given(
    sets=st.lists(st.frozensets(st.sampled_from(WORDS)), min_size=1, max_size=9),
    asked=st.lists(st.lists(st.integers(0, 8), min_size=1, unique=True), min_size=1, max_size=5),
)
def test_what_was_compared_before_changes_no_coefficient(sets, asked):
    remembered = Overlaps(limit=4)  # so that some of the questions make it forget
    for places in asked:
        some = [p % len(sets) for p in dict.fromkeys(p % len(sets) for p in places)]
        measured = remembered.among([str(p) for p in some], [sets[p] for p in some])
        by_hand = [
            [len(sets[a] & sets[b]) / max(1, min(len(sets[a]), len(sets[b]))) for b in some]
            for a in some
        ]
        assert np.allclose(measured, by_hand)


def test_minhash_is_near_the_overlap():
    rng = np.random.default_rng(7)
    pool = [f"w{i}" for i in range(300)]
    base = frozenset(pool[:100])
    sets = [base] + [
        frozenset(rng.choice(sorted(base), k, replace=False)) | {f"x{i}" for i in range(100 - k)}
        for k in (0, 25, 50, 75, 90, 100)
    ]
    assert np.abs(minhash_overlap(sets)[0] - overlap(sets)[0]).max() < 0.12
    assert minhash_overlap([frozenset(), base])[0].tolist() == [0, 0]


# What makes an exception.


@pytest.mark.parametrize(
    ("mine", "kept", "what"),
    [
        ("It does not apply.", "It does apply.", "the negation not"),
        ("It doesn’t apply.", "It does apply.", "the negation doesn't"),
        ("Pay 7 EUR.", "Pay 8 EUR.", "the value 7"),
        ("Pay seven coins.", "Pay eight coins.", "the value seven"),
        ("Ask Ottilie for it.", "Ask her for it.", "the name ottilie"),
        ("It does apply.", "It does not apply.", "the rule without not"),
        ("Ask for it.", "Ask Ottilie for it.", ""),
        ("Pay 7 EUR.", "Pay 7 EUR or 8 EUR.", ""),
        ("The end. Ask them.", "the end ask them", ""),
        ("“Ask them.”", "ask them", ""),
    ],
)
def test_what_a_wording_adds(mine, kept, what):
    assert wording(mine).adds_to(wording(kept)) == what
