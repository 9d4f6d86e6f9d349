"""Rows that a blank strip divides: columns of prose, read one after the other, or a table.

Drawn across, row by row, both look the same. Text goes on over a line's end in each column;
a table's entries are short, hold figures, and begin anew, and where they are long the cells
beside them are blank. Where neither is clear, the page says that its order is uncertain.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from core.ingest.lines import Line
from core.ingest.rows import CELL_GAP, Group, is_marker, text_of

# Rows with a gap that it takes to speak of columns or of a table.
_LEAST_ROWS = 3
# Between two rows of a run, in multiples of the font size.
_LARGEST_STEP = 4.0
# The share of rows with text that a column of prose has from its first to its last.
_FILLED = 0.75
_STOPS, _CLOSING = frozenset(".!?:;。！？…"), frozenset("\"'”’»)]")
_SENTENCE_END = re.compile(r"[.!?:;。！？…][\"'”’»)\]]*$")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Thai, Lao, Burmese, Khmer, Japanese, Chinese.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_FIGURE = re.compile(r"[-+−±~<>≤≥≈$€£¥(]*\d")

_PAGE_NUMBER = re.compile("[ivxlcdm]+", re.IGNORECASE)  # as in a table of contents

Gutter = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Ordered:
    """Groups in reading order; ``headers`` has the header row of each that is in a table."""

    groups: list[Group]
    headers: dict[int, str]  # by index of the group
    uncertain: bool


def in_order(groups: list[Group]) -> Ordered:
    """The groups, columns read one after the other and tables row by row."""
    if all(len(group) == 1 for group in groups) and not _goes_up(groups):
        return Ordered(groups, {}, False)
    groups = _tables_across(groups)
    result: list[Group] = []
    headers: dict[int, str] = {}
    uncertain = False
    at = 0
    while at < len(groups):
        gutters = _gaps(groups[at]) if len(groups[at]) > 1 else []
        if not gutters:
            result.append(groups[at])
            at += 1
            continue
        end, gutters = _run(groups, at, gutters)
        run = groups[at:end]
        if sum(len(_cells(group, gutters)) > 1 for group in run) < _LEAST_ROWS:
            result.append(groups[at])
            at += 1
            continue
        verdict = _judged(run, gutters)
        uncertain |= verdict.uncertain
        if verdict.columns:
            result += _one_after_the_other(run, gutters)
        else:
            header = _header(run, gutters)
            if header:
                below = range(len(result) + 1, len(result) + len(run))
                headers.update(dict.fromkeys(below, header))
            result += run
        at = end
    return Ordered(result, headers, uncertain)


def _goes_up(groups: Sequence[Group]) -> bool:
    return any(b[0].baseline < a[0].baseline for a, b in itertools.pairwise(groups))


def _gaps(group: Sequence[Line]) -> list[Gutter]:
    return [
        (left.x1, right.x0)
        for left, right in itertools.pairwise(group)
        if right.x0 - left.x1 >= CELL_GAP * max(left.size, right.size) and not is_marker(left.text)
    ]


def _run(groups: Sequence[Group], start: int, gutters: list[Gutter]) -> tuple[int, list[Gutter]]:
    """The end of the run of rows from ``start`` that leave blank what its first row does.

    The gutters are what all of them leave blank. Those at the sides are open: a later row may
    have a piece there, which makes one more column.
    """
    first = groups[start]
    size = first[0].size
    free = [(float("-inf"), first[0].x0), *gutters, (first[-1].x1, float("inf"))]
    end = start + 1
    for index in range(start + 1, len(groups)):
        group, above = groups[index], groups[index - 1]
        if not 0 < group[0].baseline - above[0].baseline <= _LARGEST_STEP * size:
            break
        left = _left_free(free, group, size)
        if left is None:
            break
        free, end = left, index + 1
    inner = [(low, high) for low, high in free if low > float("-inf") and high < float("inf")]
    # Single pieces at the end, further below than a row is below another, are no part of it.
    steps = [b[0].baseline - a[0].baseline for a, b in itertools.pairwise(groups[start:end])]
    usual = statistics.median_low(steps) if steps else 0.0
    last = max(i for i in range(start, end) if len(_cells(groups[i], inner)) > 1)
    for index in range(last + 1, end):
        if groups[index][0].baseline - groups[index - 1][0].baseline > 1.3 * usual:
            return index, inner
    return end, inner


def _left_free(free: Sequence[Gutter], group: Sequence[Line], size: float) -> list[Gutter] | None:
    """What of the strips stays blank; None where a strip between two columns is gone."""
    left: list[Gutter] = []
    for low, high in free:
        open_strip = low == float("-inf") or high == float("inf")
        parts = [(low, high)]
        for line in group:
            parts = [
                part
                for a, b in parts
                for part in (
                    [(a, b)] if line.x1 <= a or line.x0 >= b else [(a, line.x0), (line.x1, b)]
                )
                if part[1] - part[0] >= size
            ]
        if not parts and not open_strip:
            return None
        left += parts
    return left


def _cells(group: Sequence[Line], gutters: Sequence[Gutter]) -> dict[int, Group]:
    """The pieces of a row by column, from 0."""
    cells: dict[int, Group] = {}
    for line in group:
        middle = (line.x0 + line.x1) / 2
        cells.setdefault(sum(middle > (a + b) / 2 for a, b in gutters), []).append(line)
    return cells


def _one_after_the_other(run: Sequence[Group], gutters: Sequence[Gutter]) -> list[Group]:
    rows = [_cells(group, gutters) for group in run]
    return [row[column] for column in range(len(gutters) + 1) for row in rows if column in row]


@dataclass(frozen=True, slots=True)
class _Verdict:
    columns: bool
    uncertain: bool = False


def _judged(run: Sequence[Group], gutters: Sequence[Gutter]) -> _Verdict:
    rows = [_cells(group, gutters) for group in run]
    scores, filled = [], []
    for column in range(len(gutters) + 1):
        on = [index for index, row in enumerate(rows) if column in row]
        if not on:
            continue
        scores.append(_prose([text_of(rows[index][column]) for index in on]))
        filled.append(len(on) / len(rows))
    prose = [score > 0 for score in scores]
    if all(prose):
        return _Verdict(columns=True)
    if not any(prose):
        return _Verdict(columns=False, uncertain=sum(scores) > -len(scores))
    # Entries beside a text of several lines leave the rows below them blank.
    if all(share < _FILLED for share, reads in zip(filled, prose, strict=True) if not reads):
        return _Verdict(columns=False)
    return _Verdict(columns=sum(scores) > 0, uncertain=True)


def _prose(cells: Sequence[str]) -> int:
    """Above 0 where the cells read as running text, below 0 where they are table entries."""
    flows = sum(
        _may_go_on(below) and not ends_sentence(above) for above, below in itertools.pairwise(cells)
    )
    figures = sum(bool(_DIGIT.search(cell)) and len(cell) < 15 for cell in cells)
    words = statistics.mean(map(_words, cells))
    score = 0
    score += 2 if 2 * flows >= len(cells) - 1 and words >= 2.5 else 0
    score += 1 if words >= 5 else 0
    score -= 2 if 2 * figures >= len(cells) else 0
    score -= 1 if words < 2 else 0
    return score


def _may_go_on(text: str) -> bool:
    """Whether a sentence's middle may begin so: no capital, in a script that has them."""
    first = text[:1]
    return first.isalpha() and not first.isupper()


def _words(cell: str) -> int:
    """Words of two letters or more; two characters a word where none are written apart."""
    return len(_WORD.findall(cell)) + len(_UNSPACED.findall(cell)) // 2


def ends_sentence(text: str) -> bool:
    """Whether ``text`` ends as a sentence does."""
    last = text[-1:]
    return last in _STOPS or (last in _CLOSING and _SENTENCE_END.search(text) is not None)


def _header(run: Sequence[Group], gutters: Sequence[Gutter]) -> str:
    """The cells of a table's first row, if it says what those below it are; or nothing.

    It does where it names and they count, or where it alone is bold.
    """
    first, *others = [_cells(group, gutters) for group in run]
    if len(first) < max(map(len, others)) - 1 or len(first) < 2:
        return ""
    named = {column: text_of(group) for column, group in first.items()}
    if any(_FIGURE.match(text) or _PAGE_NUMBER.fullmatch(text) for text in named.values()):
        return ""
    bold = all(line.bold for line in run[0]) and not any(
        all(line.bold for line in group) for group in run[1:]
    )
    counted = any(_counts([text_of(row[c]) for row in others if c in row]) for c in named)
    if not (bold or counted):
        return ""
    return " · ".join(" ".join(named[column].split()) for column in sorted(named))


def _counts(cells: Sequence[str]) -> bool:
    return bool(cells) and 5 * sum(bool(_FIGURE.match(cell)) for cell in cells) >= 3 * len(cells)


def _tables_across(groups: list[Group]) -> list[Group]:
    """Tables that were drawn column by column, put in rows.

    Only where a column of figures stands beside one of names on the same baselines: lists and
    prose in columns are read as drawn.
    """
    falls = _falls(groups)
    if len(falls) < 2:
        return groups
    result: list[Group] = []
    at = 0
    while at < len(falls):
        columns, rest = _aligned_falls(falls, at)
        if len(columns) > 1 and _names_and_figures(columns):
            kept = len(falls[at]) - len(columns[0])
            result += falls[at][:kept]
            result += _across(columns)
            result += rest
            at += len(columns)
        else:
            result += falls[at]
            at += 1
    return result


def _falls(groups: Sequence[Group]) -> list[list[Group]]:
    """The groups, cut where they go up again."""
    falls = [[groups[0]]] if groups else []
    for above, group in itertools.pairwise(groups):
        if group[0].baseline < above[0].baseline - group[0].size:
            falls.append([group])
        else:
            falls[-1].append(group)
    return falls


def _aligned_falls(falls: Sequence[list[Group]], at: int) -> tuple[list[list[Group]], list[Group]]:
    """The columns that begin in the fall ``at``, and what follows below the last of them."""
    if at + 1 == len(falls):
        return [], []
    slack = 0.3 * falls[at + 1][0][0].size
    top = falls[at + 1][0][0].baseline - slack
    first = [group for group in falls[at] if group[0].baseline >= top]
    # The table's column is the end of the fall, all of it below the top.
    if len(first) < _LEAST_ROWS or falls[at][-len(first) :] != first:
        return [], []
    bottom = first[-1][0].baseline + slack
    baselines = [group[0].baseline for group in first]
    columns, right = [first], max(line.x1 for group in first for line in group)
    for fall in falls[at + 1 :]:
        rows = [group for group in fall if group[0].baseline <= bottom]
        shared = sum(any(abs(g[0].baseline - b) <= slack for b in baselines) for g in rows)
        if len(rows) < _LEAST_ROWS or 5 * shared < 4 * len(rows) or rows != fall[: len(rows)]:
            break
        if min(line.x0 for group in rows for line in group) <= right:
            break
        columns.append(rows)
        right = max(line.x1 for group in rows for line in group)
        if rest := fall[len(rows) :]:
            return columns, rest
    return columns, []


def _names_and_figures(columns: Sequence[Sequence[Group]]) -> bool:
    texts = [[text_of(group) for group in column] for column in columns]
    if any(_prose(cells) > 0 for cells in texts):
        return False
    counting = [_counts(cells[1:]) for cells in texts]
    return any(counting) and not all(counting)


def _across(columns: Sequence[Sequence[Group]]) -> list[Group]:
    pieces = sorted(
        (line for column in columns for group in column for line in group),
        key=lambda line: line.baseline,
    )
    rows: list[Group] = []
    for line in pieces:
        if rows and line.baseline - rows[-1][0].baseline <= 0.3 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.x0) for row in rows]
