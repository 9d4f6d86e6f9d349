"""Formulas set by TeX: signs whose fonts name them in a way that no table lists.

TeX's symbol and extension fonts (encodings OMS and OMX, Knuth, The TeXbook, appendix F) give
roots, sums and tall brackets names such as ``radicalbig``, and MuPDF reports U+FFFD. What it
can say on request is the code, as a letter: a root is a "p". In these fonts alone, the code
is enough to know the sign.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

UNKNOWN = "\ufffd"

# Of a span's "char_flags": MuPDF's FZ_STEXT_UNICODE_IS_CID.
_IS_CODE = 128

_SYMBOLS = re.compile(r"\b(?:CMSY|LMMathSymbols|Fourier-Math-Symbols|TXSY|PXSY)", re.IGNORECASE)
_EXTENSION = re.compile(r"\b(?:CMEX|LMMathExt|Fourier-Math-Ext|TXEX|PXEX)", re.IGNORECASE)
_OMS = {"p": "√", ";": "∅"}
# Type 1 versions of the fonts hold the codes 0–9 at 0xA1–0xAA, and 10–32 at 0xAD–0xC3.
_OMX = {
    **dict.fromkeys("PX", "∑"), **dict.fromkeys("QY", "∏"), **dict.fromkeys("RZ", "∫"),
    **dict.fromkeys("pqrst", "√"),
    **dict.fromkeys("¡³µÃ", "("), **dict.fromkeys("¢´¶!", ")"),
    **dict.fromkeys("£·h\"", "["), **dict.fromkeys("¤¸i#", "]"),
    **dict.fromkeys("©n½(", "{"), **dict.fromkeys("ªo¾)", "}"),
}  # fmt: skip


def named(blocks: list[dict[str, Any]]) -> bool:
    """Name the unknown glyphs in a page's ``dict`` blocks; False where they cannot be told.

    The blocks are those that MuPDF makes when it is asked for the codes of unknown glyphs. It
    marks these, and sometimes known ones that come after. In TeX's fonts that does not matter;
    other fonts' take :func:`with_signs`. A span's ``drawn`` becomes what MuPDF gives when it is
    not asked: U+FFFD.
    """
    marked = [
        (line, span)
        for block in blocks
        for line in block.get("lines", ())
        for span in line["spans"]
        if span["char_flags"] & _IS_CODE
    ]
    for _, span in marked:
        signs = _signs(span["font"])
        if not signs or not all(code == " " or code in signs for code in span["text"]):
            return False
    for line, span in marked:
        line["changed"] = True
        codes, signs = span["text"], _signs(span["font"])
        span["drawn"] = "".join([code if code == " " else UNKNOWN for code in codes])
        span["text"] = "".join([signs.get(code, code) for code in codes])
    return True


def with_signs(blocks: list[dict[str, Any]], coded: Sequence[dict[str, Any]]) -> None:
    """Put the signs into ``blocks``, in which unknown glyphs are U+FFFD.

    ``coded`` are the same page's blocks in which they are given by their code. Where the two
    do not match, nothing is put in. A span that changed keeps the text without the signs as
    ``drawn``.
    """
    lines = [line for block in blocks for line in block.get("lines", ())]
    others = [line for block in coded for line in block.get("lines", ())]
    if len(lines) != len(others):
        return
    for line, other in zip(lines, others, strict=True):
        spans = line["spans"]
        drawn = "".join([span["text"] for span in spans])
        if UNKNOWN not in drawn:
            continue
        codes = _aligned(drawn, "".join([span["text"] for span in other["spans"]]))
        if codes is None:
            continue
        at = 0
        for span in spans:
            shown, at = span["text"], at + len(span["text"])
            if UNKNOWN in shown and (signs := _signs(span["font"])):
                line["changed"] = True
                span["drawn"] = shown
                span["text"] = "".join(
                    signs.get(code, UNKNOWN) if character == UNKNOWN else character
                    for character, code in zip(shown, codes[at - len(shown) : at], strict=True)
                )


def _aligned(drawn: str, coded: str) -> str | None:
    """For each character of ``drawn`` the one in ``coded`` that stands in its place.

    Spaces may differ: whether MuPDF puts one in depends on what it takes the glyphs for.
    """
    aligned, at = [], 0
    for character in drawn:
        while at < len(coded) and coded[at] == " " != character:
            at += 1
        following = coded[at : at + 1]
        if character == " " != following:
            aligned.append(" ")
        elif character in (UNKNOWN, following) and following:
            aligned.append(following)
            at += 1
        else:
            return None
    return "".join(aligned)


@cache
def _signs(font: str) -> dict[str, str]:
    if _SYMBOLS.search(font):
        return _OMS
    return _OMX if _EXTENSION.search(font) else {}
