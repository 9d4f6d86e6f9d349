"""PDFs made for the tests: by PyMuPDF where it can, byte by byte where it won't."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def drawn(*pages: Callable[[Any], None] | Sequence[tuple[float, float, str]], **save: Any) -> bytes:
    """A PDF whose pages hold lines at (x, baseline, text), or what a function draws."""
    import pymupdf

    document = pymupdf.open()
    for content in pages:
        page = document.new_page(width=595, height=842)
        if callable(content):
            content(page)
        else:
            for x, y, text in content:
                page.insert_text((x, y), text, fontsize=11)
    return document.tobytes(**save)


def prose(start: int, count: int, x: float = 72, y: float = 100) -> list[tuple[float, float, str]]:
    """``count`` distinct full lines, two to a sentence."""
    halves = (
        "Statement {n} of the survey tells at some length what the harbour office found,",
        "and closes with remark {n} on what the master of the vessel has to answer for.",
    )
    return [
        (x, y + 14 * i, halves[i % 2].format(n=1000 + 7 * (start + i // 2))) for i in range(count)
    ]


def raw(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalog."""
    out, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n" % size
        + table
        + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(out))
    )


def stream(content: bytes, keys: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n" % (keys, len(content)) + content + b"\nendstream"


def one_page(content: bytes, *fonts: bytes, pages: bytes = b"", keys: bytes = b"") -> bytes:
    """One page of drawing instructions; ``fonts`` are /F0, /F1 … and ``keys`` the stream's."""
    named = b"".join(b"/F%d %d 0 R" % (i, 5 + i) for i in range(len(fonts)))
    return raw(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            pages or b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 300]/Contents 4 0 R"
            b"/Resources<</Font<<%s>>>>>>" % named,
            stream(content, keys),
            *fonts,
        ]
    )


def coded(text: str) -> bytes:
    """One line whose glyphs mean, by the font's ToUnicode table, exactly ``text``."""
    codes = {character: code for code, character in enumerate(dict.fromkeys(text), 33)}
    table = "\n".join(
        f"<{code:02x}><{character.encode('utf-16-be').hex()}>" for character, code in codes.items()
    )
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "/CMapName /X def /CMapType 2 def\n"
        "1 begincodespacerange <00><ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{table}\nendbfchar\nendcmap end end"
    )
    shown = "".join(f"{codes[character]:02x}" for character in text)
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>"
    return one_page(
        f"BT /F0 12 Tf 50 200 Td <{shown}> Tj ET".encode(), font, stream(cmap.encode("ascii"))
    )
