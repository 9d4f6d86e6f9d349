"""The marks within a line of Markdown, as edits: emphasis, links, pictures, code, escapes, HTML.

markdown-it says what a piece of text means but not where it stood, so its own rules are watched
while they run: each knows its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from core.ingest.edits import Edit
from core.ingest.html_text import ADDRESS, entity, tag_text

# Nothing in such a text is markup.
_MARKS = re.compile(r"[\\`*_~\[\]!<&]")
# Longer stretches without a blank line are data, and its brackets may cost the parser minutes.
MAX_CHARACTERS = 50_000
# Pictures within the text of pictures, beyond which the rest stays as it is.
_DEEPEST = 3
_DUNDER = re.compile(r"__\w+?__")


class InlineMarks:
    """Finds the marks of one document, whose link definitions are in ``env``."""

    def __init__(self, parser: Any, env: dict[str, Any]) -> None:
        self._parser, self._env = parser, env
        self._top: Any = None
        self._found: list[Edit] = []
        self._delimiters: list[tuple[Any, int]] = []
        self._in_row = False
        self._depth = 0
        for rule in list(parser.inline.ruler.__rules__):
            parser.inline.ruler.at(rule.name, self._watched(rule.name, rule.fn))

    def edits(self, text: str, in_row: bool = False) -> list[Edit]:
        """What to change in ``text`` so that only its words are left. ``in_row``: it is a cell
        of a table, in which an escaped bar stays one and no line may break."""
        if len(text) > MAX_CHARACTERS or not _MARKS.search(text):
            return []
        outer = self._top, self._found, self._delimiters, self._in_row
        self._top, self._found, self._delimiters, self._in_row = None, [], [], in_row
        try:
            self._parser.inline.parse(text, self._parser, self._env, [])
            return [*self._found, *_emphasis(text, self._delimiters)]
        finally:
            self._top, self._found, self._delimiters, self._in_row = outer

    def _watched(self, name: str, rule: Callable[[Any, bool], bool]) -> Callable[[Any, bool], bool]:
        read = getattr(self, f"_{name}", None)
        if read is None:
            return rule

        def watched(state: Any, silent: bool) -> bool:
            if self._top is None:
                self._top = state
            start = state.pos
            if not rule(state, silent):
                return False
            # Texts of pictures are parsed by a state of their own, and read separately.
            if not silent and state is self._top:
                self._found += read(state, start, state.pos)
            return True

        return watched

    def _escape(self, state: Any, start: int, end: int) -> list[Edit]:
        escaped = state.src[start + 1]
        stays = state.tokens[-1].content == state.src[start:end] or (
            self._in_row and escaped == "|"
        )
        return [] if stays else [Edit(start, start + 1)]

    def _entity(self, state: Any, start: int, end: int) -> list[Edit]:
        return [Edit(start, end, entity(state.src[start:end]))]

    def _backticks(self, state: Any, start: int, end: int) -> list[Edit]:
        token = state.tokens[-1] if state.tokens else None
        if token is None or token.type != "code_inline" or state.src[end - 1] != "`":
            return []
        marks = len(token.markup)
        inner = state.src[start + marks : end - marks].replace("\n", " ")
        if state.pending or not inner.strip() or inner.strip(" ") != token.content.strip(" "):
            return []
        marks += inner != token.content
        return [Edit(start, start + marks), Edit(end - marks, end)]

    def _emphasis(self, state: Any, start: int, end: int) -> list[Edit]:
        at = end
        for token in reversed(state.tokens):
            if at <= start:
                break
            at -= len(token.content)
            self._delimiters.append((token, at))
        return []

    _strikethrough = _emphasis

    def _link(self, state: Any, start: int, end: int) -> list[Edit]:
        close = state.md.helpers.parseLinkLabel(state, start, True)
        if not state.src[start + 1 : close].strip():
            return []
        return [Edit(start, start + 1), Edit(close, end, "", ADDRESS)]

    def _image(self, state: Any, start: int, end: int) -> list[Edit]:
        token = state.tokens[-1]
        first = start + 2
        close = first + len(token.content)
        if self._depth >= _DEEPEST:
            inner: list[Edit] = []
        else:
            self._depth += 1
            inner = self.edits(token.content, self._in_row)
            self._depth -= 1
        return [
            Edit(start, first),
            *(e._replace(start=e.start + first, end=e.end + first) for e in inner),
            Edit(close, end, "", ADDRESS),
        ]

    def _autolink(self, state: Any, start: int, end: int) -> list[Edit]:
        return [Edit(start, start + 1), Edit(end - 1, end)]

    def _html_inline(self, state: Any, start: int, end: int) -> list[Edit]:
        before, after = state.src[start - 1 : start] or " ", state.src[end : end + 1] or " "
        edit = tag_text(state.src[start:end], before, after, self._in_row)
        return [] if edit is None else [edit._replace(start=start, end=end)]


def _emphasis(text: str, delimiters: list[tuple[Any, int]]) -> Iterator[Edit]:
    """The asterisks, underscores and tildes that turned out to be marks, pair by pair."""
    width = {"strong_open": 2, "strong_close": 2, "em_open": 1, "em_close": 1, "s_open": 2, "s_close": 2}  # fmt: skip
    opened: list[tuple[int, int]] = []
    for token, at in sorted(delimiters, key=lambda found: found[1]):
        if token.type not in width:
            continue
        wide = width[token.type]
        # Of a strong mark's two signs, markdown-it makes the inner one the tag.
        first = at - 1 if token.type == "strong_open" else at
        if token.nesting == 1:
            opened.append((first, wide))
        elif opened:
            start, opening = opened.pop()
            if not _meant_as_text(text, start, opening, first, wide):
                yield Edit(start, start + opening)
                yield Edit(first, first + wide)


def _meant_as_text(text: str, start: int, opening: int, end: int, closing: int) -> bool:
    """``2*3*4`` and ``__init__`` are emphasis by the letter of the syntax only."""
    if _DUNDER.fullmatch(text, start, end + closing):
        return True

    def inside_word(at: int, wide: int) -> bool:
        around = text[max(0, at - 1) : at] + text[at + wide : at + wide + 1]
        return len(around) == 2 and around.isascii() and around.isalnum()

    return inside_word(start, opening) or inside_word(end, closing)
