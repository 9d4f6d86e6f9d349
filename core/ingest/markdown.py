"""Markdown → headings at character offsets. The text itself stays as the file holds it.

Blocks are found by markdown-it's own block rules, so that a ``#`` in a fence, an indented
block or an HTML block is no heading, and an underlined line is one.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import Any

from core.records import Heading

MAX_CHARACTERS = 200

# The line endings that markdown-it normalises. str.splitlines would also split at form
# feeds and Unicode separators, and all later offsets would be wrong.
_LINE_END = re.compile(r"\r\n?|\n")


def markdown_headings(text: str, body: int = 0) -> tuple[Heading, ...]:
    """The top-level headings of ``text[body:]``, by offset in ``text``."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    # Inline rules would be run over the whole text, and only headings need them.
    parser.core.ruler.enableOnly(["normalize", "block"])
    tokens = parser.parse(text[body:])
    starts = [body, *(match.end() for match in _LINE_END.finditer(text, body))]
    headings = []
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open" or opening.level or not opening.map:
            continue
        shown = _plain(inline.content)
        # A rule under a long paragraph makes it a heading by the letter of the syntax only.
        if 0 < len(shown) <= MAX_CHARACTERS:
            headings.append(Heading(starts[opening.map[0]], int(opening.tag[1:]), shown))
    return tuple(headings)


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _plain(content: str) -> str:
    """A heading's words without its markup."""
    pieces = []
    for token in _parser().parseInline(content)[0].children or ():
        if token.type in ("text", "code_inline", "image"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
    return " ".join("".join(pieces).split())
