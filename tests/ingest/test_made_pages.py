"""The benchmark's pages: every word found, each in its place."""

from __future__ import annotations

import pytest

from benchmarks.extraction import accuracy, common_subsequence, ours
from benchmarks.made.pages import Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_word_is_found_in_its_place(case: Case) -> None:
    assert accuracy(case, ours(case.data)) == {"words": 1.0, "order": 1.0}


@pytest.mark.parametrize(
    ("left", "right", "length"),
    [("", "abc", 0), ("abc", "abc", 3), ("abcbdab", "bdcaba", 4), ("aab", "baa", 2)],
)
def test_the_longest_common_subsequence_is_measured(left: str, right: str, length: int) -> None:
    assert common_subsequence(left, right) == length


def test_a_page_read_across_its_columns_would_be_seen() -> None:
    (case,) = [case for case in cases() if case.name == "3 columns, row by row"]
    first, *_ = case.right
    words = first.split()
    assert accuracy(case, first)["order"] == 1.0
    assert accuracy(case, " ".join(words[1::2] + words[::2]))["order"] < 0.8
    assert accuracy(case, " ".join(words[:-10]))["words"] < 1.0
