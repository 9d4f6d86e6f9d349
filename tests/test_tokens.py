"""Token counters: spans lie in order, and the count is theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tokens import LONG_WORD, READ_OVER, WordCounter, wordpiece

BOTH = [WordCounter(), wordpiece()]
texts = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=80),
    st.lists(
        st.sampled_from(["a" * 60, "b" * 101, " ", "\n", "\u200b", "\u00a0", "é", "e\u0301", "押金", "🙂", "İ", "ﬁ", "don't", *READ_OVER]),
        max_size=12,
    ).map("".join),
)  # fmt: skip


@given(texts)
def test_the_count_is_the_number_of_spans(text):
    for counter in BOTH:
        spans = counter.spans(text)
        assert counter.count(text) == len(spans)
        assert counter.count_many([text] * 10) == [len(spans)] * 10
        assert all(0 <= s <= e <= len(text) for s, e in spans)
        assert [s for s, _ in spans] == sorted(s for s, _ in spans)


@given(texts, texts)
def test_counts_add_up_over_a_line_break(one, other):
    """What budgets rely on: no token reaches over the break between two passages."""
    for counter in BOTH:
        whole = counter.count(f"{one}\n\n{other}")
        assert whole == counter.count(one) + counter.count(other)


@pytest.mark.parametrize("length", [LONG_WORD - 1, LONG_WORD, LONG_WORD + 1, 5_000])
def test_a_long_word_has_its_size(length):
    """WordPiece calls it one unknown token; a budget that believed that would burst."""
    counter = wordpiece()
    tokens = counter.count("x" * length)
    assert tokens > length / 4
    assert counter.count("ten " * 10 + "x" * length) == 10 + tokens


@pytest.mark.parametrize("character", READ_OVER)
def test_words_that_a_control_character_joins_are_counted_as_one(character):
    counter, text = wordpiece(), "a" * 60 + character + "a" * 60
    assert counter.count(text) == len(counter.spans(text)) == counter.count("a" * 121)


def test_two_thousand_words_are_not_cut_off():
    """The package's tokenizer truncates and pads to 128 unless told not to."""
    assert wordpiece().count("harbour " * 2_000) == 2_000
    assert wordpiece().count("harbour") == 1


def test_known_counts():
    assert wordpiece().count("The harbour master's fee: 14 days.") == 10
    assert WordCounter().count("The master's fee: 14 EUR.") == 9
    assert wordpiece().count("") == WordCounter().count(" \n") == 0


def test_the_tokenizer_is_read_once_and_counters_say_their_names():
    assert wordpiece() is wordpiece()
    assert (wordpiece().name, WordCounter().name) == ("WordPiece (all-MiniLM-L6-v2)", "words")
