"""Plain words on the page. What files, questions or errors say never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable

import streamlit as st

from core.errors import ChunkscopeError

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&\"'^=/@])")


def escaped(text: str) -> str:
    """Text for a label, where Streamlit offers no plain form: every mark is escaped, and
    line breaks become spaces."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def note(kind: str, lines: str | Iterable[str], *, key: str) -> None:
    """A marked box of plain sentences. ``kind`` is info, good, warning or error.

    ``key`` tells this box from the others on the page.
    """
    lines = [lines] if isinstance(lines, str) else list(lines)
    if not lines:
        return
    with st.container(key=f"note-{kind}-{key}", gap="xxsmall"):
        for line in lines:
            st.text(line, width="stretch")


def failure(error: ChunkscopeError, *, key: str) -> None:
    """An error as its own sentence: what is wrong, and what to do."""
    note("error", str(error), key=key)


def heading(text: str) -> None:
    """A section's heading; ``text`` is the program's own."""
    st.markdown(f"##### {text}")
