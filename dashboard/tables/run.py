"""A whole run's tables: its stages, its passages, where its tokens go."""

from __future__ import annotations

import pandas as pd

from core.trace import Trace
from dashboard.figures.text import first_words
from dashboard.lookup import STAGE_TITLES, Lookup


def stage_summary(trace: Trace) -> pd.DataFrame:
    """A row a stage: chunks in and out, seconds, model, warnings.

    Columns: Stage, Ran ("yes", "not in this mode", "not recorded", "degraded"), In, Out,
    Dropped, Added (chunks; empty where not recorded), Seconds, Tokens read, Model, How, Warnings.
    """
    rows = [
        {
            "Stage": STAGE_TITLES.get(s.name, s.name),
            "Ran": "degraded" if s.degraded else s.absence or "yes",
            "In": s.entered if s.recorded else None,
            "Out": s.passed if s.recorded else None,
            "Dropped": s.entered + len(s.added) - s.passed if s.recorded else None,
            "Added": len(s.added) if s.recorded else None,
            "Seconds": s.seconds if s.seconds or not trace.origin else None,
            "Tokens read": s.tokens_read if not trace.origin else None,
            "Model": s.model,
            "How": s.how if s.recorded else "",
            "Warnings": " ".join(filter(None, (f"{s.degraded}." if s.degraded else "", *s.warnings))),
        }
        for s in trace.stages
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    whole = ("In", "Out", "Dropped", "Added", "Tokens read")
    return frame.astype(dict.fromkeys(whole, "Int64") | {"Seconds": "float64"})


def selected_table(trace: Trace) -> pd.DataFrame:
    """The passages in the order of the prompt; index: chunk id.

    Columns: Number (its citation), Rank (best first, from 1), Document, Page, Chunk, Tokens
    (label and separator included), Score, Trimmed, First words.
    """
    lookup = Lookup(trace)
    rows = []
    for p in trace.selected:
        pages = p.pages
        known = lookup.known(p.chunk_id)
        rows.append(
            {
                "Number": p.number,
                "Rank": lookup.passage_ranks[p.chunk_id],
                "Document": p.document,
                "Page": ""
                if not pages
                else str(pages[0])
                if pages[0] == pages[-1]
                else f"{pages[0]}–{pages[-1]}",
                "Chunk": lookup.row(p.chunk_id) - lookup.places[p.document_id].first + 1
                if known
                else None,
                "Tokens": p.tokens,
                "Score": p.score,
                "Trimmed": p.trimmed,
                "First words": first_words(lookup.chunks.get(p.chunk_id), 160),
            }
        )
    columns = ["Number", "Rank", "Document", "Page", "Chunk", "Tokens", "Score", "Trimmed", "First words"]  # fmt: skip
    index = pd.Index([p.chunk_id for p in trace.selected], name="chunk id")
    frame = pd.DataFrame(rows, index=index, columns=columns)
    return frame.astype({"Chunk": "Int64", "Score": "float64"})


LEDGER_PARTS = ("Instructions", "Question", "Evidence", "Frame", "Reserve for the answer", "Free")


def ledger_parts(trace: Trace) -> dict[str, int]:
    """Tokens of each part of the model window, in the order in which they stand; all >= 0.

    "Frame" is what the prompt has besides its parts; "Free" what is left of the window.
    """
    ledger = trace.ledger
    spoken = ledger.instructions + ledger.question + ledger.evidence + ledger.reserve
    return {
        "Instructions": ledger.instructions,
        "Question": ledger.question,
        "Evidence": ledger.evidence,
        "Frame": max(0, ledger.total - spoken),
        "Reserve for the answer": ledger.reserve,
        "Free": max(0, ledger.window - max(ledger.total, spoken)),
    }


_WHAT = {
    "Instructions": "What the model is told to do",
    "Question": "The question as it was asked",
    "Evidence": "Passages with labels and separators",
    "Frame": "Words that name the parts, and what joining them costs",
    "Reserve for the answer": "Kept free for what the model writes",
    "Free": "Left of the model window",
}


def ledger_table(trace: Trace) -> pd.DataFrame:
    """Where the tokens of the model window go.

    Columns: Part, Tokens, Share (of the window, 0 to 1), What it is. The last row is the
    window; the parts sum to it unless the prompt is larger than the window.
    """
    window = trace.ledger.window
    parts = ledger_parts(trace) | {"Model window": window}
    if trace.origin:  # neither a window nor a budget is recorded
        parts = {part: tokens for part, tokens in parts.items() if tokens}
    budget = trace.ledger.evidence_budget
    what = _WHAT | {
        "Evidence": f"{_WHAT['Evidence']}, of a budget of {budget:,} tokens"
        if budget
        else "Passages, counted here",
        "Model window": "Prompt and answer together",
    }
    rows = [
        {
            "Part": part,
            "Tokens": tokens,
            "Share": tokens / window if window else float("nan"),
            "What it is": what[part],
        }
        for part, tokens in parts.items()
    ]
    return pd.DataFrame(rows, columns=["Part", "Tokens", "Share", "What it is"])
