"""The order in which a page is read: columns, tables, text set sideways."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.made.coded import coded
from benchmarks.made.scripts import square
from core.chunking import chunk_document
from core.ingest.extract import extract
from core.tokens import wordpiece
from tests.ingest.pdfs import drawn, prose
from tests.ingest.test_pdf_text import read

HEADS = ("Berth", "Length", "Depth")
ROWS = [("North quay", "120 m", "8.5 m"), ("Timber pier", "60 m", "4.5 m"), ("Slipway", "35", "3")]


def cells(rows: list[tuple[str, ...]], y: float = 100) -> list[tuple[float, float, str]]:
    return [
        (80 + 120.0 * column, y + 14 * row, cell)
        for row, given in enumerate(rows)
        for column, cell in enumerate(given)
    ]


def column(number: int, lines: int) -> list[str]:
    names = ["first", "second", "third", "fourth"]
    return [f"The {names[number]} column", *["goes on for a while"] * (lines - 2), "until it ends."]


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("shorter", [0, 2])
def test_columns_drawn_across_are_read_down(count: int, shorter: int) -> None:
    columns = [column(n, 7 - shorter * (n % 2)) for n in range(count)]
    lines = [
        (40 + 130.0 * n, 100 + 14 * row, columns[n][row])
        for row in range(7)
        for n in range(count)
        if row < len(columns[n])
    ]
    text = " ".join(read(drawn(lines)).text.split())
    assert text == " ".join(line for lines in columns for line in lines)


def test_text_around_columns_stays_around_them() -> None:
    lines = [*prose(0, 2, y=80)]
    lines += [(72.0 + 260 * n, 140 + 14.0 * r, column(n, 4)[r]) for r in range(4) for n in (0, 1)]
    lines += prose(9, 2, y=240)
    text = " ".join(read(drawn(lines)).text.split())
    both = " ".join([*column(0, 4), *column(1, 4)])
    assert both in text
    assert text.index("Statement 1000") < text.index(both) < text.index("Statement 1063")


def test_a_table_drawn_down_is_read_across() -> None:
    rows = [HEADS, *ROWS]
    across = cells(rows)
    down = [across[r * 3 + c] for c in range(3) for r in range(len(rows))]
    assert read(drawn(down)).text == "\n".join("\t".join(row) for row in rows)
    # Also below a paragraph and above one, in the same fall.
    text = read(drawn([*prose(0, 2, y=60), *down, *prose(5, 2, y=200)])).text
    assert "\n".join("\t".join(row) for row in rows) in text


def test_lists_of_names_drawn_down_stay_as_drawn() -> None:
    left, right = ["Anker", "Ballast", "Beacon", "Berth"], ["Cable", "Canal", "Cargo", "Crane"]
    lines = [(80.0 + 200 * n, 100 + 14.0 * r, w) for n, c in enumerate((left, right))
             for r, w in enumerate(c)]  # fmt: skip
    assert read(drawn(lines)).text.split() == left + right


def test_long_cells_are_no_columns() -> None:
    lines = [
        (72, 100, "Pilot"), (160, 100, "Guides the vessels that may enter the channel"),
        (160, 114, "in weather that the harbour office calls rough"),
        (160, 128, "until the storm is over and the tide is right"),
        (72, 146, "Customs"), (160, 146, "Counts the cargo and what the merchant owes for"),
        (160, 160, "goods that leave the free port by land"),
        (72, 178, "Master"), (160, 178, "Says who is heard first when two ships want"),
        (160, 192, "one berth on one tide"),
    ]  # fmt: skip
    text = " ".join(read(drawn(lines)).text.split())
    assert text == " ".join(line for _, _, line in lines)


def test_rows_of_a_table_know_their_header() -> None:
    document = read(drawn([*prose(0, 4, y=60), *cells([HEADS, *ROWS], y=160)]))
    (table,) = document.tables
    assert table.kind == "Berth · Length · Depth"
    assert document.text[table.start : table.end].split("\n")[0].startswith("North quay\t")
    assert document.text[table.end - 1] == "3"


def test_a_chunk_that_begins_in_a_table_names_its_header_row() -> None:
    rows = [HEADS, *((f"Quay number {n}", f"{n} m", f"{n * 7} m") for n in range(1, 30))]
    document = read(drawn([*cells(rows), *prose(0, 4, y=600)]))
    chunks = chunk_document(document, wordpiece(), chunk_tokens=40)
    inside = [c for c in chunks if c.text.lstrip().startswith("Quay number")]
    assert len(inside) > 2
    assert all(c.headings[-1] == "Table: Berth · Length · Depth" for c in inside)
    others = [c for c in chunks if c not in inside]
    assert others and not any("Table:" in h for c in others for h in c.headings)
    assert "".join(c.text for c in chunks) == document.text


@pytest.mark.parametrize(
    "first", [("Preface", "ix"), ("12", "14"), ("Berth", "7")], ids=["contents", "figures", "mixed"]
)
def test_a_first_row_that_counts_is_no_header(first: tuple[str, str]) -> None:
    rows = [first, ("North quay", "11"), ("Timber pier", "21"), ("Slipway", "35")]
    assert not read(drawn(cells(rows))).tables


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_set_sideways_is_read_as_when_it_is_turned(angle: int) -> None:
    lines = [f"Line {n} of a text that was set sideways" for n in range(5)]
    lines += ["and here its second column", "goes on in the same way", "until it is at its end."]
    places = [(0, n) for n in range(5)] + [(300, n) for n in range(3)]

    def draw(page: Any) -> None:
        for text, (along, row) in zip(lines, places, strict=True):
            step = 14.0 * row
            x, y = {
                90: (100 + step, 700 - along),
                180: (500 - along, 700 - step),
                270: (500 - step, 100 + along),
            }[angle]
            page.insert_text((x, y), text, fontsize=11, rotate=angle)

    document = read(drawn(draw))
    assert " ".join(document.text.split()) == " ".join(lines)
    assert "set sideways" in document.report.pages[0].warnings[0]
    # Where it stands is told in the coordinates of the page.
    for box in document.boxes:
        assert 0 <= box.x0 < box.x1 <= 595 and 0 <= box.y0 < box.y1 <= 842


def test_a_stamp_across_the_text_is_read_last_and_told() -> None:
    def draw(page: Any) -> None:
        page.insert_text((30, 500), "Received in March", fontsize=11, rotate=90)
        for x, y, text in prose(0, 6):
            page.insert_text((x, y), text, fontsize=11)

    document = read(drawn(draw))
    assert document.text.endswith("\n\nReceived in March")
    assert document.report.pages[0].warnings == (
        "17 characters run in another direction than the rest, and are read last.",
    )


def test_the_longest_lines_decide_which_way_a_page_is_set() -> None:
    def draw(page: Any) -> None:
        page.insert_text((72, 60), "Sheet 4", fontsize=11)
        for n in range(4):
            text = f"A long line of a table in which the figure {n} stands"
            page.insert_text((200 + 14 * n, 700), text, fontsize=11, rotate=90)

    text = extract("a.pdf", drawn(draw), {}).text
    assert text.startswith("A long line") and text.endswith("Sheet 4")


def test_vertical_japanese_is_read_from_the_right() -> None:
    lines = ["船長が港へ荷物を運ぶ", "海岸の灯台が見える", "嵐に波が高い"]
    data = coded([square(line) for line in lines], "HAN", vertical=True)
    document = read(data)
    assert document.text == "".join(lines)
    assert "top to bottom" in document.report.pages[0].warnings[0]
