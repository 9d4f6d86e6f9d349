"""How tables are laid out: column groups, widths, number formats and help."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.tables import COLUMN_GROUPS, COLUMN_HELP, RECALL_HELP

FIRST = ("Document", "Page", "Chunk", "Fate", "Prompt number", "Expected")
"""Columns that come before the stages: what is looked for first."""

LAST = ("Tokens", "Reason", "First words")

_DECIMALS = {"BM25 score": 2, "Fused score": 4, "Relevance": 2, "Seconds": 3, "Value": 4}
_SCORES = ("Score", "Dense score", "Rerank 1 score", "Rerank 2 score", "List score")
_WIDTHS = {
    "Document": 116,
    "Page": 50,
    "Chunk": 50,
    "Tokens": 60,
    "Fate": 146,
    "Prompt number": 40,
    "Expected": 68,
    "Window": 130,
    "Reason": 260,
    "First words": 420,
    "Number": 45,
    "Rank": 45,
    "What happened": 260,
    "Meaning": 420,
    "Stage": 84,
    "Rank in": 64,
    "Rank out": 68,
    "Mode": 220,
    "Name": 200,
    "Title": 220,
    "Place": 150,
    "Degraded": 300,
    "Model": 130,
    "How": 360,
    "Warnings": 84,
    "Pages in doubt": 168,
    "Kind": 260,
    "What": 130,
    "Trimmed": 72,
    "In prompts": 84,
    "From value": 92,
    "Comes in": 330,
    "Falls out": 330,
    "Found how": 130,
    "Knob": 190,
    "What came of it": 330,
    "In prompt": 74,
    "Why not in the other": 330,
    "Ranks in A": 190,
    "Ranks in B": 190,
    "Setting": 150,
}
_CHARACTER, _PADDING = 6.1, 18
"""Pixels of a usual character of a table's text, and of a cell's two margins."""

_FITTING = {"Document": (84, 232), "Fate": (104, 176)}
"""Columns that are as wide as their longest text, from and up to so many pixels: a name that is
cut tells nothing apart."""

_COUNTS = (
    "Count", "Characters", "Chunks", "Evidence tokens", "Budget", "Tokens read", "In", "Out", "Dropped", "Added",
)  # fmt: skip
"""Whole numbers that grow past a thousand."""

_HELP = {
    "Expected found": "Chunks of the expected evidence that are in the prompt.",
    "Only here": "Passages that no other mode has in its prompt.",
    "Evidence tokens": "Tokens of the passages, labels and separators counted.",
    "Budget": "Tokens that the evidence may take.",
    "Seconds": "Time of all stages; those that an earlier run did already count as they took then.",
    "In prompts": "How many of the modes have it in their prompt.",
    "Comes in": "Chunks that are in the prompt from this value on, and not just below it.",
    "Falls out": "Chunks that were in the prompt just below this value, and what loses them.",
    "Other changes": "Chunks outside of the prompt that another stage loses than just below.",
    "Found how": "Whether this is the very value, to a step of the knob.",
    "Left out as hopeless": "Values that were known to fail without a run.",
    "In prompt": "Which of the two prompts has it.",
    "Ranks in A": "At each stage of A that ranked it, from 1.",
    "Ranks in B": "At each stage of B that ranked it, from 1.",
    "Trimmed": "Whether it was cut at a sentence to fit.",
}
_SHORT = {
    "Prompt number": "[n]",
    "Number": "[n]",
    "Window": "window",
    "Relevance": "probability",
}


_MEASURES = {
    "Recall": ("%.1f %%", 62),
    "All of it": ("%.1f %%", 62),
    "Before": ("%.1f %%", 62),
    "Assembled": ("%.1f %%", 76),
    "Median": ("%.0f ms", 74),
    "p95": ("%.0f ms", 72),
    "Tokens": ("localized", 56),
}


def measures(frame: pd.DataFrame) -> dict[str, Any]:
    """The column layout of a table of modes and their recall."""
    out: dict[str, Any] = {
        "Mode": st.column_config.Column(
            width=92, help="● the best, and those whose difference from it is inside its interval."
        ),
        "Interval": st.column_config.Column(
            "95 % interval", width=96, help=RECALL_HELP["Interval"]
        ),
    }
    for name, (form, width) in _MEASURES.items():
        out[name] = st.column_config.NumberColumn(format=form, width=width, help=RECALL_HELP[name])
    return {name: out[name] for name in frame.columns if name in out}


def grouped(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[int, Any]]:
    """The stage table under a second row of headings, one a stage, with its column layout."""
    group_of = {c: group for group, members in COLUMN_GROUPS.items() for c in members}
    group_of |= dict.fromkeys(FIRST, "Chunk") | dict.fromkeys(LAST, "Text")
    names = [c for c in FIRST if c in frame]
    names += sorted((c for c in frame if c not in FIRST + LAST), key=_by_group(group_of))
    names += [c for c in LAST if c in frame]
    heads = [_head(c, group_of.get(c, "")) for c in names]
    # In a column layout by position, 0 is the index.
    out = frame[names].copy()
    if "Expected" in out:
        out["Expected"] = out["Expected"].map({True: "✓", False: ""})
    widths = {c: _fitting(out[c], *_FITTING[c]) for c in names if c in _FITTING}
    out.columns = pd.MultiIndex.from_tuples(heads)
    return out, {at: _column(c, None, widths.get(c)) for at, c in enumerate(names, 1)}


def _fitting(values: pd.Series, least: int, most: int) -> int:
    """Pixels that the longest of the texts takes, within bounds."""
    longest = max((len(text) for text in values.astype(str)), default=0)
    return min(most, max(least, round(longest * _CHARACTER) + _PADDING))


def _by_group(group_of: dict[str, str]) -> Any:
    """Sorts columns by stage, ranks ahead of scores: ranks can be compared at a glance."""
    groups = list(COLUMN_GROUPS)
    return lambda name: (groups.index(group_of[name]), not name.endswith("rank"))


def _head(name: str, group: str) -> tuple[str, str]:
    """A column's two headings: its group's, and its own less what the group says already."""
    if group == "First stage":  # one heading for three ranks, one for three scores
        component, _, kind = name.rpartition(" ")
        if component == "List":  # an import has one list, not three components
            return group, kind
        return f"{group}: {kind}", component
    return group, _SHORT.get(name) or name.removeprefix(group).strip() or name


def layout(frame: pd.DataFrame) -> dict[str, Any]:
    """The column layout of a table with plain headings."""
    return {str(name): _column(str(name), label=_SHORT.get(str(name))) for name in frame.columns}


def _column(name: str, label: str | None, width: int | None = None) -> Any:
    help = COLUMN_HELP.get(name) or _HELP.get(name)
    more: dict[str, Any] = {"width": width or _WIDTHS.get(name), "help": help}
    if label:
        more["label"] = label
    if name in _DECIMALS or name in _SCORES:
        return st.column_config.NumberColumn(format=f"%.{_DECIMALS.get(name, 3)}f", **more)
    if name == "Share":
        return st.column_config.NumberColumn(format="percent", **more)
    if name in _COUNTS:
        return st.column_config.NumberColumn(format="localized", **more)
    if name.endswith("rank"):
        return st.column_config.NumberColumn(width=58, help=help)
    return st.column_config.Column(**more)
