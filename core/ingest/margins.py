"""Running headers and footers: lines at a page's edge that come back on other pages.

Digits are masked, so that "Page 2 of 9" is the same line on every page. A line whose only
figures are page numbers must also count up with the pages; a heading that merely stands at
the top of one page is kept.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.ingest.lines import Line

HEADER, FOOTER = "running header", "running footer"

# The share of a page's height, at the top and at the bottom, in which they are looked for.
_ZONE = 0.14
# Baselines per zone that are looked at: a running header of more lines is a letterhead.
_DEPTH = 4
# A wider gap than this, in multiples of the font size, ends the header or begins the footer.
_GAP = 2.5
# A line that differs from page to page by its numbers alone may have this many words.
_MAX_WORDS = 8
# How far apart, in points, the same line may stand on two pages.
_DRIFT = 6.0
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"^[ivxlcdm]{1,7}$")


@dataclass(frozen=True, slots=True)
class _Sighting:
    page: int
    line: int
    text: str
    y: float
    size: float
    kind: str


def running_lines(
    pages: Sequence[Sequence[Line]], heights: Sequence[float]
) -> list[dict[int, str]]:
    """For each page, the indices of its running lines, each with its kind.

    ``pages`` holds each page's lines in any order, ``heights`` the pages' heights in points.
    """
    groups: dict[tuple[str, str], list[_Sighting]] = defaultdict(list)
    for page, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        for sighting in _at_the_edges(page, lines, height):
            groups[sighting.kind, _masked(sighting.text)].append(sighting)
    body = _body_size(pages)
    clusters = [
        cluster
        for group in groups.values()
        for cluster in _at_one_height(group)
        if _runs(cluster, len(pages), body)
    ]
    found = _by_page(clusters, len(pages))
    emptied = {page for page, lines in enumerate(pages) if lines and len(found[page]) == len(lines)}
    # What is all that most of its pages hold is their text: a form, a slide with one line.
    return _by_page(
        [c for c in clusters if 2 * sum(s.page in emptied for s in c) <= len(c)], len(pages)
    )


def _by_page(clusters: Sequence[Sequence[_Sighting]], pages: int) -> list[dict[int, str]]:
    found: list[dict[int, str]] = [{} for _ in range(pages)]
    for cluster in clusters:
        for sighting in cluster:
            found[sighting.page][sighting.line] = sighting.kind
    return found


def _at_the_edges(page: int, lines: Sequence[Line], height: float) -> list[_Sighting]:
    order = sorted(range(len(lines)), key=lambda index: lines[index].baseline)
    sightings = []
    for index in _outermost(lines, order):
        line = lines[index]
        if line.y1 <= _ZONE * height:
            sightings.append(_Sighting(page, index, line.text, line.y0, line.size, HEADER))
    for index in _outermost(lines, order[::-1]):
        line = lines[index]
        if line.y0 >= (1 - _ZONE) * height:
            # From the bottom edge, for pages of different heights.
            y = height - line.y0
            sightings.append(_Sighting(page, index, line.text, y, line.size, FOOTER))
    return sightings


def _outermost(lines: Sequence[Line], order: Sequence[int]) -> list[int]:
    """The lines on the outermost baselines, up to the gap before the body.

    A header may be in several pieces, and on several lines.
    """
    taken: list[int] = []
    baselines = 0
    for index in order:
        step = abs(lines[index].baseline - lines[taken[-1]].baseline) if taken else 99.0
        if step > 2.0:
            baselines += 1
        if baselines > _DEPTH or (taken and step > _GAP * lines[index].size):
            break
        taken.append(index)
    return taken


def _masked(text: str) -> str:
    folded = " ".join(text.casefold().split())
    return "@" if _ROMAN.match(folded) else _NUMBER.sub("#", folded)


def _at_one_height(group: Sequence[_Sighting]) -> list[list[_Sighting]]:
    clusters: list[list[_Sighting]] = []
    for sighting in sorted(group, key=lambda sighting: (sighting.y, sighting.page)):
        if clusters and sighting.y - clusters[-1][-1].y <= _DRIFT:
            clusters[-1].append(sighting)
        else:
            clusters.append([sighting])
    return clusters


def _runs(cluster: Sequence[_Sighting], pages: int, body: float) -> bool:
    masked = _masked(cluster[0].text)
    if (
        sum(map(str.isalnum, masked)) < 2 and masked[:1] != "@" and "#" not in masked
    ):  # a brace, a bullet, a rule
        return False
    if not _on_neighbours({sighting.page for sighting in cluster}, pages):
        return False
    texts = {sighting.text for sighting in cluster}
    if len(texts) == 1 or all(_ROMAN.match(text.strip().casefold()) for text in texts):
        return True
    if len(masked.split()) > _MAX_WORDS:
        return False
    # Numbered headings ("Chapter 3") can also come one a page, but are set larger than text.
    if masked != "#" and max(sighting.size for sighting in cluster) > 1.15 * body:
        return False
    return _counts_up(cluster)


def _on_neighbours(on: set[int], pages: int) -> bool:
    """Whether the pages follow on each other, or on every other one, three times at least.

    Lines of code or of a form also meet by chance at one height on pages far apart. Two pages
    that agree are enough only where there are hardly any others to ask.
    """
    needed = 2 if pages <= 4 else 3
    ordered = sorted(on)
    run = longest = 1
    for above, below in itertools.pairwise(ordered):
        run = run + 1 if below - above <= 2 else 1
        longest = max(longest, run)
    return longest >= needed


def _counts_up(cluster: Sequence[_Sighting]) -> bool:
    """Whether one of the numbers grows with the pages, in four of five steps at least."""
    ordered = sorted(cluster, key=lambda sighting: sighting.page)
    numbers = [[int(n[:9]) for n in _NUMBER.findall(sighting.text)] for sighting in ordered]
    steps = list(zip(ordered, ordered[1:], numbers, numbers[1:], strict=False))
    return any(
        5 * sum(b[column] - a[column] == below.page - above.page for above, below, a, b in steps)
        >= 4 * len(steps)
        for column in range(len(numbers[0]))
    )


def _body_size(pages: Sequence[Sequence[Line]]) -> float:
    weights: dict[float, int] = defaultdict(int)
    # Every so many pages: a book's type is that of its parts.
    for lines in pages[:: 1 + len(pages) // 100]:
        for line in lines:
            weights[line.size] += len(line.text)
    return max(weights, key=lambda size: weights[size]) if weights else 10.0
