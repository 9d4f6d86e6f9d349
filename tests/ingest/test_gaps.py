"""What only the places of single characters tell: spaces, letters set apart, ligatures."""

from __future__ import annotations

import pytest

from benchmarks.made.coded import GAP, Glyph, coded
from benchmarks.made.scripts import arabic, devanagari, latin, square, thai
from core.ingest.extract import extract


def text_of(*lines: list[Glyph], script: str = "LATIN") -> str:
    return extract("a.pdf", coded(lines, script), {}).text


@pytest.mark.parametrize("spaces", [True, False], ids=["spaces", "gaps"])
@pytest.mark.parametrize(
    ("line", "glyphs", "script"),
    [
        ("The harbour office", latin, "LATIN"),
        ("السفينة في الميناء", arabic, "ARABIC"),
        ("समुद्र में बंदरगाह की अनुमति", devanagari, "DEVANAGARI"),
        ("선장이 항구에서 화물을", square, "HANGUL"),
        ("เรือสินค้า ที่ท่าเรือนี้", thai, "THAI"),
    ],
    ids=["Latin", "Arabic", "Devanagari", "Korean", "Thai"],
)
def test_words_are_parted_by_spaces_and_by_gaps(line, glyphs, script, spaces) -> None:
    assert text_of(glyphs(line, spaces), script=script) == line


def test_one_arabic_glyph_for_two_letters_is_read_from_the_right() -> None:
    assert text_of(arabic("الملاح والأمير"), script="ARABIC") == "الملاح والأمير"


def test_letters_set_apart_are_one_word() -> None:
    glyphs: list[Glyph] = []
    for letter in "HARBOUR DUES":
        glyphs += [(letter, 0.7), (GAP, 0.6 if letter == " " else 0.16)]
    assert text_of(glyphs, latin("are paid at the quay.")).startswith("HARBOUR DUES\n")


def test_letters_with_typed_spaces_stay_apart() -> None:
    assert text_of(latin("let a b c d e f be given")) == "let a b c d e f be given"


def test_justified_korean_is_not_torn_apart() -> None:
    line = [g for c in "선장이항구에서" for g in ((c, 1.0), (GAP, 0.2))]
    assert text_of(line, script="HANGUL") == "선장이항구에서"


def test_what_was_mended_maps_to_what_was_drawn() -> None:
    document = extract("a.pdf", coded([square("선장이 화물을", False)], "HANGUL"), {})
    assert document.text == "선장이 화물을"
    assert document.original == "선장이화물을"
    at = document.text.index("화물을")
    assert document.alignment.to_raw(at, at + 3) == ((3, 6),)


def test_korean_words_broken_by_a_line_are_joined_where_the_document_knows_them() -> None:
    lines = ["항구에서 선장이 화물을 항구", "에서 배가 떠난다 사과", "나무를 본다"]
    text = text_of(*map(square, lines), script="HANGUL")
    assert text == "항구에서 선장이 화물을 항구에서 배가 떠난다 사과\n나무를 본다"
