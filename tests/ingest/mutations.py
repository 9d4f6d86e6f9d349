"""Files that no program would write, from a seed: broken PDFs, odd text, false names."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from core.ingest import Source
from tests.ingest.pdfs import HELVETICA, coded, drawn, one_page, prose

Change = Callable[[random.Random, bytes], bytes]


@cache
def whole_pdfs() -> tuple[bytes, ...]:
    """Small sound PDFs of several makes."""
    import pymupdf

    def picture(page: Any) -> None:
        pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 30, 40))
        pixels.clear_with(140)
        page.insert_image((50, 50, 300, 400), pixmap=pixels)
        page.insert_text((60, 500), "Under a picture", fontsize=12)

    def noted(page: Any) -> None:
        page.insert_text((72, 90), "A form with a field and a comment", fontsize=12)
        page.add_text_annot((300, 90), "a comment")
        page.add_freetext_annot((72, 200, 300, 240), "a text box")
        field = pymupdf.Widget()
        field.rect, field.field_name = pymupdf.Rect(72, 120, 260, 140), "name"
        field.field_type, field.field_value = pymupdf.PDF_WIDGET_TYPE_TEXT, "Filled in"
        page.add_widget(field)

    def sideways(page: Any) -> None:
        for n in range(6):
            page.insert_text((100 + 14 * n, 700), f"Line {n} set sideways", rotate=90)

    columns = [(60.0 + 240 * n, 100 + 14.0 * r, f"column {n} row {r} goes on") for r in range(9)
               for n in (0, 1)]  # fmt: skip

    def covered(page: Any) -> None:
        for x, y, line in prose(30, 12):
            page.insert_text((x, y), line, fontsize=11)
        page.draw_rect((100, 120, 300, 180), fill=(0, 0, 0))
        page.set_cropbox(pymupdf.Rect(20, 20, 500, 220))
        page.set_rotation(90)

    with pymupdf.open(stream=drawn(prose(0, 20), prose(20, 20), columns)) as document:
        document.set_toc([[1, "First", 1], [2, "Second", 2], [1, "Third", 3]])
        outlined = document.tobytes(no_new_id=True)
        packed = document.tobytes(deflate=True, garbage=3, use_objstms=1, no_new_id=True)
    return (
        drawn(prose(0, 30), no_new_id=True),
        outlined,
        packed,
        drawn(picture, prose(0, 8), no_new_id=True),
        drawn(noted, no_new_id=True),
        drawn(sideways, columns, no_new_id=True),
        drawn(covered, covered, no_new_id=True),
        coded("ToUnicode of ﬁne words, 押金退还 and समुद्र"),
        one_page(b"BT /F0 12 Tf 50 200 Td (Hello, one page of text) Tj ET", HELVETICA),
        drawn(prose(0, 9), encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="own"),
        drawn(prose(0, 9), encryption=pymupdf.PDF_ENCRYPT_RC4_128, user_pw="user"),
    )


def _flipped(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 3, 10, 60])):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def _without_a_piece(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice([1, 20, 400]) :]


def _with_a_piece_twice(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data))
    piece = data[start : start + chance.choice([10, 200, 3000])]
    at = chance.randrange(len(data))
    return data[:at] + piece + data[at:]


def _replaced(pattern: bytes, new: Callable[[random.Random], bytes], share: float = 0.5) -> Change:
    def change(chance: random.Random, data: bytes) -> bytes:
        return re.sub(
            pattern,
            lambda found: new(chance) if chance.random() < share else found[0],
            data,
        )

    return change


def _odd_number(chance: random.Random) -> bytes:
    return chance.choice([b"-1", b"0", b"99999999", b"2147483648", b"1e30", b"-9999999999", b"nan"])


def _without_table(chance: random.Random, data: bytes) -> bytes:
    at = data.rfind(b"startxref")
    table = data.rfind(b"xref", 0, max(at, 0))
    return data[: table if table > 0 and chance.random() < 0.7 else at]


def _nested(chance: random.Random, data: bytes) -> bytes:
    at = data.find(b"<<", chance.randrange(len(data)))
    deep = chance.choice([b"[", b"<<", b"<</A", b"("]) * chance.choice([10, 2000, 40000])
    return data[:at] + deep + data[at:] if at >= 0 else data + deep


CHANGES: dict[str, Change] = {
    "bytes flipped": _flipped,
    "cut off": _cut,
    "a piece missing": _without_a_piece,
    "a piece twice": _with_a_piece_twice,
    "references swapped": _replaced(
        rb"\d+ 0 R", lambda chance: b"%d 0 R" % chance.randrange(0, 40), 0.3
    ),
    "counts inflated": _replaced(
        rb"/(?:Count|Length|Size|First|N) \d+",
        lambda chance: b"/" + chance.choice([b"Count", b"Length", b"Size"]) + b" 9999999",
    ),
    "numbers odd": _replaced(rb"(?<=[\[ ])-?\d+(?:\.\d+)?(?=[\] ])", _odd_number, 0.05),
    "names swapped": _replaced(
        rb"/[A-Z][A-Za-z]+",
        lambda chance: chance.choice([b"/Type", b"/Page", b"/Kids", b"/Font", b"/FlateDecode"]),
        0.05,
    ),
    "table deleted": _without_table,
    "nested": _nested,
}

_TOKENS = (
    ["# ", "## ", "- ", "* ", "> ", "```", "~~~", "|", "---", "\n", "\n\n", "    ", "\t", "<b>",
     "</b>", "<!--", "-->", "[a](b)", "![x](y)", "&amp;", "&#0;", "\\", "`", "$", "tenant: x\n",
     "roles: [a, b]\n", "title: t\n", "word", "another", "Ein Ä", "押金", "\u200b", "\x00", "\x1b[31m",
     "\ufeff", "\u202e", "👩‍👩‍👧", "|a|b|\n|-|-|\n|1|2|\n", "é", "ﬁ", "\r\n", "\r", "\x0c"]
)  # fmt: skip
_ENCODINGS = (
    "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 cp1252 cp437 koi8_r shift_jis gb18030 big5 "
    "euc_kr utf-7"
).split()


def _odd_text(chance: random.Random) -> bytes:
    text = "".join(chance.choices(_TOKENS, k=chance.choice([0, 3, 40, 400])))
    if chance.random() < 0.3:
        text = f"---\n{text}\n---\n{text}"
    if chance.random() < 0.1:
        text += "x" * 200_000
    data = text.encode(chance.choice(_ENCODINGS), errors="ignore")
    return _flipped(chance, data) if data and chance.random() < 0.2 else data


def _noise(chance: random.Random) -> bytes:
    size = chance.choice([0, 1, 3, 100, 5000])
    return chance.choice([b"", b"%PDF-1.7\n", b"PK\x03\x04", b"\xff\xfe"]) + chance.randbytes(size)


def odd_files(count: int, seed: int) -> Iterator[tuple[str, Source]]:
    """``count`` files, each with the kind of oddity that it has. The same seed, the same files."""
    chance = random.Random(seed)
    endings = [".pdf", ".md", ".txt", ".markdown", ".PDF", ""]
    for number in range(count):
        draw = chance.random()
        if draw < 0.7:
            kind = chance.choice(list(CHANGES))
            data = CHANGES[kind](chance, chance.choice(whole_pdfs()))
            if chance.random() < 0.3:
                data = _flipped(chance, data) if data else data
            ending = ".pdf" if chance.random() < 0.9 else chance.choice(endings)
        elif draw < 0.9:
            kind, data = "odd text", _odd_text(chance)
            ending = chance.choice(endings[1:4]) if chance.random() < 0.9 else ".pdf"
        else:
            kind, data, ending = "noise", _noise(chance), chance.choice(endings)
        yield kind, Source(f"{number:05d}{ending}", data)
