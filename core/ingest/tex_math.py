"""Formulas set by TeX: signs whose fonts name them in a way that no table lists.

TeX's symbol and extension fonts (encodings OMS and OMX, Knuth, The TeXbook, appendix F) give
roots, sums and tall brackets names such as ``radicalbig``, and MuPDF reports U+FFFD. What it
can say on request is the code, as a letter: a root is a "p". In these fonts alone, the code
is enough to know the sign.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

UNKNOWN = "\ufffd"

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


def has_unknown_signs(blocks: Sequence[dict[str, Any]]) -> bool:
    """Whether some unknown glyph of a page's ``dict`` blocks is in one of TeX's fonts."""
    return any(
        UNKNOWN in span["text"] and _signs(span["font"])
        for block in blocks
        for line in block.get("lines", ())
        for span in line["spans"]
    )


def with_signs(
    blocks: Sequence[dict[str, Any]], coded: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """``blocks`` with the signs put in.

    Both are a page's ``rawdict`` blocks, ``coded`` those in which unknown glyphs are given by
    their code. Characters are the same where they stand at one place. The spans of the
    result have a ``text``, as those of a ``dict`` do, and ``drawn``: the text without the signs.
    """
    codes = {
        _place(character): character["c"]
        for span in _spans(coded)
        if _signs(span["font"])
        for character in span["chars"]
    }
    for span in _spans(blocks):
        signs = _signs(span["font"])
        span["drawn"] = "".join(character["c"] for character in span["chars"])
        span["text"] = "".join(
            signs.get(codes.get(_place(character), ""), UNKNOWN)
            if character["c"] == UNKNOWN and signs
            else character["c"]
            for character in span["chars"]
        )
    return list(blocks)


def _spans(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [span for block in blocks for line in block.get("lines", ()) for span in line["spans"]]


def _signs(font: str) -> dict[str, str]:
    if _SYMBOLS.search(font):
        return _OMS
    return _OMX if _EXTENSION.search(font) else {}


def _place(character: dict[str, Any]) -> tuple[float, float]:
    x, y = character["origin"]
    return round(x, 2), round(y, 2)
