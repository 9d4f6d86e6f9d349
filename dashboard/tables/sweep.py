"""A sweep as a table: every value at which something changes, and what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from core.diagnosis.naming import listed
from core.fates import PROMPT
from core.sweep import Setting, differing
from dashboard.palette import fate_look
from dashboard.sweeps import Column, arrived, in_words

CHANGES = ("From value", "Evidence tokens", "Comes in", "Falls out", "Other changes", "Found how")


def changes_table(
    knob: str,
    columns: Sequence[Column],
    names: Mapping[str, str],
    evidence: Collection[str] = (),
    against: int | None = None,
) -> pd.DataFrame:
    """A row a column of a sweep: what is different from the one before, or from column
    ``against`` where that is given (values of a choice have no order); index: its number.

    "Other changes" counts the chunks that another stage loses than before. Columns: :data:`CHANGES`, and with ``evidence`` also "Expected found". ``names`` maps chunk
    ids to what a person calls them.
    """
    rows = []
    for i, column in enumerate(columns):
        beside = i - 1 if against is None else against
        before = columns[beside].setting if beside >= 0 else None
        moved = differing(before, column.setting) if before else ()
        now = column.setting
        gained = [c for c in moved if now.fate(c) == PROMPT]
        lost = [c for c in moved if before and before.fate(c) == PROMPT]
        other = [c for c in moved if c not in gained and c not in lost]
        rows.append(
            {
                "From value": in_words(knob, column.first),
                "Evidence tokens": now.tokens,
                "Comes in": _told(gained, names),
                "Falls out": _lost(lost, now, names),
                "Other changes": f"{len(other):,}" if other else "",
                "Found how": "exactly" if column.exact else "to within a few steps",
            }
            | (
                {"Expected found": f"{arrived(now, evidence)} of {len(evidence)}"}
                if evidence
                else {}
            )
        )
    head = list(CHANGES)
    if evidence:
        head.insert(2, "Expected found")
    index = pd.Index([str(i) for i in range(len(columns))], name="column")
    return pd.DataFrame(rows, index=index, columns=head)


def _told(chunks: Sequence[str], names: Mapping[str, str]) -> str:
    return listed([names.get(c, c) for c in chunks], 3)


def _lost(chunks: Sequence[str], now: Setting, names: Mapping[str, str]) -> str:
    return listed([f"{names.get(c, c)} ({fate_look(now.fate(c)).label})" for c in chunks], 3)
