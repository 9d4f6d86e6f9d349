"""Streams that expand to far more than the file: found before anything is made of them.

A PDF stream can be compressed several times over, and each Flate layer packs up to 1,032
bytes into one. A stream whose packed length cannot reach the limit is not looked into; the
others are unpacked piece by piece, keeping nothing, until they end or pass it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

# Bytes that one stream may hold once unpacked. A page's drawing instructions take kilobytes,
# embedded fonts up to tens of megabytes; pictures are not unpacked to read text.
MAX_UNPACKED = 256 * 2**20

_FLATE_RATIO = 1032
_FILTER = re.compile(r"/([A-Za-z0-9]+)")
_OBJECT = re.compile(rb"\b(\d{1,10})\s+\d{1,5}\s+obj\b")
_MAX_TABLE = 100_000
_PIECE = 1 << 16
_UNPACKED_PIECE = 1 << 20


def oversized_stream(document: Any, data: bytes) -> bool:
    """Whether a stream in a PyMuPDF document, other than a picture, unpacks past the limit.

    ``data`` is the file's bytes.
    """
    import pymupdf

    # PyMuPDF's own xref_is_stream asks the same, and takes six times as long for the asking.
    is_stream = pymupdf.mupdf.pdf_obj_num_is_stream
    pdf = pymupdf.mupdf.pdf_specifics(document)
    for xref in _object_numbers(document.xref_length(), data):
        try:
            if not is_stream(pdf, xref):
                continue
            layers = _flate_layers(document.xref_get_key(xref, "Filter")[1])
            if not layers or not _may_be_oversized(document, xref, layers):
                continue
            if document.xref_get_key(xref, "Subtype")[1] == "/Image":
                continue
            raw = document.xref_stream_raw(xref) or b""
        except Exception:  # noqa: BLE001, S112 (a broken object is judged when it is used)
            continue
        if unpacks_past(raw, layers, MAX_UNPACKED):
            return True
    return False


def _object_numbers(length: int, data: bytes) -> Iterable[int]:
    """The numbers below ``length`` that objects may have, if the file tells the truth.

    A table of two thousand million objects can be claimed in ten bytes; then the file is
    searched for what it does hold. (Streams are never inside other objects.)
    """
    if length <= _MAX_TABLE:
        return range(1, length)
    numbers = {int(found[1]) for found in _OBJECT.finditer(data)}
    return sorted(number for number in numbers if 0 < number < length)


def _flate_layers(filters: str) -> int:
    """How many Flate layers come first: behind any other filter the sizes are unknown."""
    layers = 0
    for name in _FILTER.findall(filters):
        if name not in ("FlateDecode", "Fl"):
            break
        layers += 1
    return layers


def _may_be_oversized(document: Any, xref: int, layers: int) -> bool:
    kind, length = document.xref_get_key(xref, "Length")
    if kind == "int":
        # The length that is stated may be a lie, but then only the stated bytes are read, or
        # the document is repaired and the length with it.
        return int(length) * _FLATE_RATIO**layers > MAX_UNPACKED
    return True


def unpacks_past(raw: bytes, layers: int, limit: int) -> bool:
    """Whether ``raw``, unpacked ``layers`` times, is longer than ``limit`` bytes."""
    pieces: Iterable[bytes] = (raw[at : at + _PIECE] for at in range(0, len(raw), _PIECE))
    for _ in range(layers):
        pieces = _unpacked(pieces)
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            return True
    return False


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj()
    try:
        for piece in pieces:
            while piece and not stream.eof:
                yield stream.decompress(piece, _UNPACKED_PIECE)
                piece = stream.unconsumed_tail
    except zlib.error:
        return
