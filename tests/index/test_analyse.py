"""The analyser: what a person types finds what a document holds."""

from __future__ import annotations

import string
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.index.analyse import TERM_LIMIT, analyse, analyse_query, terms_with_spans
from core.index.stem import stem
from core.index.unicode import fold, normalise, normalise_with_offsets

# Letters, marks and signs that change under normalisation or meet each other oddly.
AWKWARD = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "aBcé e\u0301ﬁﬃİßſ-_.'’@&+#1,0\n\u200b\u200c\u200d\u00ad押金カﾞがﾊﾟ한ㄱ\u1112\u1161\u11ab"
            "น้ำเกไทย \u09c7\u09be\u0b47\u0b3e\u0300\u0327ﻻﷺ①½™\u212b\u2126\u0345\ud7b0ệ"
        ),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=40,
)


@pytest.mark.parametrize("text", ["CVE-2024-1234", "v2.3.1", "C++", "C#", "getUserById", "AT&T"])
def test_an_identifier_is_found_whole(text):
    assert analyse_query(text)[0] in analyse(f"The fix for {text}, at last.")
    assert analyse_query(text)[0] == text.lower()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("CVE-2024-1234", ["CVE", "2024", "1234", "cve 2024"]),
        ("v2.3.1", ["2.3.1", "2.3", "v2"]),
        ("C++", ["c"]),
        ("C++11", ["C++", "11"]),
        ("getUserById", ["user", "get user", "ID", "getuserbyid"]),
        ("HTTPServer2", ["http", "server"]),
        ("snake_case_name", ["snake", "case", "name", "snake_case_name"]),
        ("ana.lopez@example.org", ["lopez", "example.org"]),
        ("COVID-19", ["covid"]),
        ("O’Brien", ["Brien", "O'Brien"]),
    ],
)
def test_an_identifier_is_found_by_its_parts(text, parts):
    terms = analyse(f"It says {text} here.")
    for part in parts:
        assert set(analyse_query(part)) & set(terms), part


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bệnh", unicodedata.normalize("NFD", "bệnh")),
        ("BỆNH", "bệnh"),
        ("Straße", "STRASSE"),
        ("e\ufb03cient", "efficient"),
        ("Ｆｕｌｌ", "full"),
        ("\ufeb3\ufefc\ufee1", "سلام"),  # Arabic presentation forms
        ("café", "cafe\u0301"),
        ("٣٤", "34"),
        ("infor\u00admation", "information"),
        ("in\u2060for\ufeffmation", "information"),
        ("O’Brien", "O'Brien"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
    ],
)
def test_text_that_looks_the_same_has_the_same_terms(one, other):
    assert analyse(one) == analyse(other) != []


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("café", "cafe"),
        ("đường", "duong"),
        ("Øresund", "oresund"),
        ("مُحَمَّد", "محمد"),
        ("e-mail", "email"),
        ("U.S.", "US"),
        ("1,000", "1000"),
        ("$1,234.50", "1234.50"),
        ("Biden's", "Biden"),
        ("Biden’s", "biden"),
        ("the infor-\nmation given", "information"),
        ("price-\ndetermining", "price-determining"),
        ("is\u200bmade", "is made"),
        ("is\u200bmade", "made"),
        ("می\u200cخواهم", "میخواهم"),
        ("refunded deposits", "refund"),
        ("refund", "refunds"),
        ("policies", "policy"),
        ("押金退还需要七天", "押金"),
        ("押 金 退 还", "押金"),
        ("押金退\n还", "退还"),
        ("喝茶很好", "茶"),
        ("サポートガイド", "ガイド"),
        ("서울에서 만나요", "서울"),
        ("ประเทศไทย", "ไทย"),
        ("น ้ำ", "น้ำ"),
        ("हिन्दी में", "हिन्दी"),
        ("iPhone手机", "手机"),
    ],
)
def test_what_is_typed_finds_what_is_written(written, typed):
    assert set(analyse_query(typed)) & set(analyse(written))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("v2.3.1", "v2.31"),
        ("12-3", "123"),
        ("1.5", "15"),
        ("C++", "C#"),
        ("Biden", "build"),
        ("हिन्दी", "हिन्दु"),
        ("押金", "现金"),
    ],
)
def test_what_differs_keeps_a_term_of_its_own(one, other):
    assert analyse_query(one)[0] not in analyse(other)


def test_the_exact_word_has_more_in_common_than_its_relatives():
    asked = set(analyse_query("refunded"))
    assert len(asked & set(analyse("refunded"))) > len(asked & set(analyse("refunds"))) > 0


def test_unmapped_glyphs_are_no_terms():
    assert analyse("\ue041\uf0b7 \ufffd \u2022 … — !?") == []


def test_a_question_loses_its_stopwords_unless_nothing_else_is_left():
    assert analyse_query("What is the refund?") == ["refund"]
    assert analyse_query("What’s the refund?") == ["refund"]
    assert analyse_query("to be or not to be") == ["not"]
    assert analyse_query("What is it of?") == ["it"]
    assert analyse_query("who is who") == ["who", "is"]
    assert "the" in analyse("the refund")


def test_a_question_has_each_term_once_and_a_chunk_every_time():
    assert analyse_query("pump valve pump") == ["pump", "valve", "valv"]
    assert analyse("pump Pump").count("pump") == 2
    assert analyse_query("pump Pump").count("pump") == 1


def test_spans_lead_back_to_the_text_as_it_was():
    text = "Die e\ufb03ziente Stra\u00dfe, cafe\u0301 bei 押 金, getUserById"
    found = {term: text[start:end] for term, start, end in terms_with_spans(text)}
    assert found["effiziente"] == "e\ufb03ziente"
    assert found["strasse"] == "Stra\u00dfe"
    assert found["café"] == found["cafe"] == "cafe\u0301"
    assert found["押金"] == "押 金"
    assert found["user"] == "User"


def test_hostile_input_ends_and_its_terms_are_short():
    for text in (
        "x" * 10 + " " + "a" * 5_000,
        "a." * 20_000,
        "1-" * 20_000,
        "aB" * 20_000,
        "押" * 20_000,
        "e\u0301" * 20_000,
        "\u0301" * 20_000,
        "a\u200b" * 20_000,
    ):
        start = time.perf_counter()
        terms = analyse(text)
        assert max(map(len, terms), default=0) <= TERM_LIMIT
        assert len(terms_with_spans(text)) == len(terms)
        assert time.perf_counter() - start < 10


@given(AWKWARD)
def test_spans_hold_the_same_terms_in_range(text):
    spans = terms_with_spans(text)
    assert [term for term, _, _ in spans] == analyse(text)
    assert all(0 <= start < end <= len(text) for _, start, end in spans)


@given(AWKWARD)
def test_composed_and_decomposed_text_agree(text):
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert len({tuple(analyse(form)) for form in forms}) == 1


@given(AWKWARD)
def test_terms_are_folded_and_hold_no_blank(text):
    for term in analyse(text):
        assert term and term == fold(term)
        assert not any(c.isspace() for c in term)


@given(AWKWARD)
def test_offsets_rebuild_the_normalised_text(text):
    clean, starts, ends = normalise_with_offsets(text)
    assert clean == normalise(text)
    assert len(clean) == len(starts) == len(ends)
    assert starts == sorted(starts)


@given(st.text(alphabet=string.ascii_letters + string.digits + "-_.'&@+#, \r\n", max_size=60))
def test_the_quick_way_for_ascii_gives_what_the_general_way_gives(text):
    separated = analyse(text + " ; é")
    assert separated[-2:] == ["é", "e"]
    assert separated[:-2] == analyse(text + " ; ")


@given(st.text(alphabet=string.ascii_lowercase + " -.", max_size=40))
def test_a_question_finds_the_text_that_repeats_it(text):
    assert set(analyse_query(text)) <= set(analyse(text))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("connect connected connecting connection connections", "connect"),
        ("relational", "relat"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("agreed", "agre"),
        ("generalizations", "gener"),
        ("happy", "happi"),
        ("controlling", "control"),
    ],
)
def test_stems_of_the_paper(words, expected):
    assert {stem(word) for word in words.split()} == {expected}


@given(
    st.builds(
        lambda letters, suffix: letters + suffix,
        st.text(alphabet="abdefgilmnoprstuz", min_size=2, max_size=7),
        st.sampled_from(
            "s es ed ing eed ational ization iveness fulness tional biliti entli ation alism "
            "aliti iviti enci anci izer abli alli ator eli icate ative alize iciti ical ness ful "
            "ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou e ll "
            "y ies sses edly ingly".split()
        ),
    )
)
def test_stems_equal_those_of_snowball(word):
    oracle = pytest.importorskip("snowballstemmer").stemmer("porter")
    if len(word) > 3:
        assert stem(word) == oracle.stemWord(word)
