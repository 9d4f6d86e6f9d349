"""What a person types finds what a file shows, however its glyphs are coded."""

from __future__ import annotations

import pytest

from core.chunking import chunk_document
from core.index.analyse import analyse, analyse_query
from core.ingest.extract import extract
from core.tokens import wordpiece
from tests.ingest.pdfs import coded, drawn


def found(query: str, text: str) -> bool:
    """Whether every term of the query is one of the text's."""
    return set(analyse_query(query)) <= set(analyse(text))


@pytest.mark.parametrize(
    ("glyphs", "query"),
    [
        ("an e\ufb03cient \ufb01le", "efficient file"),  # ligatures
        ("\ufe8e\ufe92\ufea3\ufeae\ufee3", "مرحبا"),  # Arabic presentation forms
        ("it is\u200bmade here", "is made"),  # a zero-width space between words
        ("押 金 退 还 需 要 七 天", "押金"),  # spaces between single characters
        ("\u0e17\u0e35 \u0e48\u0e19\u0e35\u0e48", "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48"),  # Thai
        ("b\u1ec7nh", "be\u0323\u0302nh"),  # composed and decomposed
        ("ware\u00adhouse", "warehouse"),  # a soft hyphen
        ("non\u00a0breaking", "non breaking"),
        ("\uff26\uff35\uff2c\uff2c width", "full width"),
    ],
    ids=[
        "ligature", "presentation form", "zero-width space", "spread Chinese", "spread Thai",
        "decomposed", "soft hyphen", "no-break space", "full-width letters",
    ],
)  # fmt: skip
def test_glyphs_are_found_as_they_are_typed(glyphs: str, query: str) -> None:
    assert found(query, extract("a.pdf", coded(glyphs), {}).text)


def test_a_bullet_and_private_use_characters_are_not_ranked() -> None:
    text = extract("a.pdf", coded("\uf0b7 item \ue041\ue042 text"), {}).text
    assert text.startswith("•")
    assert set(analyse(text)) == set(analyse("item text"))


@pytest.mark.parametrize(
    ("lines", "queries"),
    [
        (("The infor-", "mation is here"), ["information"]),
        (("the price-", "determining factors"), ["price-determining", "pricedetermining", "price"]),
        (("each dock-", "hand is paid"), ["dockhand", "dock-hand", "dock", "hand"]),
        (("the zyxo-", "mat is wet"), ["zyxomat", "zyxo-mat"]),
    ],
    ids=["one word", "compound", "both parts known", "neither known"],
)
def test_a_divided_word_is_found_in_either_form(lines: tuple[str, ...], queries: list[str]) -> None:
    data = drawn([(72, 100 + 14 * i, line) for i, line in enumerate(lines)])
    text = extract("a.pdf", data, {}).text
    for query in queries:
        assert set(analyse_query(query)) & set(analyse(text)), query


def test_one_line_three_times_gives_three_places() -> None:
    line = "Sign here, and write the date beside your name, in ink."
    for name, data in [
        ("a.pdf", drawn([(72, 300 + 60 * i, line) for i in range(3)])),
        ("a.txt", "\n\n".join([line] * 3).encode()),
        ("a.md", "\n\n".join([line] * 3).encode()),
    ]:
        document = extract(name, data, {})
        chunks = chunk_document(document, wordpiece(), chunk_tokens=16)
        assert [chunk.text.strip() for chunk in chunks] == [line] * 3
        assert len({chunk.start for chunk in chunks}) == 3
        assert all(document.text[c.start : c.end] == c.text for c in chunks)


@pytest.mark.parametrize("text", ["x" * 10 + " " + "a" * 5000, "no newline here " * 175])
def test_long_stretches_without_a_break_are_cut_within_the_limit(text: str) -> None:
    document = extract("a.txt", text.encode(), {})
    chunks = chunk_document(document, wordpiece(), chunk_tokens=64)
    assert "".join(chunk.text for chunk in chunks) == text
    assert max(chunk.tokens for chunk in chunks) <= 64
