"""How far a page's text can be trusted: pure functions of its report, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass

from core.ingest.visibility import INVISIBLE
from core.records import Chunk, Document, PageReport

GOOD, DOUBTFUL, BAD = "good", "doubtful", "bad"

# A page with a picture over more of it than this, and fewer characters, is a scan with a stamp.
MOSTLY_COVERED, FEW = 0.6, 50
# Of a page's characters, the share of unknown ones from which its text is not to be trusted.
UNRELIABLE_FROM = 0.05
# Below this share, unknown and private-use characters are a few bullets or a logo.
_SOME = 0.01
# From this share of lost characters on, hardly a word is whole.
_LOST = 0.5


@dataclass(frozen=True, slots=True)
class PageHealth:
    """``severity`` is good, doubtful or bad; ``reasons`` say why, each as what the page does:
    "has 31 % unknown glyphs", the worst one first."""

    severity: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnextractedPage:
    """A page, counted from 1, whose text (if it shows any) never came into the document."""

    number: int
    reason: str


def shares(page: PageReport) -> tuple[float, float, float]:
    """The shares of unknown, of private-use and of control characters among all that the page
    drew, in [0, 1]."""
    drawn = max(1, page.characters + page.private + page.control)
    return page.unknown / drawn, page.private / drawn, page.control / drawn


def page_health(page: PageReport) -> PageHealth:
    """A page's severity, and its reasons."""
    bad = [reason for reason in (_unextracted(page),) if reason]
    doubtful = []
    unknown, private, control = shares(page)
    for share, what in (
        (unknown, "unknown glyphs"),
        (private, "glyphs that mean nothing outside their font (private use)"),
        (control, "control characters"),
    ):
        if share >= _SOME:
            reasons = bad if share >= UNRELIABLE_FROM else doubtful
            reasons.append(f"has {_percent(share)} {what}")
    if page.recognised:
        doubtful.append("was recognised from a picture of its text, and may hold errors")
    if page.uncertain:
        doubtful.append("has an uncertain reading order")
    hidden = next((c.count for c in page.removed if c.kind == INVISIBLE), 0)
    if hidden:
        doubtful.append(f"has {hidden} invisible characters, which are not ranked")
    if page.fields_out:
        doubtful.append(f"has {page.fields_out} filled-in fields that are not in its text")
    severity = BAD if bad else DOUBTFUL if doubtful else GOOD
    return PageHealth(severity, (*bad, *doubtful))


def _unextracted(page: PageReport) -> str:
    if page.unreadable:
        return "is damaged and could not be read"
    if not page.characters:
        if page.images:
            return "is a picture without text"
        return "holds drawings but no text" if page.drawings else ""
    if page.covered > MOSTLY_COVERED and page.characters < FEW and not page.recognised:
        return f"is mostly a picture, with {page.characters} characters of text"
    return ""


def unextracted_pages(document: Document) -> tuple[UnextractedPage, ...]:
    """The pages on which a passage may stand and be in no chunk, because it was never extracted:
    pictures, drawings, damaged pages, and those of whose letters most are unknown."""
    found = []
    for page in document.report.pages:
        reason = _unextracted(page)
        lost = sum(shares(page)[:2])
        if not reason and lost >= _LOST:
            reason = f"has {_percent(lost)} glyphs of unknown meaning"
        if reason:
            found.append(UnextractedPage(page.number, reason))
    return tuple(found)


def page_problem(document: Document, chunk: Chunk) -> str:
    """What is wrong with the page that a chunk comes from, for its journey: "its page has 31 %
    unknown glyphs". Empty where nothing is; each page is named where it comes from several."""
    if not chunk.pages:
        return ""
    first, last = chunk.pages[0], chunk.pages[-1]
    said = []
    for page in document.report.pages:
        if first <= page.number <= last and (reasons := page_health(page).reasons):
            name = "its page" if first == last else f"page {page.number}"
            said.append(f"{name} {', and '.join(reasons)}")
    return "; ".join(said)


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"
