"""Law 1: a chunk is its document's text, exactly, and the chunks cover all of it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.chunking import chunk_document
from core.records import Document, Heading, Page, Span
from core.tokens import WordCounter, wordpiece

anything = st.text(st.characters(codec="utf-8"), max_size=400)
wild = st.one_of(
    anything,
    st.lists(st.sampled_from(["One. ", "two\n\n", "aaaa" * 60, " ", "\n", "押金", "é", "🙂", "x" * 300]), max_size=30).map("".join),
)  # fmt: skip


@st.composite
def any_document(draw) -> Document:
    text = draw(wild)
    places = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(places, places).map(sorted), max_size=3))
    cuts = sorted({0, len(text), *draw(st.lists(places, max_size=3))})
    pages = tuple(Page(n, s, e) for n, (s, e) in enumerate(pairwise(cuts), 1))
    headings = tuple(
        Heading(at, level, f"H{at}")
        for at, level in draw(st.lists(st.tuples(places, st.integers(1, 3)), max_size=3))
    )
    unranked = tuple(Span(s, e, "header") for s, e in spans if s < e)
    return Document("id", "n", "t", text, pages, headings, unranked)


@given(any_document(), st.integers(16, 60), st.integers(0, 30), st.booleans())
def test_chunks_are_the_text_and_cover_it(document, size, overlap, true_tokens):
    counter = wordpiece() if true_tokens else WordCounter()
    chunks = chunk_document(document, counter, size, overlap)
    hidden = {i for s in document.unranked for i in range(s.start, s.end)}
    covered: set[int] = set()
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.start < chunk.end
        own = set(range(chunk.start, chunk.end))
        assert not own & hidden
        covered |= own
    inked = {i for i, c in enumerate(document.text) if not c.isspace()} - hidden
    assert inked <= covered


@given(any_document(), st.integers(16, 60), st.integers(0, 30))
def test_no_chunk_is_over_the_limit(document, size, overlap):
    for counter in (WordCounter(), wordpiece()):
        for chunk in chunk_document(document, counter, size, overlap):
            assert chunk.tokens == counter.count(chunk.text)
            assert chunk.tokens <= size


@given(any_document(), st.integers(16, 60))
def test_without_overlap_chunks_meet_where_the_text_is_ranked(document, size):
    chunks = chunk_document(document, WordCounter(), size)
    for before, after in pairwise(chunks):
        between = document.text[before.end : after.start]
        hidden = any(s.start < after.start and before.end < s.end for s in document.unranked)
        assert before.end == after.start or hidden or not between.strip()


@given(any_document(), st.integers(16, 60))
def test_pages_of_a_chunk_hold_its_ends(document, size):
    by_number = {p.number: p for p in document.pages}
    for chunk in chunk_document(document, WordCounter(), size):
        if not document.pages:
            assert chunk.pages == ()
            continue
        first, last = (by_number[n] for n in chunk.pages)
        inner = chunk.text.strip()
        lead = chunk.start + chunk.text.index(inner) if inner else chunk.start
        assert first.start <= lead < max(first.end, lead + 1)
        assert first.number <= last.number
