"""Words and tables as Markdown. What documents say never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&])")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def plain_words(text: str) -> str:
    """Text in which no character is a mark, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))


def code(value: object) -> str:
    """A value as a code span, on one line, safe in a table."""
    text = " ".join(str(value).split()).replace("`", "'").replace("|", "\\|")
    return f"`{text}`" if text else "(empty)"


def block(text: str, kind: str = "text") -> str:
    """Text as a fenced block, whose fence is longer than any inside it."""
    longest = max((len(m) for m in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}"
