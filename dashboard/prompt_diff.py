"""Two prompts side by side as HTML, differences marked. No streamlit."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import groupby

from core.compare_traces import Line

AROUND, LONGEST, MOST = 2, 2_000, 1_500
"""Equal lines kept beside a difference; characters of a line; rows that are shown."""


def prompt_diff_html(lines: Sequence[Line]) -> str:
    """A row a line: A on the left, B on the right. Long equal stretches become one line."""
    rows = list(_rows(lines))
    more = f"<p>{len(rows) - MOST:,} more rows are not shown.</p>" if len(rows) > MOST else ""
    return f'<div class="promptdiff">{"".join(rows[:MOST])}</div>{more}'


def _rows(lines: Sequence[Line]) -> Iterator[str]:
    runs = [list(run) for _, run in groupby(lines, key=lambda line: line.kind == "same")]
    for at, run in enumerate(runs):
        if run[0].kind != "same":
            yield from map(_row, run)
            continue
        head = run[: AROUND if at else 0]
        tail = run[len(run) - AROUND :] if at < len(runs) - 1 else []
        if len(run) <= len(head) + len(tail) + 1:
            yield from map(_row, run)
            continue
        yield from map(_row, head)
        yield f'<span class="skip">{len(run) - len(head) - len(tail):,} equal lines</span>'
        yield from map(_row, tail)


def _row(line: Line) -> str:
    one = "" if line.kind in ("same", "b") else " gone"
    two = "" if line.kind in ("same", "a") else " new"
    return (
        f'<span class="line{one}">{_shown(line.a)}</span>'
        f'<span class="line{two}">{_shown(line.b)}</span>'
    )


def _shown(text: str) -> str:
    return html.escape(text if len(text) <= LONGEST else text[:LONGEST] + " …")
