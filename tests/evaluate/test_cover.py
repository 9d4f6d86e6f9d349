"""Recall by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluate import covered, evidence_chunks, within_budget
from core.questions import Evidence, Reference
from core.records import Chunk, Span


def chunk(start: int, end: int, document: str = "d", tokens: int = 10) -> Chunk:
    return Chunk(
        f"{document}:{start:06d}", document, start, start, end, "x" * (end - start), tokens
    )


def evidence(*spans: tuple[int, int], document: str = "d") -> list[Evidence]:
    return [Evidence(Reference(start=s, end=e), document, Span(s, e)) for s, e in spans]


LOST = Evidence(Reference(quote="not there"))


@pytest.mark.parametrize(
    ("wanted", "shown", "share"),
    [
        ([(10, 20)], [(0, 30)], 1.0),
        ([(10, 20)], [(10, 20)], 1.0),
        ([(10, 20)], [(0, 15)], 0.5),
        ([(10, 20)], [(20, 30), (0, 10)], 0.0),
        ([(10, 20)], [], 0.0),
        ([(10, 20), (40, 50)], [(0, 30)], 0.5),
        ([(10, 20), (15, 25)], [(0, 20)], 10 / 15),  # a repeated character counts once
        ([(10, 20)], [(0, 15), (5, 15)], 0.5),  # and so does one that is shown twice
        ([(10, 20)], [(0, 12), (18, 30)], 0.4),
        ([(0, 1), (10, 109)], [(0, 5)], 0.01),  # by characters, not by pieces
    ],
)
def test_recall_by_hand(wanted, shown, share):
    assert covered(evidence(*wanted), [chunk(*s) for s in shown]) == pytest.approx(share)


def test_evidence_of_several_documents():
    both = evidence((0, 10)) + evidence((0, 30), document="other")
    assert covered(both, [chunk(0, 10)]) == 0.25
    assert covered(both, [chunk(0, 10), chunk(0, 15, "other")]) == pytest.approx(25 / 40)
    assert covered(both, [chunk(0, 99, "third")]) == 0


def test_where_no_evidence_was_found_there_is_no_recall():
    assert covered([], [chunk(0, 9)]) is None
    assert covered([LOST], [chunk(0, 9)]) is None
    assert covered([LOST, *evidence((0, 10))], [chunk(0, 5)]) == 0.5


def test_which_chunks_hold_evidence():
    chunks = [chunk(0, 10), chunk(10, 20), chunk(20, 30), chunk(10, 20, "other")]
    assert evidence_chunks(evidence((10, 20)), chunks) == ("d:000010",)
    assert evidence_chunks(evidence((9, 21)), chunks) == ("d:000000", "d:000010", "d:000020")
    assert evidence_chunks([LOST], chunks) == ()


@pytest.mark.parametrize(
    ("tokens", "budget", "taken"),
    [
        ([40, 40, 40], 100, 2),
        ([40, 60, 1], 100, 2),
        ([40, 61, 1], 100, 1),  # it stops there: a smaller one behind does not come in
        ([101], 100, 0),
        ([100], 100, 1),
        ([], 100, 0),
        ([1, 1], 0, 0),
    ],
)
def test_the_yardsticks_own_cut(tokens, budget, taken):
    chunks = [replace(chunk(n, n + 1), tokens=t) for n, t in enumerate(tokens)]
    assert within_budget(chunks, budget) == chunks[:taken]


spans = st.tuples(st.integers(0, 50), st.integers(1, 20)).map(lambda p: (p[0], p[0] + p[1]))


@given(st.lists(spans, min_size=1, max_size=4), st.lists(spans, max_size=5), spans)
def test_more_shown_is_never_less_recall(wanted, shown, one_more):
    before = covered(evidence(*wanted), [chunk(*s) for s in shown])
    after = covered(evidence(*wanted), [chunk(*s) for s in [*shown, one_more]])
    ink = {i for s, e in wanted for i in range(s, e)}
    seen = {i for s, e in shown for i in range(s, e)}
    assert before == pytest.approx(len(ink & seen) / len(ink))
    assert 0 <= before <= after <= 1
