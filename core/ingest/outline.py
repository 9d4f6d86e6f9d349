"""A PDF's headings: from its outline, matched to the text, and from the size of the type.

Outlines often leave out the lowest headings, which tell a section's parts apart; what is set
larger than the text, in a type that no heading of the outline has, stands a level below.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.ingest.assemble import PlacedRow
from core.ingest.layout import Row
from core.records import Heading, Page

_WORDS = re.compile(r"[^\W_]+")
_LABEL = re.compile(
    r"^(?:chapter|part|section|appendix)?\s*(?:[\divxlc]+(?:\.\d+)*|[a-z])\.?\s+", re.IGNORECASE
)
# A heading set larger than the body, as a ratio of sizes.
_LARGER = 1.15
_MAX_CHARACTERS = 200
# Of a page's rows, the share beyond which "headings" are just the style of the page.
_MAX_SHARE = 0.4


def headings_of(
    outline: Sequence[tuple[int, str, int]], rows: Sequence[PlacedRow], pages: Sequence[Page]
) -> tuple[Heading, ...]:
    """Headings in the order of the text.

    ``outline`` holds (level, title, page from 1) as PyMuPDF's ``get_toc`` gives them. An
    outline of which less than half is found in the text describes something else (scanned
    sheets, merged files), and the type decides.
    """
    placed = _placed(outline, rows)
    found = [entry for entry in placed if entry.at is not None]
    if 2 * len(found) < len(placed) or not found:
        return _from_type(rows)
    starts = {page.number: page.start for page in pages}
    matched = [
        Heading(starts[entry.page] if entry.at is None else entry.at, entry.level, entry.title)
        for entry in placed
        if entry.page in starts
    ]
    more = _below_outline(rows, {entry.at for entry in found}, max(e.level for e in found))
    return tuple(sorted((*matched, *more), key=lambda heading: (heading.start, heading.level)))


@dataclass(frozen=True, slots=True)
class _Entry:
    level: int
    title: str
    page: int
    at: int | None  # where its line begins in the text, if it was found


def _placed(outline: Sequence[tuple[int, str, int]], rows: Sequence[PlacedRow]) -> list[_Entry]:
    by_page: dict[int, list[PlacedRow]] = defaultdict(list)
    for placed in rows:
        by_page[placed.page].append(placed)
    entries: list[_Entry] = []
    after = -1
    for level, title, page in outline:
        title = " ".join(title.split())
        if not title:
            continue
        # A heading at the top of a page is often said to be at the end of the page before.
        near = [*by_page[page], *by_page[page + 1]]
        at = _find(title, near, after)
        # Outlines go through the text from start to end, but some jump back.
        at = _find(title, near, -1) if at is None else at
        after = after if at is None else at
        entries.append(_Entry(max(1, level), title, page, at))
    return entries


def _find(title: str, rows: Sequence[PlacedRow], after: int) -> int | None:
    """Where the title stands: a row, or up to three rows together, that say just that."""
    wanted = {_key(title), _key(_LABEL.sub("", title))} - {""}
    candidates = [placed for placed in rows if placed.start > after]
    loose = None
    for index, placed in enumerate(candidates):
        row = _key(placed.row.text)
        begins = any(row and key.startswith(row) or row.startswith(key) for key in wanted)
        if not begins and not _LABEL.match(placed.row.text + " "):
            continue
        text = ""
        for following in candidates[index : index + 3]:
            text = f"{text} {following.row.text}".strip()
            if _key(text) in wanted or _key(_LABEL.sub("", text)) in wanted:
                return placed.start
        if loose is None and any(len(key) > 3 and row.startswith(key) for key in wanted):
            loose = placed.start
    return loose


@lru_cache(maxsize=1 << 14)
def _key(text: str) -> str:
    return "".join(_WORDS.findall(text.casefold()))


def _body_size(rows: Sequence[PlacedRow]) -> float:
    weights: Counter[float] = Counter()
    for placed in rows[:: 1 + len(rows) // 2000]:  # as many as it takes to know
        weights[placed.row.size] += len(placed.row.text)
    return weights.most_common(1)[0][0] if weights else 0.0


def _from_type(rows: Sequence[PlacedRow]) -> tuple[Heading, ...]:
    """Rows set larger than the body, or bold and alone; the larger, the higher the level."""
    return _headings(rows, lambda placed, body: _larger(placed, body) or _bold_alone(placed, body))


def _below_outline(
    rows: Sequence[PlacedRow], starts: Collection[int | None], deepest: int
) -> tuple[Heading, ...]:
    """Rows set larger than the body, in no style that the outline's headings have, nor larger."""
    at = set(starts)
    matched = [placed for placed in rows if placed.start in at]
    known = {_style(placed) for placed in matched}
    smallest = min((placed.row.size for placed in matched), default=0.0)
    found = _headings(
        rows,
        lambda placed, body: (
            _larger(placed, body) and placed.row.size <= smallest and _style(placed) not in known
        ),
    )
    return tuple(replace(heading, level=heading.level + deepest) for heading in found)


def _headings(
    rows: Sequence[PlacedRow], is_one: Callable[[PlacedRow, float], bool]
) -> tuple[Heading, ...]:
    body = _body_size(rows)
    groups: list[list[PlacedRow]] = []
    for above, placed in zip([None, *rows], rows, strict=False):
        if not (is_one(placed, body) and _could_be_heading(placed.row)):
            continue
        # A heading of two lines is one heading.
        if above is not None and groups and groups[-1][-1] is above and _one_style(above, placed):
            groups[-1].append(placed)
        else:
            groups.append([placed])
    groups = [group for group in groups if len(_joined(group)) <= _MAX_CHARACTERS]
    if sum(map(len, groups)) > max(3, _MAX_SHARE * len(rows)):
        return ()
    styles = sorted({_style(group[0]) for group in groups})
    return tuple(
        Heading(group[0].start, styles.index(_style(group[0])) + 1, _joined(group))
        for group in groups
    )


def _could_be_heading(row: Row) -> bool:
    if row.cells > 1 or row.mono or len(row.text) > _MAX_CHARACTERS:
        return False
    letters = sum(character.isalpha() for character in row.text)
    return letters >= 3 and 2 * letters >= len(row.text.replace(" ", ""))


def _larger(placed: PlacedRow, body: float) -> bool:
    return placed.row.size >= _LARGER * body


def _bold_alone(placed: PlacedRow, body: float) -> bool:
    row = placed.row
    return row.bold and row.size >= body and placed.alone and row.text[-1] not in ".,;"


def _one_style(above: PlacedRow, below: PlacedRow) -> bool:
    near = 0 < below.row.baseline - above.row.baseline < 2 * below.row.size
    return near and above.page == below.page and _style(above) == _style(below)


def _style(placed: PlacedRow) -> tuple[float, bool]:
    """Sorts the larger first, and bold before plain."""
    return -placed.row.size, not placed.row.bold


def _joined(group: Sequence[PlacedRow]) -> str:
    return " ".join(placed.row.text for placed in group)
