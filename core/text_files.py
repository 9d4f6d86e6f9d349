"""Files of JSON and CSV as text: UTF-8, or what else they are and what to do about it."""

from __future__ import annotations

import codecs
from pathlib import Path

from core.errors import ChunkscopeError

_WIDE = (
    # UTF-32 first: UTF-16's mark is the first half of its.
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class NotText(Exception):
    """What a file is instead of UTF-8: ``problem`` and ``remedy`` as in a ChunkscopeError."""

    def __init__(self, problem: str, remedy: str) -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(problem)


def read_text(path: Path, kind: type[ChunkscopeError]) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises:
        ChunkscopeError: of that ``kind``, where the file cannot be read or is no text.
    """
    try:
        return utf8(path.read_bytes())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise kind(str(path), f"cannot be read ({reason})", "Check the path.") from None
    except NotText as error:
        raise kind(path.name, f"cannot be read: {error.problem}", error.remedy) from None


def utf8(data: bytes) -> str:
    """The text of UTF-8 bytes, without their byte order mark. Raises NotText."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _instead(
            data, f"it is not UTF-8 text: byte {error.start + 1:,} fits nothing"
        ) from None
    if "\x00" in text[:1_000]:  # as in UTF-16 without a mark, whose bytes can be valid UTF-8
        raise _instead(data, "it holds binary data or text in UTF-16, not text in UTF-8")
    return text


def _instead(data: bytes, otherwise: str) -> NotText:
    from core.ingest.detect import known_kind

    for mark, encoding in _WIDE:
        if data.startswith(mark):
            return NotText(f"it is text in {encoding}, not in UTF-8", "Save it again as UTF-8.")
    if kind := known_kind(data):
        return NotText(f"it holds {kind}, not text", "Choose another file.")
    return NotText(otherwise, "Save it again as UTF-8.")
