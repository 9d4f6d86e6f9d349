"""A PDF's text as drawn, beside what was made of it: the map is exact and loses no letter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.chunking import chunk_document
from core.ingest.clean import clean
from core.ingest.extract import extract
from core.records import Document
from core.tokens import WordCounter
from tests.ingest.alignments import assert_aligned, put_in, unmapped
from tests.ingest.pdfs import coded, drawn, prose


def read(data: bytes) -> Document:
    return extract("a.pdf", data, {})


def test_ligatures_and_divided_words_are_mapped() -> None:
    lines = [(72, 100, "The infor-"), (72, 114, "mation and words")]
    document = read(drawn(lines))
    assert document.text == "The information and words"
    assert document.raw == "The infor-\nmation and words"
    at = document.text.index("information")
    spans = document.alignment.to_raw(at, at + len("information"))
    assert [document.raw[a:b] for a, b in spans] == ["infor", "mation"]
    at = document.raw.index("mation")
    assert document.alignment.to_clean(at, at + 6) == ((9, 15),)
    assert document.alignment.to_clean(9, 10) == ()  # the hyphen that is gone

    document = read(coded("e\ufb03cient"))
    assert (document.text, document.raw) == ("efficient", "e\ufb03cient")
    assert document.alignment.to_raw(2, 3) == ((1, 2),)
    assert document.alignment.to_clean(1, 2) == ((1, 4),)


def test_what_is_left_out_stays_in_the_raw_text() -> None:
    document = read(coded("\uf0b7 it\u2060em \ue041\ue042 te\u200dxt"))
    assert document.text == "• item te\u200dxt"
    assert document.raw == "\uf0b7 it\u2060em \ue041\ue042 te\u200dxt"
    assert_aligned(document)


def test_a_nul_is_shown_and_parts_words() -> None:
    assert clean("left\x00right").text == "left␀right"
    document = read(drawn([(72, 100, "left\x00right")]))
    # MuPDF gives this one as a character of unknown meaning.
    assert document.text == document.original == "left\ufffdright"


def test_columns_are_read_in_another_order_than_they_were_drawn() -> None:
    left = ["The left column", "goes on for three", "lines and ends."]
    right = ["The right column", "is read after it", "and then stops."]
    lines = []
    for i in range(3):
        lines += [(50, 100 + 14 * i, left[i]), (300, 100 + 14 * i, right[i])]
    document = read(drawn(lines))
    assert document.raw.split("\n") == [text for _, _, text in lines]
    at = document.text.index("goes")
    spans = document.alignment.to_raw(at, document.text.index("lines and") + 9)
    assert [document.raw[a:b].strip() for a, b in spans] == ["goes on for three", "lines and"]
    start = document.raw.index("goes")
    stop = document.raw.index("it\n") + 2
    clean = [document.text[a:b].strip() for a, b in document.alignment.to_clean(start, stop)]
    assert clean == ["goes on for three", "is read after it"]


def test_pages_are_parted_by_a_form_feed_and_blank_ones_count() -> None:
    document = read(drawn(prose(0, 2), [], prose(1, 2)))
    assert [len(page.split("\n")) for page in document.raw.split("\f")] == [2, 1, 2]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
def test_boxes_hold_the_ink_of_their_lines(turn: int, cropped: bool) -> None:
    import pymupdf

    def draw(page: Any) -> None:
        page.insert_text((72, 100), "One line of words", fontsize=12)
        page.insert_text((300, 500), "and another one", fontsize=12)
        if cropped:
            page.set_cropbox(pymupdf.Rect(40, 30, 590, 800))
        page.set_rotation(turn)

    data = drawn(draw)
    document = read(data)
    assert [document.text[b.start : b.end] for b in document.boxes] == [
        "One line of words",
        "and another one",
    ]
    with pymupdf.open(stream=data) as pdf:
        shown = pdf[0].get_pixmap()
        for box in document.boxes:
            assert box.page == 1 and box.x0 < box.x1 and box.y0 < box.y1
            inside = pymupdf.Rect(box.x0, box.y0, box.x1, box.y1)
            assert not pdf[0].get_pixmap(clip=inside).is_unicolor
        assert (shown.width, shown.height) == (pdf[0].rect.width, pdf[0].rect.height)


WORDS = st.sampled_from(
    "The infor- mation softened naïve re- fund 14 2026 price- a I · • é \u00a0x y. (b) 7"
    .split()
)  # fmt: skip
LINES = st.tuples(
    st.sampled_from([50.0, 72.0, 300.0, 310.0]),
    st.integers(2, 55).map(lambda row: 14.0 * row),
    st.lists(WORDS, min_size=1, max_size=6).map(" ".join),
)
PAGES = st.lists(st.lists(LINES, max_size=12, unique_by=lambda x: x[:2]), min_size=1, max_size=4)


def assert_laws(document: Document) -> None:
    assert_aligned(document)
    assert not any(map(str.isalnum, unmapped(document)))
    assert put_in(document).strip() == ""
    covered = set()
    for chunk in chunk_document(document, WordCounter(), 16):
        assert chunk.text == document.text[chunk.start : chunk.end]
        covered.update(range(chunk.start, chunk.end))
    for span in document.unranked:
        covered.update(range(span.start, span.end))
    assert all(c.isspace() for i, c in enumerate(document.text) if i not in covered)
    end = 0
    for box in document.boxes:
        assert end <= box.start < box.end <= len(document.text)
        end = box.end
        (page,) = (p for p in document.pages if p.number == box.page)
        assert page.start <= box.start <= page.end


@settings(max_examples=60)
@given(PAGES)
def test_laws_hold_for_any_pages(pages: list[list[tuple[float, float, str]]]) -> None:
    if any(pages):
        assert_laws(read(drawn(*pages)))


def _readable(text: str) -> bool:
    return any(c.isalnum() and c < "\ue000" for c in text)


GLYPHS = st.text(
    st.one_of(
        st.sampled_from("ab 1\u00ad\ufb01\ufb03\ufe8e\ufee3\uf0b7\ue041\u200b\u200c\x01\u00a0押金\u0e17\u0e35"),
        st.characters(max_codepoint=0xFFFD, exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=40,
).filter(_readable)  # fmt: skip


@settings(max_examples=60)
@given(GLYPHS)
def test_laws_hold_for_any_glyphs(text: str) -> None:
    document = read(coded(text))
    assert_aligned(document)
    assert not any(map(str.isalnum, unmapped(document)))
    assert put_in(document).strip() == ""
