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


def name_unknown(blocks: Sequence[dict[str, Any]]) -> None:
    """In a page's ``dict`` blocks, give unknown glyphs their sign, or U+FFFD where there is none.

    The blocks are those that MuPDF makes when it is asked for the codes of unknown glyphs. A
    span's ``drawn`` becomes what it gives when it is not asked: U+FFFD.
    """
    for block in blocks:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                if span["char_flags"] & _IS_CODE:
                    codes, signs = span["text"], _signs(span["font"])
                    span["drawn"] = "".join([c if c == " " else UNKNOWN for c in codes])
                    span["text"] = "".join(
                        [c if c == " " else signs.get(c, UNKNOWN) for c in codes]
                    )


@cache
def _signs(font: str) -> dict[str, str]:
    if _SYMBOLS.search(font):
        return _OMS
    return _OMX if _EXTENSION.search(font) else {}
