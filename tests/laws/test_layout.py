"""Laws of a page's layout: whatever stands where, every line is read, once."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from core.ingest.layout import lay_out
from core.ingest.lines import DOWN, OVER, UP, UPRIGHT, VERTICAL, Line

TEXTS = st.sampled_from(
    [
        "Name",
        "12 m",
        "goes on for a while",
        "and ends.",
        "•",
        "a",
        "押金",
        "410",
        "The first",
        "7.5",
    ]
)
# On a grid, so that columns, rows and near misses come about; and anywhere.
X = st.one_of(st.sampled_from([50.0, 180.0, 310.0, 440.0]), st.floats(-50, 700))
Y = st.one_of(st.integers(0, 12).map(lambda n: 100 + 14.0 * n), st.floats(-50, 900))


@st.composite
def lines(draw: st.DrawFn, directions: st.SearchStrategy[int]) -> list[Line]:
    found = []
    for place in range(draw(st.integers(0, 30))):
        x, y, text = draw(X), draw(Y), draw(TEXTS)
        size = draw(st.sampled_from([11.0, 11.0, 11.0, 7.0, 20.0]))
        wide = len(text) * size / 2
        box = (x, y - size, x + wide, y + 3)
        direction = draw(directions)
        along = x if direction in (UP, DOWN, VERTICAL) else y
        style = {"direction": direction, "drawn": text, "place": place}
        found.append(Line(text, *box, along, size, draw(st.booleans()), **style))
    return found


def assert_all_read(given_lines: list[Line]) -> None:
    layout = lay_out(given_lines)
    rows = [row for paragraph in layout.paragraphs for row in paragraph]
    assert Counter(line for row in rows for line in row.lines) == Counter(given_lines)
    for row in rows:
        letters = Counter("".join(line.text for line in row.lines).replace(" ", ""))
        assert Counter("".join(row.text.split())) == letters
    assert all(layout.paragraphs)


@given(lines(st.just(UPRIGHT)))
def test_every_line_of_a_page_is_read_once(given_lines: list[Line]) -> None:
    assert_all_read(given_lines)


@given(lines(st.sampled_from([UPRIGHT, UP, OVER, DOWN, VERTICAL])))
def test_so_is_every_line_that_is_set_otherwise(given_lines: list[Line]) -> None:
    assert_all_read(given_lines)


@given(lines(st.just(UPRIGHT)), st.permutations(range(4)))
def test_tables_and_columns_drawn_in_any_order_lose_nothing(
    given_lines: list[Line], order: list[int]
) -> None:
    columns: list[list[Line]] = [[], [], [], []]
    for line in given_lines:
        columns[int(min(3, max(0, line.x0 // 150)))].append(line)
    assert_all_read([line for n in order for line in sorted(columns[n], key=lambda x: x.baseline)])
