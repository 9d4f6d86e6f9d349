"""Document ↔ JSON: for the pipe from the child process, and for the cache on disk.

The map between the texts and the places of lines are tens of thousands of numbers in a long
book; they go packed, as differences from one entry to the next.
"""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from core.alignment import Alignment, Segment
from core.plain import build, plain
from core.records import Box, Document

# Numbers a segment, and a box; a box's last four are coordinates, kept in tenths of a point.
_SEGMENT, _BOX = 4, 7
_CORNERS = 3
# What no file's map comes near, and what an attacker's few bytes must not unpack to.
_MOST_BYTES = 1 << 30


def document_to_json(document: Document) -> dict[str, Any]:
    """A dictionary of JSON values. ``document_from_json`` gives an equal document back."""
    value = plain(replace(document, alignment=Alignment(), boxes=()))
    value["alignment"] = _packed(document.alignment.segments, _SEGMENT)
    tenths = ((*box[:_CORNERS], *(round(c * 10) for c in box[_CORNERS:])) for box in document.boxes)
    value["boxes"] = _packed(tenths, _BOX)
    return value


def document_from_json(value: dict[str, Any]) -> Document:
    """The document. Raises TypeError or ValueError for what is none."""
    if not isinstance(value, dict):
        raise TypeError("Document is not an object")
    segments = _unpacked(value.get("alignment", ""), _SEGMENT)
    boxes = _unpacked(value.get("boxes", ""), _BOX)
    rest = {key: item for key, item in value.items() if key not in ("alignment", "boxes")}
    return replace(
        build(Document, rest),
        alignment=Alignment(tuple(map(Segment._make, segments))),
        boxes=tuple(Box(*box[:_CORNERS], *(c / 10 for c in box[_CORNERS:])) for box in boxes),
    )


def _packed(entries: Iterable[Sequence[int]], width: int) -> str:
    """Empty for no entries."""
    columns = [array("i", column) for column in zip(*entries, strict=True)]
    if not columns:
        return ""
    for column in columns:
        for index in range(len(column) - 1, 0, -1):
            column[index] -= column[index - 1]
        if sys.byteorder == "big":
            column.byteswap()
    assert len(columns) == width
    content = b"".join(column.tobytes() for column in columns)
    return base64.b64encode(zlib.compress(content, 1)).decode("ascii")


def _unpacked(text: Any, width: int) -> list[tuple[int, ...]]:
    if not isinstance(text, str):
        raise TypeError("the packed numbers are not a string")
    if not text:
        return []
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
        numbers = struct.unpack(f"<{len(content) // 4}i", content)
    except (zlib.error, struct.error) as error:
        raise ValueError(f"the packed numbers are damaged ({error})") from None
    if not inflate.eof or len(numbers) % width:
        raise ValueError("the packed numbers are cut off")
    length = len(numbers) // width
    columns = []
    for first in range(0, len(numbers), length):
        column, total = [], 0
        for step in numbers[first : first + length]:
            total += step
            column.append(total)
        columns.append(column)
    return list(zip(*columns, strict=True))
