"""Every colour and glyph that figures use, for a light and a dark page.

Text colours have a contrast of at least 4.5 to 1 against their background, glyphs and
lines at least 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11). A fate is never told by colour alone:
each has a glyph of its own. Score ramps rise evenly in OKLab lightness, away from the
page's background, so they read without colour vision and a strong score stands out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme, as ``#rrggbb``.

    ``track`` is an empty cell, ``unscored`` a chunk that is there without a score. ``ramp``
    goes from score 0 to 1 in even steps. ``documents`` are told apart in charts by document;
    further ones share ``other``.
    """

    background: str
    surface: str
    track: str
    line: str
    text: str
    muted: str
    selected: str
    evidence: str
    window: str
    unscored: str
    other: str
    ramp: tuple[str, ...]
    documents: tuple[str, ...]

    @property
    def colorscale(self) -> list[tuple[float, str]]:
        """``ramp`` in plotly's form."""
        last = len(self.ramp) - 1
        return [(i / last, colour) for i, colour in enumerate(self.ramp)]


LIGHT = Palette(
    background="#ffffff",
    surface="#ffffff",
    track="#f1f3f6",
    line="#8b93a1",
    text="#1c2430",
    muted="#5b6472",
    selected="#111827",
    evidence="#c2185b",
    window="#b45309",
    unscored="#b9c0cb",
    other="#767f8d",
    ramp=(
        "#bdeaf6",
        "#97daf1",
        "#74c7ed",
        "#55b4e8",
        "#3e9ee1",
        "#3388d7",
        "#3272c9",
        "#355cb6",
        "#37489f",
        "#353585",
        "#30256a",
    ),
    documents=(
        "#1f6fb2",
        "#b85c00",
        "#1a7f5a",
        "#a03a86",
        "#7a6a00",
        "#5b4bb5",
        "#b3403a",
        "#3d7a8c",
    ),
)

DARK = Palette(
    background="#0e1117",
    surface="#1c222c",
    track="#1a2029",
    line="#7b8595",
    text="#e8ebf0",
    muted="#a3adbb",
    selected="#ffffff",
    evidence="#ff7eb6",
    window="#f5a35c",
    unscored="#59626f",
    other="#8b94a3",
    ramp=(
        "#362c5d",
        "#323f7c",
        "#195695",
        "#0e6f98",
        "#0b859d",
        "#049ca0",
        "#1ab39d",
        "#52c891",
        "#93d58c",
        "#c7e093",
        "#f0eca9",
    ),
    documents=(
        "#6cb2eb",
        "#f0a04b",
        "#5cc9a0",
        "#e08cc8",
        "#d3c04f",
        "#a99bf0",
        "#f08a80",
        "#7fc3d4",
    ),
)

THEMES: Mapping[str, Palette] = {"light": LIGHT, "dark": DARK}


def palette(theme: str) -> Palette:
    """The colours of ``theme``.

    Raises:
        ValueError: for a theme that is neither "light" nor "dark".
    """
    if theme not in THEMES:
        raise ValueError(f"theme {theme!r} is neither 'light' nor 'dark'")
    return THEMES[theme]


@dataclass(frozen=True, slots=True)
class Look:
    """How a fate is called and drawn: in plain words, as a character, as a plotly symbol."""

    label: str
    glyph: str
    symbol: str
    light: str
    dark: str

    def colour(self, theme: str) -> str:
        return self.dark if theme == "dark" else self.light

    @property
    def text(self) -> str:
        """Glyph and words, for a table."""
        return f"{self.glyph} {self.label}"


FATES: Mapping[str, Look] = {
    "prompt": Look("in the prompt", "●", "circle", "#1d4ed8", "#7fb2ff"),
    "budget": Look("cut by the budget", "✕", "x", "#b3261e", "#ff8a80"),
    "diversity": Look("over its source's cap", "■", "square", "#0f6e56", "#5ed0ae"),
    "dedup": Look("duplicate", "◆", "diamond", "#6d28d9", "#b79cff"),
    "relevance": Look("below the threshold", "▼", "triangle-down", "#8a5a00", "#e6b450"),
    "left_out": Look("not in the recorded prompt", "△", "triangle-up-open", "#b3261e", "#ff8a80"),
    "no_such_chunk": Look("no chunk of this text", "⊕", "circle-cross-open", "#5b6472", "#a3adbb"),
    "first_stage": Look("not a candidate", "○", "circle-open", "#5b6472", "#a3adbb"),
    "access": Look("in none of these documents", "∅", "circle-x-open", "#5b6472", "#a3adbb"),
}
"""By the stage at which a chunk ended. Stages that lose no chunk are not in it."""


SEVERITIES: Mapping[str, Look] = {
    "good": Look("good page", "●", "circle", "#5f8fc7", "#6f9fd8"),
    "doubtful": Look("doubtful page", "▲", "triangle-up", "#a06000", "#e6b450"),
    "bad": Look("bad page", "■", "square", "#b3261e", "#ff8a80"),
}
"""How a page's health is called and drawn (``core.ingest.health``)."""


LOSSES: Mapping[str, Look] = {
    "access": Look("may not be read", "∅", "circle-x-open", "#a03a86", "#e08cc8"),
    "extraction": Look("not extracted", "▫", "square-open", "#3d7a8c", "#7fc3d4"),
    "first_stage": Look("not a candidate", "○", "circle-open", "#5b6472", "#a3adbb"),
    "rerank": Look("ranked down by the rerank", "▲", "triangle-up", "#1f6fb2", "#6cb2eb"),
    "extend": Look("beside a window", "◇", "diamond-open", "#b85c00", "#f0a04b"),
    "relevance": Look("below the threshold", "▼", "triangle-down", "#7a6a00", "#d3c04f"),
    "dedup": Look("duplicate", "◆", "diamond", "#6d28d9", "#b79cff"),
    "diversity": Look("over its source's cap", "■", "square", "#0f6e56", "#5ed0ae"),
    "budget": Look("no room in the budget", "✕", "x", "#b3261e", "#ff8a80"),
}
"""By the stage that lost a piece of evidence (``core.evaluate.losses``), in their order."""


def fate_look(stage: str) -> Look:
    """The look of a chunk that ended at ``stage``, known or not."""
    said = f"lost at {stage.replace('_', ' ')}"
    return FATES.get(stage) or Look(said, "✚", "cross", "#7a4a1e", "#e0a878")


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, 0 to 1 (WCAG 2.2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
