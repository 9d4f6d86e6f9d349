"""Pages whose ToUnicode table says what each glyph means, as word processors write them.

A glyph may stand for several characters (a ligature, a conjunct) and may take no room of its own
(a vowel sign above its letter). The fonts are those that PyMuPDF brings: Noto for Latin, Arabic,
Devanagari and Thai, Droid Sans Fallback for Chinese and Korean. A conjunct is drawn as whatever
glyph of the font is free: it looks wrong and reads right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Glyph = tuple[str, float]  # its characters, and its width in ems where the font does not say
GAP = "gap"  # room for a space that no glyph fills


@dataclass
class _Face:
    """A font, and which of its glyphs was given to which characters."""

    font: Any
    codes: dict[str, int] = field(default_factory=dict)
    widths: dict[int, float] = field(default_factory=dict)

    def code(self, glyph: Glyph) -> int:
        text, width = glyph
        if text not in self.codes:
            code = self.font.has_glyph(ord(text[0]))
            while not code or code in self.widths:
                code = code + 1 if 0 < code < self.font.glyph_count - 1 else 1
            self.codes[text] = code
            own = self.font.glyph_advance(ord(text[0]))
            self.widths[code] = (own or width) if width else 0.0
        return self.codes[text]


def coded(
    lines: Sequence[Sequence[Glyph]],
    script: str = "LATIN",
    size: float = 12.0,
    leading: float = 18,
    vertical: bool = False,
) -> bytes:
    """One page; each line's glyphs are drawn from left to right, the first line uppermost, or
    downwards, the first line rightmost."""
    import pymupdf

    font = pymupdf.Font(script=getattr(pymupdf.mupdf, f"UCDN_SCRIPT_{script}"), language="en")
    face = _Face(font)
    start, step = (
        ("500 760", f"{-leading:g} 0 Td") if vertical else ("60 760", f"0 {-leading:g} Td")
    )
    drawing = [f"BT /F0 {size:g} Tf {start} Td"]
    for line in lines:
        pieces = "".join(
            f"{-1000 * glyph[1]:g}" if glyph[0] == GAP else f"<{face.code(glyph):04x}>"
            for glyph in line
        )
        drawing.append(f"[{pieces}] TJ {step}")
    return _document("\n".join([*drawing, "ET"]), face, "V" if vertical else "H")


def _document(drawing: str, face: _Face, writing: str) -> bytes:
    import pymupdf

    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    buffer = face.font.buffer
    open_type = buffer[:4] == b"OTTO"

    def add(dictionary: str, stream: bytes | None = None) -> int:
        xref = document.get_new_xref()
        document.update_object(xref, dictionary)
        if stream is not None:
            document.update_stream(xref, stream)
        return xref

    file = add("<</Subtype/OpenType>>" if open_type else "<<>>", buffer)
    descriptor = add(
        "<</Type/FontDescriptor/FontName/Made/Flags 4/FontBBox[0 -200 1000 800]/ItalicAngle 0"
        f"/Ascent 800/Descent -200/CapHeight 700/StemV 80/FontFile{3 if open_type else 2} "
        f"{file} 0 R>>"
    )
    wide = " ".join(f"{code}[{1000 * width:g}]" for code, width in face.widths.items())
    descendant = add(
        f"<</Type/Font/Subtype/CIDFontType{0 if open_type else 2}/BaseFont/Made"
        f"{'' if open_type else '/CIDToGIDMap/Identity'}"
        "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
        f"/FontDescriptor {descriptor} 0 R/DW 1000/W[{wide}]>>"
    )
    table = add("<<>>", _to_unicode(face.codes).encode("ascii"))
    used = add(
        f"<</Type/Font/Subtype/Type0/BaseFont/Made/Encoding/Identity-{writing}"
        f"/DescendantFonts[{descendant} 0 R]/ToUnicode {table} 0 R>>"
    )
    contents = add("<<>>", drawing.encode("ascii"))
    document.xref_set_key(page.xref, "Resources", f"<</Font<</F0 {used} 0 R>>>>")
    document.xref_set_key(page.xref, "Contents", f"{contents} 0 R")
    return document.tobytes(deflate=True)


def _to_unicode(codes: dict[str, int]) -> str:
    table = [f"<{code:04x}><{text.encode('utf-16-be').hex()}>" for text, code in codes.items()]
    blocks = "\n".join(
        f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar"
        for part in (table[at : at + 100] for at in range(0, len(table), 100))
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "/CMapName /Made def /CMapType 2 def\n"
        f"1 begincodespacerange <0000><ffff> endcodespacerange\n{blocks}\nendcmap end end"
    )
