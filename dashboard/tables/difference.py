"""Two traces beside each other: a row a chunk, a row a fact, a row a setting."""

from __future__ import annotations

import pandas as pd

from core.compare_traces import ChunkDifference, Difference, Side, Standing
from dashboard.lookup import STAGE_TITLES

ONLY_B, ONLY_A, BOTH = "only B", "only A", "both"


def difference_table(found: Difference) -> pd.DataFrame:
    """A row a chunk of either prompt; those that only B has come first, then those of A.

    Columns: In prompt (:data:`ONLY_B`, :data:`ONLY_A`, :data:`BOTH`), Document, Place (``chunk
    12, page 3``), A and B (the rank among the passages, or how it was lost), Why not in the other, Ranks
    in A and Ranks in B (at each stage that ranked it), First words.
    """
    groups = ((ONLY_B, found.gained), (ONLY_A, found.lost), (BOTH, found.both))
    rows = [_row(which, row) for which, members in groups for row in members]
    columns = ["In prompt", "Document", "Place", "A", "B", "Why not in the other", "Ranks in A", "Ranks in B", "First words"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _row(which: str, row: ChunkDifference) -> dict[str, object]:
    other = row.a if which == ONLY_B else row.b
    return {
        "In prompt": which,
        "Document": row.document,
        "Place": row.name.removeprefix(row.document).removeprefix(", "),
        "A": _end(row.a),
        "B": _end(row.b),
        "Why not in the other": "" if which == BOTH else other.reason,
        "Ranks in A": stage_ranks(row.a),
        "Ranks in B": stage_ranks(row.b),
        "First words": row.words,
    }


def _end(standing: Standing) -> str:
    if standing.arrived:
        return f"rank {standing.rank}"
    stage = STAGE_TITLES.get(standing.stage)
    return f"lost at {stage.lower()}" if stage else standing.words


def stage_ranks(standing: Standing) -> str:
    """``first stage 6 → rerank 1 2``: the rank that left each stage that ranked it, from 1."""
    return " → ".join(f"{STAGE_TITLES.get(s, s).lower()} {r:,}" for s, r in standing.ranks.items())


def facts_table(found: Difference) -> pd.DataFrame:
    """Both traces in a few facts. Columns: What, A, B."""
    rows = [(what, say(found.a), say(found.b)) for what, say in _FACTS.items()]
    if not (found.a.degraded or found.b.degraded):
        rows = [row for row in rows if row[0] != "Degraded"]
    return pd.DataFrame(rows, columns=["What", "A", "B"])


def _tokens(value: int | None) -> str:
    return "not recorded" if value is None else f"{value:,} tokens"


def _evidence(side: Side) -> str:
    of = f" of {side.budget:,}" if side.budget else ""
    return f"{side.tokens:,}{of} tokens"


_FACTS = {
    "Mode": lambda s: s.kind,
    "Outcome": lambda s: s.outcome,
    "Passages": lambda s: f"{s.passages:,}",
    "Evidence": _evidence,
    "Prompt": lambda s: _tokens(s.prompt_tokens),
    "Counted by": lambda s: s.counter,
    "Time": lambda s: "not recorded" if s.seconds is None else f"{s.seconds:.3f} s",
    "Degraded": lambda s: "; ".join(s.degraded),
}


def settings_table(found: Difference) -> pd.DataFrame:
    """The settings that differ. Columns: Setting, A, B."""
    rows = [(s.name, _value(s.a), _value(s.b)) for s in found.settings]
    return pd.DataFrame(rows, columns=["Setting", "A", "B"])


def _value(value: object) -> str:
    return "(none)" if value is None else " ".join(str(value).split())[:200]
