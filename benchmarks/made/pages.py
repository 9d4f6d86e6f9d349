"""The pages: each case a PDF, its right words in their right order, and how it was drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.made.coded import GAP, Glyph, coded
from benchmarks.made.scripts import SCRIPTS, arabic, cut, devanagari, latin, square, thai
from benchmarks.made.words import (
    ARABIC,
    CHINESE,
    DEVANAGARI,
    HANGUL,
    JAPANESE,
    LATIN,
    THAI,
    Prose,
    wrapped,
)

SIZE, LEADING = 10.0, 13.0
TOP, LEFT = 90.0, 60.0
HELVETICA_WIDTH = 0.5  # of the size, roughly, a character


@dataclass(frozen=True)
class Case:
    """One document. ``right`` holds its text in each order that a reader would call right.

    ``spaceless``: its script writes words without spaces, so characters are counted, not words.
    """

    name: str
    data: bytes
    right: tuple[str, ...]
    spaceless: bool = False


Glyphs = Callable[..., list[Glyph]]
Pieces = Sequence[tuple[float, float, str]]


def drawn(*pages: Pieces | Callable[[Any], None], rotate: int = 0) -> bytes:
    """A PDF of pages, each of pieces (x, baseline, text) in drawing order, or drawn by a function."""
    import pymupdf

    document = pymupdf.open()
    for content in pages:
        page = document.new_page(width=595, height=842)
        if callable(content):
            content(page)
        else:
            for x, y, text in content:
                page.insert_text((x, y), text, fontsize=SIZE)
        page.set_rotation(rotate)
    return document.tobytes(garbage=3, deflate=True)


def _lines(text: str, x: float, width: float, y: float = TOP) -> list[tuple[float, float, str]]:
    characters = int(width / (SIZE * HELVETICA_WIDTH))
    return [(x, y + LEADING * i, line) for i, line in enumerate(wrapped(text, characters))]


def _columns(count: int, seed: int, across: bool) -> Case:
    prose = Prose(seed)
    gap = 24.0
    width = (595 - 2 * LEFT - gap * (count - 1)) / count
    texts = [prose.paragraph(7 if count == 2 else 5) for _ in range(count)]
    columns = [
        _lines(text, LEFT + i * (width + gap), width, TOP + 40) for i, text in enumerate(texts)
    ]
    rows = min(map(len, columns))
    columns = [column[:rows] for column in columns]
    pieces = [piece for column in columns for piece in column]
    if across:
        pieces = [column[row] for row in range(rows) for column in columns]
    title = "The harbour and its shipyard"
    right = " ".join([title, *(text for column in columns for _, _, text in column)])
    how = "row by row" if across else "column by column"
    return Case(f"{count} columns, {how}", drawn([(LEFT, TOP, title), *pieces]), (right,))


def _ragged_columns() -> Case:
    """Two columns of paragraphs that end at different heights, drawn across; a note under both."""
    prose = Prose(31)
    left = [prose.paragraph(3), prose.paragraph(2)]
    right = [prose.paragraph(2), prose.paragraph(4)]
    pieces: list[tuple[float, float, str]] = []
    for x, texts in ((LEFT, left), (310.0, right)):
        y = TOP
        for text in texts:
            pieces += _lines(text, x, 220, y)
            y = pieces[-1][1] + 2 * LEADING
    note = prose.sentence()
    pieces.sort(key=lambda piece: (piece[1], piece[0]))
    pieces += _lines(note, LEFT, 470, max(piece[1] for piece in pieces) + 3 * LEADING)
    return Case(
        "2 columns of paragraphs, row by row", drawn(pieces), (" ".join([*left, *right, note]),)
    )


def _headers() -> Case:
    prose = Prose(5)
    whole = " ".join(prose.paragraph(6) for _ in range(5))
    lines = wrapped(whole, 90)
    per_page = -(-len(lines) // 4)
    pages = []
    for number in range(4):
        part = lines[number * per_page : (number + 1) * per_page]
        pages.append(
            [
                (LEFT, 40.0, "Harbour Authority Rules"),
                *((LEFT, TOP + LEADING * i, line) for i, line in enumerate(part)),
                (270.0, 815.0, f"Page {number + 1} of 4"),
            ]
        )
    return Case("headers and footers", drawn(*pages), (" ".join(lines),))


def _hyphens() -> Case:
    lines = [
        "The infor-", "mation on the price-", "determining factors of each ship-",
        "ment is kept by the har-", "bour office, a well-", "known and long-",
        "standing authority whose regu-", "lations concern the deep-", "water berths, the navi-",
        "gation of tugs and all the mer-", "chant vessels in the half-", "built eastern docks.",
    ]  # fmt: skip
    right = (
        "The information on the price-determining factors of each shipment is kept by the harbour "
        "office, a well-known and long-standing authority whose regulations concern the "
        "deep-water berths, the navigation of tugs and all the merchant vessels in the half-built "
        "eastern docks."
    )
    pieces = [(LEFT, TOP + LEADING * i, line) for i, line in enumerate(lines)]
    return Case("hyphens at line ends", drawn(pieces), (right,))


def _soft_hyphens() -> Case:
    lines = ["Every ship\u00ad", "ment and every pas\u00ad", "senger list is kept in the reg\u00ad",
             "ister of the ware\u00adhouse."]  # fmt: skip
    right = "Every shipment and every passenger list is kept in the register of the warehouse."
    return Case("soft hyphens", coded([latin(line) for line in lines]), (right,))


def _ligatures() -> Case:
    lines = [
        "The o\ufb03ce of the \ufb02eet is e\ufb03cient and su\ufb03cient,",
        "its \ufb01rst di\ufb00erence is the \ufb01nal \ufb01le of the ba\ufb04ed o\ufb00er.",
    ]
    return Case("ligatures", coded([latin(line) for line in lines]), (" ".join(lines),))


TABLE = [
    ("Berth", "Length", "Depth", "Crane", "Dues"),
    ("North quay", "120 m", "8.5 m", "two", "410 EUR"),
    ("South quay", "95 m", "6.0 m", "none", "280 EUR"),
    ("Timber pier", "60 m", "4.5 m", "one", "150 EUR"),
    ("Ferry dock", "140 m", "7.0 m", "three", "520 EUR"),
    ("Old slipway", "35 m", "3.0 m", "none", "90 EUR"),
]


def _table() -> Case:
    prose = Prose(8)
    before, after = prose.sentence(), prose.sentence()
    pieces = [(LEFT, TOP, before)]
    for i, row in enumerate(TABLE):
        for j, cell in enumerate(row):
            pieces.append((LEFT + 95.0 * j, TOP + 30 + 16 * i, cell))
    pieces.append((LEFT, TOP + 160, after))
    right = " ".join([before, *(cell for row in TABLE for cell in row), after])
    return Case("table of figures", drawn(pieces), (right,))


def _table_by_columns() -> Case:
    pieces = [
        (LEFT + 95.0 * j, TOP + 16 * i, row[j]) for j in range(5) for i, row in enumerate(TABLE)
    ]
    right = " ".join(cell for row in TABLE for cell in row)
    return Case("table, drawn column by column", drawn(pieces), (right,))


def _table_of_words() -> Case:
    """A ruled table, whose last cells are of several lines."""
    rows = [
        ("Office", "Duty", "What it decides"),
        ("Pilot", "Guides vessels", "Which vessels may enter the channel in weather they call rough"),
        ("Customs", "Counts cargo", "What a merchant owes for goods that leave the free port by land"),
        ("Master", "Keeps order", "Who is heard first when two ships ask for one berth on one tide"),
    ]  # fmt: skip
    pieces, y, rules = [], TOP, []
    for row in rows:
        rules.append(y - 12)
        cell = wrapped(row[2], 36)
        pieces += [(LEFT, y, row[0]), (LEFT + 90, y, row[1])]
        pieces += [(LEFT + 220, y + LEADING * i, line) for i, line in enumerate(cell)]
        y += LEADING * len(cell) + 6
    rules.append(y - 12)

    def draw(page: Any) -> None:
        for rule in rules:
            page.draw_line((LEFT - 6, rule), (LEFT + 430, rule))
        for x in (LEFT - 6, LEFT + 84, LEFT + 214, LEFT + 430):
            page.draw_line((x, rules[0]), (x, rules[-1]))
        for x, at, text in pieces:
            page.insert_text((x, at), text, fontsize=SIZE)

    return Case("table of words, ruled", drawn(draw), (" ".join(c for r in rows for c in r),))


def _script(name: str, words: Sequence[str], glyphs: Glyphs, seed: int, stop: str = ".") -> Case:
    lines = wrapped(Prose(seed, words).run(60, " ", stop), 60 if glyphs is not square else 35)
    return Case(name, coded([glyphs(line) for line in lines], SCRIPTS[glyphs]), (" ".join(lines),))


def _spaceless(name: str, words: Sequence[str], glyphs: Glyphs, seed: int, stop: str) -> Case:
    lines = cut(Prose(seed, words).run(60, "", stop), 35)
    return Case(
        name,
        coded([glyphs(line) for line in lines], SCRIPTS[glyphs]),
        ("".join(lines),),
        spaceless=True,
    )


def _gaps_alone(name: str, words: Sequence[str], glyphs: Glyphs, seed: int) -> Case:
    """No glyph is a space: gaps alone part the words."""
    lines = wrapped(Prose(seed, words).run(60), 60 if glyphs is not square else 35)
    return Case(
        name, coded([glyphs(line, False) for line in lines], SCRIPTS[glyphs]), (" ".join(lines),)
    )


def _korean_broken_anywhere() -> Case:
    """As browsers and Hangul word processors break it by default: within words too."""
    text = Prose(7, HANGUL).run(90)
    lines = cut(text, 35)
    return Case(
        "Korean, lines broken in words", coded([square(line) for line in lines], "HAN"), (text,)
    )


def _spread_han() -> Case:
    """A space glyph between any two characters, as some programs justify."""
    lines = cut(Prose(22, CHINESE).run(60, "", "。", 10), 30)
    spread = [[g for c in line for g in ((c, 1.0), (" ", 0.25))][:-1] for line in lines]
    return Case(
        "Chinese, spread by spaces", coded(spread, "HAN"), ("".join(lines),), spaceless=True
    )


def _vertical() -> Case:
    """Japanese from top to bottom, the first column rightmost."""
    lines = cut(Prose(26, JAPANESE).run(50, "", "。", 10), 30)
    data = coded([square(line) for line in lines], "HAN", vertical=True)
    return Case("Japanese, vertical", data, ("".join(lines),), spaceless=True)


def _letterspaced() -> Case:
    """A heading with its letters set apart, above text."""
    text = Prose(23).paragraph(3)
    heading: list[Glyph] = []
    for character in "HARBOUR DUES":
        heading += [(character, 0.7), (GAP, 0.6 if character == " " else 0.16)]
    lines = [heading, *(latin(line) for line in wrapped(text, 70))]
    return Case("heading with letters set apart", coded(lines), ("HARBOUR DUES " + text,))


def _stamp() -> Case:
    prose = Prose(12)
    text, stamp = prose.paragraph(8), "Received at the eastern customs office"

    def draw(page: Any) -> None:
        page.insert_text((30, 600), stamp, fontsize=SIZE, rotate=90)
        for x, y, line in _lines(text, LEFT, 470):
            page.insert_text((x, y), line, fontsize=SIZE)

    return Case("rotated stamp beside text", drawn(draw), (f"{text} {stamp}", f"{stamp} {text}"))


def _turned_page() -> Case:
    """Text drawn upwards on a page that is shown turned: a reader sees it upright."""
    text = Prose(14).paragraph(8)

    def draw(page: Any) -> None:
        for i, line in enumerate(wrapped(text, 100)):
            page.insert_text((60 + LEADING * i, 780), line, fontsize=SIZE, rotate=90)

    return Case("page shown turned", drawn(draw, rotate=90), (text,))


def _box_drawn_last() -> Case:
    """A summary that stands first and was drawn last, as text boxes are."""
    prose = Prose(17)
    summary, text = prose.paragraph(2), prose.paragraph(8)
    pieces = _lines(text, LEFT, 470, TOP + 80) + _lines(summary, LEFT, 470)
    return Case("text box drawn last", drawn(pieces), (f"{summary} {text}",))


def cases() -> list[Case]:
    """All of them, in the order of the table."""
    return [
        *(_columns(count, count, across) for count in (2, 3) for across in (False, True)),
        _ragged_columns(),
        _headers(),
        _hyphens(),
        _soft_hyphens(),
        _ligatures(),
        _table(),
        _table_by_columns(),
        _table_of_words(),
        _script("Arabic", ARABIC, arabic, 1),
        _script("Devanagari", DEVANAGARI, devanagari, 2, "।"),
        _spaceless("Thai", THAI, thai, 3, " "),
        _spaceless("Chinese", CHINESE, square, 4, "。"),
        _script("Korean", HANGUL, square, 6),
        _korean_broken_anywhere(),
        _gaps_alone("Latin, gaps for spaces", LATIN, latin, 20),
        _gaps_alone("Arabic, gaps for spaces", ARABIC, arabic, 24),
        _gaps_alone("Devanagari, gaps for spaces", DEVANAGARI, devanagari, 25),
        _gaps_alone("Korean, gaps for spaces", HANGUL, square, 21),
        _spread_han(),
        _vertical(),
        _letterspaced(),
        _stamp(),
        _turned_page(),
        _box_drawn_last(),
    ]
