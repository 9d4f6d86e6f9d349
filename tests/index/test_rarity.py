"""Coverage of a question's terms, and what its tokens weigh."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from core.index.rarity import coverage, token_weights
from tests.stages.made import index_of, names

FIVE = {
    "a": ["alpha alpha pump", "beta valve works", "gamma pump stands"],
    "b": ["delta valve opens", "alpha gamma beta"],
}
IDF = {n: math.log(1 + (5 - n + 0.5) / (n + 0.5)) for n in (0, 1, 2)}


def words(text: str) -> np.ndarray:
    """Where each run of letters and each sign begins, and where the last ends."""
    found = list(re.finditer(r"\w+|[^\w\s]", text))
    return np.array([*(m.start() for m in found), len(text)])


def weights(question: str, starts: np.ndarray | None = None) -> list[float]:
    starts = words(question) if starts is None else starts
    return token_weights(index_of(FIVE).bm25, question, starts).tolist()


def test_coverage_by_hand():
    made = index_of(FIVE)
    held = coverage(made.bm25, ("alpha", "pump", "zebra"))
    total = 2 * IDF[2] + IDF[0]
    expected = {"a1": 2 * IDF[2], "a2": 0, "a3": IDF[2], "b1": 0, "b2": IDF[2]}
    rows = names(made, made.chunk_ids)
    assert held.tolist() == pytest.approx([expected[n] / total for n in rows])
    assert coverage(made.bm25, ()).tolist() == [0] * 5
    assert coverage(made.bm25, ("alpha", "alpha")).max() == 1.0


def test_a_token_weighs_what_its_term_says():
    assert weights("Alpha delta zebra?") == pytest.approx([IDF[2], IDF[1], IDF[0], 0])


def test_the_pieces_of_a_word_all_weigh_what_the_word_does():
    assert weights("delta", np.array([0, 2, 5])) == pytest.approx([IDF[1]] * 2)


def test_a_token_that_begins_before_its_word_weighs_the_same():
    """SentencePiece may take a bracket and a word for one token."""
    assert weights("(delta) alpha", np.array([0, 6, 8, 13])) == pytest.approx([IDF[1], 0, IDF[2]])


def test_of_two_terms_in_one_token_the_rarer_counts():
    assert weights("alpha-zebra", np.array([0, 11])) == pytest.approx([IDF[0]])


def test_words_that_were_not_read_weigh_on_no_token():
    assert weights("alpha beta zebra zebra", np.array([0, 6, 11])) == pytest.approx([IDF[2]] * 2)


def test_where_no_token_meets_a_term_all_weigh_the_same():
    assert weights("?!") == [1, 1]
    assert weights("", np.array([0])) == []
