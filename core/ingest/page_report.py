"""What a PDF's pages were found to hold, and sentences about what went wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.ingest.annotations import NONE, Annotations
from core.ingest.clean import CONTROL, repairs
from core.ingest.health import FEW, MOSTLY_COVERED, UNRELIABLE_FROM
from core.ingest.lines import Line
from core.ingest.visibility import Visibility
from core.records import Count, PageReport
from core.words import counted

UNREADABLE = "The page is damaged and could not be read."
PICTURE = "The page is a picture without text: nothing on it can be found."
DRAWN = "The page holds drawings but no text: nothing on it can be found."
RECOGNISED_HERE = "The page is a picture. Its text was recognised (OCR), and may hold errors."
NOT_RECOGNISED = "Text recognition (OCR) gave no text for the page."
RECOGNISED = "The text was recognised from a scan, and may hold errors."
UNRELIABLE = "The text layer is unreliable"
DIVIDED = "word divided at a line's end"

_UNKNOWN = "\ufffd"
_NOT_SEARCHED = "What they say is shown here and not searched."


def unreadable_page(number: int) -> PageReport:
    """The report of a page that MuPDF did not get through."""
    return PageReport(number, 0, warnings=(UNREADABLE,), unreadable=True)


def page_report(
    number: int,
    page: Any,
    area: Any,
    lines: Sequence[Line],
    seen: Visibility,
    notes: Annotations = NONE,
    ocr: str = "",
) -> PageReport:
    """What there is on one PyMuPDF page, before it is laid out. ``area`` is its rectangle as it
    is shown, ``ocr`` the language in which its text was recognised, if it was."""
    drawn = "\n".join([line.drawn for line in lines])
    # A cleaned line's only blanks are spaces.
    text = "".join([line.text for line in lines])
    characters = len(text) - text.count(" ")
    changed = [
        line for line in lines if line.drawn != line.text and line.drawn.strip() != line.text
    ]
    given = "\n".join([line.drawn for line in changed])
    mended = Counter(dict(repairs(given)))
    mended["sign of a TeX font"] = given.count(_UNKNOWN) - sum(line.unknown for line in changed)
    report = PageReport(
        number,
        characters,
        images=seen.images,
        unknown=sum(line.unknown for line in lines),
        private=sum(line.private for line in lines),
        control=len(CONTROL.findall(drawn)),
        covered=round(float(seen.covered), 3),
        drawings=not characters and bool(page.get_bboxlog()),
        recognised=seen.recognised or bool(ocr and characters),
        ocr=ocr,
        repairs=counts(mended),
        fields=notes.fields,
        fields_out=notes.fields_out,
        text_boxes=notes.text_boxes,
        notes_out=notes.notes_out,
        width=round(float(area.width), 1),
        height=round(float(area.height), 1),
    )
    outside = sum(len(lines[index].text) for index in seen.outside)
    hidden = sum(len(lines[index].text) for index in seen.hidden) - outside
    return replace(report, warnings=tuple(_warnings(report, hidden, outside)))


def laid_out(
    report: PageReport,
    aside: Iterable[tuple[str, str]],
    uncertain: bool,
    warnings: tuple[str, ...] = (),
) -> PageReport:
    """The report with what laying out the page showed. ``aside`` holds (text, kind) of what is
    not ranked, ``warnings`` what is to be said of the layout."""
    removed: Counter[str] = Counter()
    for text, kind in aside:
        removed[kind] += len(text)
    said = report.warnings + warnings
    return replace(report, uncertain=uncertain, warnings=said, removed=counts(removed))


def with_joined(pages: Sequence[PageReport], joined: Mapping[int, int]) -> tuple[PageReport, ...]:
    """The reports with the number of divided words that were put together, by page."""
    return tuple(
        replace(page, repairs=totals([page.repairs, [Count(DIVIDED, joined[page.number])]]))
        if joined.get(page.number)
        else page
        for page in pages
    )


def counts(counted: Mapping[str, int]) -> tuple[Count, ...]:
    """Counts in the order of their kinds' names, without those of nothing."""
    return tuple(Count(kind, count) for kind, count in sorted(counted.items()) if count)


def totals(given: Iterable[Iterable[Count]]) -> tuple[Count, ...]:
    """The sums of several counts, kind by kind."""
    summed: Counter[str] = Counter()
    for several in given:
        for count in several:
            summed[count.kind] += count.count
    return counts(summed)


def _warnings(page: PageReport, hidden: int, outside: int) -> Iterable[str]:
    """What a person should know of a page, in sentences."""
    if not page.characters:
        if page.images:
            yield PICTURE
        elif page.drawings:
            yield DRAWN
    elif page.covered > MOSTLY_COVERED and page.characters < FEW:
        yield f"The page is mostly a picture, with {counted(page.characters, 'character')} of text."
    if page.recognised:
        yield RECOGNISED_HERE if page.ocr else RECOGNISED
    elif page.ocr:
        yield NOT_RECOGNISED
    if hidden:
        yield (
            f"{_are(hidden)} invisible (no ink, in the colour of the page, or covered by a picture "
            f"or a shape). {_NOT_SEARCHED}"
        )
    if outside:
        yield f"{_are(outside)} off the page (beyond its crop box). {_NOT_SEARCHED}"
    if page.private:
        what = "character has" if page.private == 1 else "characters have"
        yield f"{page.private} {what} no meaning outside the font (private use): left out."
    if page.unknown:
        share = page.unknown / max(1, page.characters)
        problem = UNRELIABLE if share >= UNRELIABLE_FROM else "Some characters are unknown"
        yield (
            f"{problem}: the font does not say which letters {page.unknown} of its "
            "characters are. They are shown as \ufffd."
        )
    if page.fields_out:
        what = "field is" if page.fields_out == 1 else "fields are"
        yield f"{page.fields_out} filled-in form {what} not drawn, and not in the text."
    if page.notes_out:
        what = "1 comment is" if page.notes_out == 1 else f"{page.notes_out} comments are"
        yield f"{what} not in the text: it holds what the page shows."


def _are(characters: int) -> str:
    return f"{counted(characters, 'character')} {'is' if characters == 1 else 'are'}"


def summary(pages: Sequence[PageReport]) -> tuple[str, ...]:
    """What concerns the whole document, naming the pages."""
    broken = [page.number for page in pages if page.unreadable]
    silent = [
        page.number
        for page in pages
        if not page.characters and (page.images or page.drawings) and not page.unreadable
    ]
    unreliable = [
        page.number
        for page in pages
        if page.unknown and page.unknown / max(1, page.characters) >= UNRELIABLE_FROM
    ]
    recognised = [page.number for page in pages if page.ocr and page.recognised]
    sentences = []
    if recognised:
        was = "is a picture: its" if len(recognised) == 1 else "are pictures: their"
        sentences.append(
            f"{_pages(recognised)} of {len(pages)} {was} text was recognised (OCR), and may hold "
            "errors."
        )
    if silent:
        what = "holds" if len(silent) == 1 else "hold"
        sentences.append(
            f"{_pages(silent)} of {len(pages)} {what} no text that can be searched. "
            "Turn on text recognition (OCR), or run it on the file first."
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
