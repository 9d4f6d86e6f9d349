"""The modes: each one row of a table, which says what stages 2 to 5 do.

The four rerank modes and their names are those of the first article's study; "Basic",
"Contextual" and "Expanded" are what its product calls three of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Mode:
    """What a mode does. ``windows_from`` names the score that opens windows, if any does.

    ``first_stage`` is "fusion" (as the knob says), "bm25" (the best ``top_k`` by BM25) or
    "whole" (whole documents in reading order). ``rerank_1`` and ``rerank_2`` name a kind of
    reranker, or are empty.
    """

    name: str
    title: str
    help: str
    first_stage: str = "fusion"
    rerank_1: str = ""
    windows_from: str = ""
    rerank_2: str = ""

    def runs(self, stage: str) -> bool:
        """Whether this mode uses the stage (all modes share those from relevance on)."""
        if stage == "extend":
            return bool(self.windows_from)
        if stage in ("rerank_1", "rerank_2"):
            return bool(getattr(self, stage))
        return True


_ROWS = (
    Mode("no_rerank", "Basic", "First stage only: BM25 and dense scores, fused."),
    Mode("bge_rerank", "Piecewise", "Each candidate is reranked by itself.", rerank_1="piecewise"),
    Mode(
        "jina_rerank",
        "Listwise",
        "All candidates are read together, in the order in which they were retrieved.",
        rerank_1="listwise",
    ),
    Mode(
        "context_rerank",
        "Context",
        "All candidates are read in document order, each in its surroundings.",
        rerank_1="context",
    ),
    Mode(
        "extend_rerank",
        "Contextual",
        "Windows open around the first stage's best chunks, then one context rerank.",
        windows_from="first_stage",
        rerank_2="context",
    ),
    Mode(
        "rerank_extend_rerank",
        "Expanded",
        "A context rerank finds the key chunks, windows open around them, and a second "
        "context rerank judges the whole.",
        rerank_1="context",
        windows_from="rerank_1",
        rerank_2="context",
    ),
    Mode("bm25_top_k", "BM25 top k", "The best chunks by BM25 alone.", first_stage="bm25"),
    Mode(
        "full_document",
        "Whole document",
        "Documents below the size limit go in whole; nothing is ranked.",
        first_stage="whole",
    ),
)

MODES = {mode.name: mode for mode in _ROWS}
DEFAULT_MODE = "rerank_extend_rerank"


def mode_named(name: str) -> Mode:
    """The mode of that name.

    Raises:
        SettingsError: listing the modes that there are.
    """
    if name not in MODES:
        raise SettingsError(name, "there is no such mode", f"Modes: {', '.join(MODES)}.")
    return MODES[name]
