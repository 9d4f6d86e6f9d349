"""Laws of the text that is put together from pages, whatever is on them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.ingest.assemble import PageContent, assemble
from core.ingest.clean import SOFT_HYPHEN, clean
from core.ingest.hyphens import Hyphens
from core.ingest.layout import Row
from core.ingest.lines import Line
from core.ingest.margins import running_lines


def row(text: str, baseline: float = 100.0, size: float = 11.0) -> Row:
    return Row(text, 72, 500, baseline - 9, baseline + 3, baseline, size, bold=False, mono=False)


WORDS = st.sampled_from(
    ["The", "infor-", "mation", "ends.", "price-", "go" + SOFT_HYPHEN, "押金", "a", "7", ","]
)
ROWS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join).map(row)
PARAGRAPHS = st.lists(ROWS, min_size=1, max_size=3).map(tuple)
ASIDES = st.lists(st.sampled_from([("Page 1", "running footer"), ("Rules", "running header")]))
PAGES = st.lists(
    st.tuples(st.lists(PARAGRAPHS, max_size=3).map(tuple), ASIDES.map(tuple), st.integers(0, 2)),
    max_size=6,
)


@given(PAGES)
def test_pages_tile_the_text_and_nothing_is_lost(pages: list[tuple]) -> None:
    contents = [
        PageContent(number, paragraphs, aside, margin)
        for number, (paragraphs, aside, margin) in enumerate(pages, 1)
    ]
    made = assemble(contents)
    edges = [0, *(page.end for page in made.pages)]
    assert [page.start for page in made.pages] == edges[:-1]
    assert edges[-1] == len(made.text)
    assert edges == sorted(edges)
    bounds = {page.number: page for page in made.pages}
    for placed in made.rows:
        page = bounds[placed.page]
        assert page.start <= placed.start <= page.end
        assert made.text[placed.start :].startswith(placed.row.text.rstrip("-" + SOFT_HYPHEN))
    end = 0
    for span in made.unranked:
        assert end <= span.start < span.end <= len(made.text)
        end = span.end
    asides = [text for content in contents for text, _ in content.aside]
    assert [made.text[span.start : span.end] for span in made.unranked] == asides

    def letters(text: str) -> list[str]:
        return sorted(c for c in text if c.isalnum())

    written = [r.text for content in contents for p in content.paragraphs for r in p]
    assert letters(made.text) == letters("".join([*written, *asides]))
    assert SOFT_HYPHEN + "\n" not in made.text + "\n"


@given(st.text(max_size=60))
def test_cleaning_is_done_once_and_for_all(text: str) -> None:
    once = clean(text)
    assert clean(once.text).text == once.text
    assert once.text == once.text.strip()


def test_a_division_that_nothing_explains_is_closed() -> None:
    assert Hyphens(["a zyxo-", "mat b"]).join("a zyxo-", "mat b") == "a zyxomat b"
    assert Hyphens([]).join("the Anglo-", "Saxon age") == "the Anglo-Saxon age"
    assert Hyphens([]).join("state-of-the-", "art tools") == "state-of-the-art tools"
    assert Hyphens([]).join("soft" + SOFT_HYPHEN, "ware") == "software"
    assert Hyphens([]).join("pages 3-", "7 and on") is None
    assert Hyphens([]).join("a dash -", "then more") is None


def line(text: str, baseline: float, size: float = 9.0) -> Line:
    return Line(text, 72, baseline - 8, 300, baseline + 2, baseline, size)


def test_lines_that_meet_by_chance_on_pages_far_apart_are_text() -> None:
    pages = [[line(f"unlike anything {n * n}", 40)] for n in range(40)]
    for n in (3, 17, 31):
        pages[n] = [line("return 0;", 40)]
    assert running_lines(pages, [842.0] * 40) == [{}] * 40


def test_headers_of_odd_and_even_pages_and_roman_numbers_are_found() -> None:
    pages = []
    for n in range(1, 11):
        header = "The Pilot's Book" if n % 2 else "Chapter 3. At sea"
        number = ["i", "ii", "iii", "iv"][n - 1] if n <= 4 else str(n - 4)
        pages.append([line(header, 40), line(f"Body {n * 31}", 400, 11), line(number, 810)])
    found = running_lines(pages, [842.0] * 10)
    assert [sorted(page) for page in found] == [[0, 2]] * 10


def test_a_numbered_table_row_on_every_page_is_no_footer() -> None:
    pages = [[line(f"Total {n * 137 + n * n}", 800), line("Some body text", 400)] for n in range(6)]
    assert running_lines(pages, [842.0] * 6) == [{}] * 6


def test_what_is_all_that_the_pages_hold_is_their_text() -> None:
    pages = [[line(f"Text of page {n}", 60)] for n in range(1, 6)]
    assert running_lines(pages, [842.0] * 5) == [{}] * 5


def test_an_empty_page_in_a_book_keeps_its_running_lines() -> None:
    pages = [[line(f"Body {n * 31}", 400, 11), line(str(n), 810)] for n in range(1, 9)]
    del pages[4][0]
    found = running_lines(pages, [842.0] * 8)
    assert [sorted(page.values()) for page in found] == [["running footer"]] * 8
