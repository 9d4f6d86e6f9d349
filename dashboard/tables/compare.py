"""Several traces of one question side by side: by chunk, and by mode."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from core.trace import OUTCOMES, Trace
from dashboard.figures.text import first_words
from dashboard.lookup import Lookup
from dashboard.palette import fate_look


def compare_table(traces: Mapping[str, Trace]) -> pd.DataFrame:
    """A row a chunk that reached some prompt; index: chunk id.

    Columns: Document, Chunk, Page, In prompts (how many of the traces), one column for each
    key of ``traces`` (the rank in that prompt, best first, or the fate in words), First words.
    Rows that more traces chose come first, then those with the better best rank.
    """
    lookups = {key: Lookup(trace) for key, trace in traces.items()}
    best: dict[str, list[int]] = {}
    for lookup in lookups.values():
        for chunk, rank in lookup.passage_ranks.items():
            best.setdefault(chunk, []).append(rank)
    order = sorted(best, key=lambda c: (-len(best[c]), min(best[c]), c))
    rows = [
        {
            **_place(lookups, chunk),
            "In prompts": len(best[chunk]),
            **{key: _end(lookup, chunk) for key, lookup in lookups.items()},
            "First words": _words(lookups, chunk),
        }
        for chunk in order
    ]
    columns = ["Document", "Chunk", "Page", "In prompts", *lookups, "First words"]
    return pd.DataFrame(rows, index=pd.Index(order, name="chunk id"), columns=columns)


def _place(lookups: Mapping[str, Lookup], chunk: str) -> dict[str, object]:
    for lookup in lookups.values():
        if lookup.known(chunk):
            row = lookup.row(chunk)
            place, pages = lookup.place_of(row), lookup.pages(chunk)
            shown = "" if not pages else "–".join(str(p) for p in dict.fromkeys(pages))
            return {
                "Document": place.document.name,
                "Chunk": row - place.first + 1,
                "Page": shown,
            }
    return {"Document": "", "Chunk": None, "Page": ""}


def _end(lookup: Lookup, chunk: str) -> str:
    if chunk in lookup.passage_ranks:
        return str(lookup.passage_ranks[chunk])
    if not lookup.known(chunk):
        return "not in its documents"
    return fate_look(lookup.fate(chunk).stage).text


def _words(lookups: Mapping[str, Lookup], chunk: str) -> str:
    for lookup in lookups.values():
        if chunk in lookup.chunks:
            return first_words(lookup.chunks[chunk], 160)
    return ""


def mode_table(traces: Mapping[str, Trace], *, evidence: Collection[str] = ()) -> pd.DataFrame:
    """A row for each key of ``traces``: what it put in the prompt, and at what cost.

    Columns: Outcome, Passages, Documents, Evidence tokens, Budget (tokens), Expected found
    (expected chunks in the prompt) and Expected (how many there are; both only where
    ``evidence`` is given), Only here (passages that no other trace has), Seconds, Degraded.
    """
    chosen = {key: {p.chunk_id for p in t.selected} for key, t in traces.items()}
    rows = []
    for key, trace in traces.items():
        others = set().union(*(ids for k, ids in chosen.items() if k != key))
        row: dict[str, object] = {
            "Outcome": OUTCOMES.get(trace.outcome, trace.outcome).partition(":")[0],
            "Passages": len(trace.selected),
            "Documents": len({p.document_id for p in trace.selected}),
            "Evidence tokens": trace.ledger.evidence,
            "Budget": trace.ledger.evidence_budget,
        }
        if evidence:
            row["Expected found"] = len(chosen[key] & set(evidence))
            row["Expected"] = len(set(evidence))
        rows.append(
            row
            | {
                "Only here": len(chosen[key] - others),
                "Seconds": sum(s.seconds for s in trace.stages),
                "Degraded": "; ".join(s.degraded for s in trace.degraded),
            }
        )
    return pd.DataFrame(rows, index=pd.Index(list(traces), name="mode"))
