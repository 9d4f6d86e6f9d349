"""Which knobs matter now, and how each is best turned. No streamlit."""

from __future__ import annotations

from core.modes import MODES, Mode
from core.settings import Knob, Settings, knob_named, knobs

GROUP_TITLES = {
    "documents": "Documents",
    "first_stage": "First stage",
    "rerank": "Rerank",
    "limits": "Limits",
    "extend": "Windows",
    "relevance": "Relevance",
    "dedup": "Duplicates",
    "diversity": "Diversity",
    "budget": "Budget",
    "order": "Order",
    "prompt": "Prompt",
}

SLIDER_STEPS = 1_000
"""A range of more steps than this cannot be hit with a slider: it gets a number field."""


def grouped() -> dict[str, list[Knob]]:
    """The knobs of each group, in the order of the stages."""
    groups: dict[str, list[Knob]] = {}
    for knob in knobs():
        groups.setdefault(knob.group, []).append(knob)
    return groups


def idle_reason(knob: Knob, mode: str, settings: Settings, encoder: str = "") -> str:
    """Why this knob changes nothing now; empty where it does. ``encoder`` is the one chosen,
    "" the embedded one."""
    row = MODES[mode]
    rule = _RULES.get(knob.name) or _GROUP_RULES.get(knob.group)
    if knob.name in _NEEDS_SPARSE and not encoder:
        return "The embedded model gives no sparse score."
    return rule(row, settings) if rule else ""


_NEEDS_SPARSE = ("fusion_sparse",)


def _context(mode: Mode) -> bool:
    return "context" in (mode.rerank_1, mode.rerank_2)


def _unused(mode: Mode) -> str:
    return f"The mode {mode.title} does not use it."


def _first_stage(mode: Mode, settings: Settings) -> str:
    return "" if mode.first_stage == "fusion" else _unused(mode)


def _bm25(mode: Mode, settings: Settings) -> str:
    if mode.first_stage == "whole":
        return _unused(mode)
    alone = mode.first_stage == "fusion" and settings.fusion == "dense" and not _context(mode)
    return "Fusion is dense: BM25 takes no part." if alone else ""


def _needs(name: str, value: str):
    """A rule: the knob ``name`` must stand at ``value``."""

    def rule(mode: Mode, settings: Settings) -> str:
        idle = _GROUP_RULES.get(knob_named(name).group)
        group = idle(mode, settings) if idle else ""
        if group or getattr(settings, name) == value:
            return group
        return f"Needs {knob_named(name).label or name}: {value}."

    return rule


def _fused(mode: Mode, settings: Settings) -> str:
    if alone := _first_stage(mode, settings):
        return alone
    return "" if settings.fusion in ("rrf", "weighted") else f"Fusion is {settings.fusion} alone."


def _dedup(mode: Mode, settings: Settings) -> str:
    return "Method is off." if settings.dedup_method == "off" else ""


_GROUP_RULES = {
    "first_stage": _first_stage,
    "rerank": lambda mode, s: "" if _context(mode) else _unused(mode),
    "limits": lambda mode, s: "" if mode.rerank_1 or mode.rerank_2 else _unused(mode),
    "extend": lambda mode, s: "" if mode.windows_from else _unused(mode),
}

_RULES = {
    "k1": _bm25,
    "b": _bm25,
    "rrf_k": _needs("fusion", "rrf"),
    "fusion_bm25": _needs("fusion", "weighted"),
    "fusion_sparse": _fused,
    "top_k": lambda mode, s: "" if mode.first_stage == "bm25" else _unused(mode),
    "full_document_limit": lambda mode, s: "" if mode.first_stage == "whole" else _unused(mode),
    "dedup_threshold": _dedup,
    "protect_exceptions": _dedup,
    "mmr_lambda": _needs("diversity", "mmr"),
    "per_source_cap": _needs("diversity", "source_cap"),
    "procedure_lifts_cap": _needs("diversity", "source_cap"),
}


def widget_kind(knob: Knob) -> str:
    """``toggle``, ``choice``, ``text``, ``slider`` or ``number``."""
    if knob.kind is bool:
        return "toggle"
    if knob.choices:
        return "choice"
    if knob.kind is str:
        return "text"
    steps = (knob.high - knob.low) / knob.step
    return "slider" if steps <= SLIDER_STEPS else "number"


def decimals(knob: Knob) -> int:
    """Digits after the point that this knob's step asks for."""
    if knob.kind is int or knob.step is None:
        return 0
    text = f"{knob.step:.6f}".rstrip("0")
    return len(text.split(".")[1])


def tidy(knob: Knob, value: object) -> object:
    """A widget's value in the knob's own type and digits: 0.35000000000000003 is 0.35."""
    if isinstance(value, float) and knob.kind is float:
        value = round(value, max(decimals(knob), 6))
    return knob.check(value)


def help_text(knob: Knob) -> str:
    """One tooltip: what it does, what it takes, its default."""
    default = (
        "" if knob.kind is str and not knob.choices else f" Default: {shown(knob, knob.default)}."
    )
    takes = f" Takes {knob.allowed()}." if knob.low is not None else ""
    return f"{knob.help}{takes}{default}"


def shown(knob: Knob, value: object) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.{max(decimals(knob), 2)}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
