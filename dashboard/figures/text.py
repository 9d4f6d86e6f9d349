"""Words in figures. Plotly renders some HTML in labels, so all outside text is escaped here."""

from __future__ import annotations

import math
import re
import textwrap

from core.records import Chunk

HOVER_WIDTH = 62
"""Characters of a line in a hover box."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # they would reorder our own words


def escaped(text: str) -> str:
    """Text that plotly shows as it is: no tag, no link, no control character, no line break.

    Plotly reads a small HTML (``<b>``, ``<a href>``, ``<br>``) and entities in every label.
    """
    plain = " ".join(_CONTROL.sub(" ", _BIDI.sub("", text)).split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clipped(text: str, most: int) -> str:
    """At most so many characters of text, on one line, with an ellipsis where it was cut."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip(" .,;:-") + "…"


def lines(text: str, most: int = 3, width: int = HOVER_WIDTH) -> str:
    """Escaped text in at most so many lines, joined by ``<br>``."""
    rows = textwrap.wrap(
        " ".join(text.split()), width, max_lines=most, placeholder=" …", break_on_hyphens=False
    )
    return "<br>".join(escaped(row) for row in rows)


def first_words(chunk: Chunk | None, most: int = 140) -> str:
    """The beginning of a chunk's text on one line; empty where the trace does not hold it."""
    return clipped(chunk.text[: 4 * most], most) if chunk else ""


def number(value: float | None, digits: int = 4) -> str:
    """A score for a person: so many significant digits; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.{digits}g}"


def shortened(name: str, most: int) -> str:
    """A file's name in at most ``most`` characters: its middle goes, since files of one kind often
    differ at their end."""
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"
