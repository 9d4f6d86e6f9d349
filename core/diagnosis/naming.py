"""How chunks and numbers are called in sentences for a person."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from core.index.index import Index

_CHUNK_ID = re.compile(r"\b[0-9a-f]{16}:\d{6}\b")


def chunk_name(index: Index, chunk_id: str, beside: str = "") -> str:
    """``faq.txt, chunk 12, page 3``, counted from 1; beside a chunk of its document, no file."""
    try:
        chunk = index.chunk(chunk_id)
    except KeyError:
        return chunk_id
    name = f"chunk {chunk.ordinal + 1:,}"
    if chunk.pages:
        first, last = chunk.pages
        name += f", page {first}" if first == last else f", pages {first} to {last}"
    if beside.rpartition(":")[0] == chunk.document_id:
        return name
    return f"{index.document(chunk.document_id).name}, {name}"


def readable(index: Index, sentence: str) -> str:
    """A stage's sentence with names in place of chunk ids."""
    return _CHUNK_ID.sub(lambda match: chunk_name(index, match.group()), sentence)


def listed(words: Sequence[str], most: int = 6) -> str:
    """``a``, ``a and b``, ``a, b and 3 more``."""
    words = list(words)
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def quoted(words: Sequence[str], most: int = 6) -> str:
    """:func:`listed`, each word in quotes."""
    shown = [f"“{w}”" for w in words[: most if len(words) <= most else most - 1]]
    if len(words) > most:
        shown.append(f"{len(words) - most + 1} more")
    return listed(shown, most)


def ordinal(number: int) -> str:
    """``1st``, ``12th``, ``1,023rd``."""
    teens = 10 <= number % 100 <= 20
    suffix = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{suffix}"


def amount(value: float) -> str:
    """A score or margin: two decimals, or as many as show two digits of a small one."""
    return f"{value:.{_decimals(value)}f}"


def beside(value: float, other: float, unit: str = "") -> tuple[str, str, str]:
    """Two numbers and how far apart they are, with as many decimals as show two digits of that.

    So two that differ never look equal, and what is shown adds up.
    """
    decimals = _decimals(value - other) if value != other else max(map(_decimals, (value, other)))
    texts = (f"{n:.{decimals}f}{unit}" for n in (value, other, abs(value - other)))
    return next(texts), next(texts), next(texts)


def shares(value: float, other: float) -> tuple[str, str]:
    """Two shares in [0, 1] as percentages, whole ones unless they would look equal."""
    for decimals in range(8):
        one, two = (f"{n:.{decimals}%}" for n in (value, other))
        if one != two or value == other:
            break
    return one, two


def _decimals(value: float) -> int:
    """How many decimals show two digits of a number, at least 2 and at most 9."""
    if not value or abs(value) >= 0.1 or not math.isfinite(value):
        return 2
    return min(9, 1 - math.floor(math.log10(abs(value))))
