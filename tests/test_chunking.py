"""Where chunks begin and end, case by case; the laws are in ``laws/``."""

from __future__ import annotations

import itertools
import time

import pytest

from core.chunking import chunk_document
from core.records import Heading, Page, Span
from core.tokens import READ_OVER, WordCounter, wordpiece
from tests.worlds import document

WORDS = WordCounter()


def texts(text: str, size: int = 16, overlap: int = 0, counter=WORDS, **more) -> list[str]:
    return [c.text for c in chunk_document(document(text, **more), counter, size, overlap)]


# A29: equal lines are told apart by where they stand.


@pytest.mark.parametrize("separator", ["\n", "\n\n", " "])
@pytest.mark.parametrize("times", [2, 3, 5])
def test_the_same_line_again_starts_somewhere_else(separator, times):
    line = "The fee is due on the first day of each calendar month."  # 13 tokens
    made = document(separator.join([line] * times))
    chunks = chunk_document(made, WORDS, 16)
    assert len(chunks) == times
    assert [c.start for c in chunks] == [n * (len(line) + len(separator)) for n in range(times)]
    assert len({c.id for c in chunks}) == times
    assert {c.text.strip() for c in chunks} == {line}


# A27: text without a place to cut.


@pytest.mark.parametrize(
    "text",
    [
        "x " * 10 + "a" * 5_000,
        "a" * 2_800,
        "ab " * 900,
        "押金退还需要七天" * 300,
        "🙂" * 2_000,
        "x" * 99 + "\x0c" + "y" * 99 + "\x1f" + "z" * 99,
        "-" * 3_000,
        "http://example.org/" + "path/" * 600,
    ],
    ids=["long word", "one word", "one line", "Chinese", "emoji", "form feeds", "rule", "address"],
)
@pytest.mark.parametrize("counter", [WORDS, wordpiece()], ids=lambda c: c.name)
@pytest.mark.parametrize(("size", "overlap"), [(16, 0), (128, 0), (64, 32), (480, 240)])
def test_chunks_end_within_the_limit_whatever_the_text(text, counter, size, overlap):
    made = document(text)
    chunks = chunk_document(made, counter, size, overlap)
    assert all(0 < c.tokens <= size for c in chunks)
    assert chunks[0].start == 0 and chunks[-1].end == len(text)
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start <= before.end < after.end


@pytest.mark.parametrize("character", READ_OVER)
@pytest.mark.parametrize("size", [16, 40])
def test_words_joined_by_a_control_character_are_cut_within_the_limit(character, size):
    """WordPiece reads over it; cut in two there, the halves count more tokens."""
    text = ("kelp" * 14 + character) * 12
    counter = wordpiece()
    for chunk in chunk_document(document(text), counter, size):
        assert chunk.tokens == counter.count(chunk.text) <= size


def test_long_documents_take_time_in_proportion():
    text = "The master boards the vessel at the harbour, before the pilot. " * 4_000
    began = time.process_time()
    chunks = chunk_document(document(text + "x" * 50_000), WORDS, 16, 4)
    assert len(chunks) > 3_000
    assert time.process_time() - began < 20


# Where a chunk ends.


def test_a_chunk_ends_at_the_best_place_there_is():
    sentence = "One two three four five six seven eight nine."  # 10 tokens
    para = f"{sentence}\n\n{sentence} Ten eleven twelve."
    assert texts(para)[0] == f"{sentence}\n\n"  # a paragraph's end, though more would fit
    two = f"{sentence} {sentence}"
    assert texts(two) == [f"{sentence} ", sentence]  # a sentence's
    line = "one two three four five six seven eight nine ten\n" * 2
    assert texts(line)[0] == line[: len(line) // 2]  # a line's
    words = " ".join(["word"] * 40)
    assert [len(t.split()) for t in texts(words)] == [16, 16, 8]  # a word's


def test_a_heading_opens_a_chunk():
    body = "one two three four five six. "
    text = f"{body}Heading here\n{body}{body}"
    at = text.index("Heading")
    cut = texts(text, headings=(Heading(at, 1, "Heading here"),))
    assert cut[1].startswith("Heading here")


def test_a_closing_quote_belongs_to_its_sentence():
    text = "He said “it is one two three four five six seven.” Then more words than will ever fit here."
    assert texts(text)[0].endswith("seven.” ")


def test_chinese_sentences_end_at_their_own_stops():
    text = "押金退还需要七天请提前。" * 4
    assert texts(text, 16, counter=wordpiece()) == ["押金退还需要七天请提前。"] * 4


# What a chunk knows of its place.


def test_a_chunk_is_of_the_section_in_which_it_begins():
    parts = [
        "# A\n",
        "intro " * 20,
        "## B\n",
        "text " * 20,
        "## C\n",
        "more " * 20,
        "# D\n",
        "end " * 20,
    ]
    text, headings = "", []
    for part in parts:
        if part.startswith("#"):
            level = part.index(" ")
            headings.append(Heading(len(text), level, part[level + 1 :].strip()))
        text += part
    chunks = chunk_document(document(text, headings=tuple(headings)), WORDS, 32)
    by_word = {c.text.split()[-1]: c.headings for c in chunks}
    assert by_word["intro"] == ("A",)
    assert by_word["text"] == ("A", "B")
    assert by_word["more"] == ("A", "C")
    assert by_word["end"] == ("D",)


@pytest.mark.parametrize(("break_at", "pages"), [(20, (1, 2)), (0, (2, 2)), (41, (1, 1))])
def test_pages_are_those_of_the_ink(break_at, pages):
    """The white space at a chunk's end may lie on the next page: that page is not its own."""
    text = "one two three four five six seven eight. \n\nnext page text"
    cut = {20: 20, 0: 0, 41: 43}[break_at]
    made = document(text, pages=(Page(1, 0, cut), Page(2, cut, len(text))))
    first = chunk_document(made, WORDS, 10)[0]
    assert first.text.strip().endswith("eight.")
    assert first.pages == pages


def test_what_is_unranked_is_in_no_chunk():
    text = "header 1\nThe sentence runs over\nheader 2\nthe page break."
    spans = tuple(
        Span(text.index(h), text.index(h) + 9, "header") for h in ("header 1", "header 2")
    )
    assert texts(text, unranked=spans) == ["The sentence runs over\n", "the page break."]


@pytest.mark.parametrize("text", ["", " \n\t ", "\u3000"])
def test_nothing_to_read_gives_no_chunk(text):
    assert texts(text) == []


def test_what_no_counter_knows_is_still_covered():
    assert texts("\x00\x01", counter=wordpiece()) == ["\x00\x01"]


# Overlap.


@pytest.mark.parametrize("overlap", [0, 8, 16, 240])
def test_overlap_repeats_at_most_half(overlap):
    text = " ".join(f"w{n}" for n in range(200))
    chunks = chunk_document(document(text), WORDS, 32, overlap)
    for before, after in itertools.pairwise(chunks):
        repeated = WORDS.count(text[after.start : before.end])
        assert repeated <= min(overlap, 16)
        assert (repeated > 0) == (overlap > 0)


def test_an_overlap_begins_at_a_sentence_if_one_does_there():
    sentences = [f"This is sentence number {n} of ten." for n in range(10)]  # 8 tokens each
    made = texts(" ".join(sentences), 32, 12)
    assert all(chunk.startswith("This is") for chunk in made)
    assert made[1].startswith("This is sentence number 3")
