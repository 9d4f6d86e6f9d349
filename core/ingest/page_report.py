"""Sentences about what went wrong with a PDF's pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.ingest.lines import Line
from core.ingest.visibility import Visibility
from core.records import PageReport

UNREADABLE = "The page is damaged and could not be read."
PICTURE = "The page is a picture without text: nothing on it can be found."
DRAWN = "The page holds drawings but no text: nothing on it can be found."
RECOGNISED = "The text was recognised from a scan, and may hold errors."
UNRELIABLE = "The text layer is unreliable"

# A page with a picture over most of it and fewer characters than this is a scan with a stamp.
_FEW = 50
# The share of unknown characters from which a page's text is not to be trusted.
_UNKNOWN = 0.05


def page_warnings(page: Any, lines: Sequence[Line], seen: Visibility) -> tuple[str, ...]:
    """What a person should know of one PyMuPDF page, in sentences."""
    warnings = []
    characters = sum(len(line.text) for line in lines)
    if not characters:
        if seen.images:
            warnings.append(PICTURE)
        elif page.get_bboxlog():
            warnings.append(DRAWN)
    elif seen.covered > 0.6 and characters < _FEW:
        warnings.append(f"The page is mostly a picture, with {characters} characters of text.")
    if seen.recognised:
        warnings.append(RECOGNISED)
    if seen.hidden:
        count = sum(len(lines[index].text) for index in seen.hidden)
        warnings.append(
            f"{count} characters are invisible (no ink, off the page, or in the colour of the "
            "page). They are shown here and not searched."
        )
    if private := sum(line.private for line in lines):
        warnings.append(
            f"{private} characters have no meaning outside their font (private use). "
            "They are left out."
        )
    if unknown := sum(line.unknown for line in lines):
        share = unknown / max(1, characters)
        problem = UNRELIABLE if share >= _UNKNOWN else "Some characters are unknown"
        warnings.append(
            f"{problem}: the font does not say which letters {unknown} of its "
            "characters are. They are shown as \ufffd."
        )
    return tuple(warnings)


def summary(pages: Sequence[PageReport]) -> tuple[str, ...]:
    """What concerns the whole document, naming the pages."""
    silent = [page.number for page in pages if not page.characters and page.warnings]
    broken = [page.number for page in pages if UNREADABLE in page.warnings]
    silent = [number for number in silent if number not in broken]
    unreliable = [
        page.number for page in pages if any(w.startswith(UNRELIABLE) for w in page.warnings)
    ]
    sentences = []
    if silent:
        what = "holds" if len(silent) == 1 else "hold"
        sentences.append(
            f"{_pages(silent)} of {len(pages)} {what} no text that can be searched. "
            "Run text recognition (OCR) on the file."
        )
    if broken:
        sentences.append(f"{_pages(broken)} of {len(pages)} could not be read.")
    if unreliable:
        sentences.append(f"{_pages(unreliable)}: text layer unreliable.")
    return tuple(sentences)


def _pages(numbers: Sequence[int]) -> str:
    """ "Page 3", or "Pages 1–4, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    listed = ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)
    return f"Page {listed}" if len(numbers) == 1 else f"Pages {listed}"
