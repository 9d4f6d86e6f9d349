"""Numbers and words as small grids of HTML. All that documents say is escaped here. No streamlit."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from core.diagnosis.differences import KINDS, WORD, Difference, Marked

MOST_WORDS = 40
"""Words of a difference that are shown, those that change what is said first."""

Fact = tuple[str, str]


def facts_html(facts: Sequence[Fact]) -> str:
    """A row a number: what it is, and the number."""
    cells = "".join(f"<span>{html.escape(w)}</span>" for fact in facts for w in fact)
    return f'<div class="facts">{cells}</div>' if cells else ""


def turns_html(turns: Iterable[tuple[str, str, str]]) -> str:
    """``Candidates 50 → 67``, the new value in bold; several turned together, joined by "and"."""
    said = [
        f"{html.escape(knob)} {html.escape(old)} → <b>{html.escape(new)}</b>"
        for knob, old, new in turns
    ]
    return f'<div class="turns">{" <i>and</i> ".join(said)}</div>'


def difference_html(apart: Difference) -> str:
    """The words that a duplicate and its twin do not share, those that matter in bold, with a
    legend of their kinds."""
    rows = [
        f"<span>{title}</span><span>{_words(words)}</span>"
        for title, words in (
            ("Only in this one", apart.only_here),
            ("Only in the other", apart.only_there),
        )
    ]
    found = {m.kind for m in (*apart.only_here, *apart.only_there)} - {WORD}
    legend = "".join(f'<span class="{k}">{k}</span>' for k in KINDS if k in found)
    told = f'<div class="kinds">Marked: {legend}</div>' if legend else ""
    return f'<div class="facts words">{"".join(rows)}</div>{told}'


def _words(marked: Sequence[Marked]) -> str:
    if not marked:
        return "nothing"
    said = [
        f'<b class="{m.kind}">{html.escape(m.word)}</b>' if m.matters else html.escape(m.word)
        for m in marked[:MOST_WORDS]
    ]
    more = f" and {len(marked) - MOST_WORDS:,} more" if len(marked) > MOST_WORDS else ""
    return " · ".join(said) + more
