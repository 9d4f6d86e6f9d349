"""What must hold of every document's map between its raw and its clean text."""

from __future__ import annotations

import unicodedata

from core.ingest.clean import written_anew
from core.records import Document

_SIGNS = "SP"


def assert_aligned(document: Document) -> None:
    """The segments lie in both texts, copy or repair, and the map is exact both ways."""
    raw, clean, alignment = document.original, document.text, document.alignment
    if not alignment:
        assert document.raw == ""
    for s in alignment.segments:
        assert 0 <= s.clean_start < s.clean_end <= len(clean)
        assert 0 <= s.raw_start < s.raw_end <= len(raw)
        if s.by_character:
            left, right = raw[s.raw_start : s.raw_end], clean[s.clean_start : s.clean_end]
            assert all(map(_explained, left, right)), (left, right)
        # There and back: the same characters, a repaired stretch as a whole.
        back = [alignment.to_clean(*span) for span in alignment.to_raw(s.clean_start, s.clean_end)]
        assert back == [((s.clean_start, s.clean_end),)]
        middle = (s.clean_start + s.clean_end) // 2
        (there,) = alignment.to_raw(middle, middle + 1)
        whole = (s.clean_start, s.clean_end)
        expected = (middle, middle + 1) if s.by_character else whole
        assert alignment.to_clean(*there) == (expected,)


def unmapped(document: Document) -> str:
    """The raw characters that stand for nothing in the clean text."""
    raw, at, left = document.original, 0, []
    if not document.alignment:
        return ""
    for s in sorted(document.alignment.segments, key=lambda s: s.raw_start):
        left.append(raw[at : s.raw_start])
        at = s.raw_end
    return "".join([*left, raw[at:]])


def put_in(document: Document) -> str:
    """The clean characters that no raw one stands for."""
    if not document.alignment:
        return ""
    clean, at, left = document.text, 0, []
    for s in document.alignment.segments:
        left.append(clean[at : s.clean_start])
        at = s.clean_end
    return "".join([*left, clean[at:]])


def _explained(raw: str, clean: str) -> bool:
    blank = (raw.isspace() or raw == "\u200b") and clean.isspace()
    sign = raw == "\ufffd" and unicodedata.category(clean)[0] in _SIGNS
    return raw == clean or written_anew(raw) == clean or blank or sign
