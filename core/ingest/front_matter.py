"""YAML front matter: the block between two ``---`` lines at the very top of a text.

A rule (``---``) may also open a plain text, so the block counts only when it follows the
first line without a blank line between (Pandoc's rule), is closed, and parses as a mapping
with word-like keys. YAML's own directives (``%YAML 1.2``) may stand before it. Text that opens with a rule (indented, after blank lines, or of another
tool's ``+++``, too) and names a tenant, roles or labels, but is no front matter, is refused:
its author meant to restrict it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import DocumentError
from core.ingest.metadata import ACCESS_KEYS

# Longer blocks are no metadata, and a YAML parser is slow on them.
MAX_CHARACTERS = 64_000

# What a person may have meant for an opening: only to refuse what names access below it.
_LIKE_OPENING = re.compile(
    r"[\s\ufeff]*(?:%[^\n]*\s+)*(?:<!--.*?-->\s*)*(?:---|\+\+\+|;;;)[^\n]*\n\s*",
    re.DOTALL,
)
_OPENING = re.compile(r"(?:%[A-Z]+ [^\n]*\n)*---[ \t]*\n(?=[^\s])")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
# What YAML ends a line with. Regular expressions know "\n" alone.
_LINE_ENDS = str.maketrans("\r\x85\u2028\u2029", "\n\n\n\n")
_KEY_LINE = re.compile(r"[\w.-]+:(?:\s|$)", re.MULTILINE)
_KEY = re.compile(r"[\w.-]+")
_KEYS = "|".join(ACCESS_KEYS)
_NAME = rf"[ \t\u00a0\u200b-\u200f\ufeff]*[\"']?(?:{_KEYS})[\"']?[ \t]*[:=]"
_ACCESS_LINE = re.compile(rf"^{_NAME}", re.IGNORECASE | re.MULTILINE)
_ACCESS_IN_BRACES = re.compile(rf"[{{,]{_NAME}|[\"'](?:{_KEYS})[\"'][ \t]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Its keys and values, and the offset at which the body begins: 0 where there is none."""

    values: Mapping[str, Any] = field(default_factory=dict)
    body: int = 0
    warnings: tuple[str, ...] = ()


def read_front_matter(name: str, text: str) -> FrontMatter:
    """The front matter of a text without a byte order mark.

    Scalars stay the strings that they are written as (a tenant called ``no`` is no boolean).
    Raises DocumentError where a block that names access cannot be understood.
    """
    lines = _lines(text[: 2 * MAX_CHARACTERS])
    opening = _OPENING.match(lines)
    if not opening:
        _refuse_json(name, lines[:MAX_CHARACTERS])
        if like := _LIKE_OPENING.match(lines[:MAX_CHARACTERS]):
            reason = "it must begin with a line --- at the very top, and no blank line below that"
            _refuse_access(name, _first_lines(lines[:MAX_CHARACTERS], like.end()), reason)
        return FrontMatter()
    head = lines[: MAX_CHARACTERS + opening.end()]
    closing = _CLOSING.search(head, opening.end())
    block = head[opening.end() : closing.start()] if closing else _first_lines(head, opening.end())
    if closing:
        try:
            values = _parse(block, head.count("\n", 0, opening.end()))
            return FrontMatter(values, closing.end())
        except ValueError as error:
            reason = str(error)
    else:
        reason = "it has no closing --- line"
    _refuse_access(name, block, reason)
    if _KEY_LINE.match(block):
        warning = f"It opens like front matter, but is read as text: {reason}."
        return FrontMatter(warnings=(warning,))
    return FrontMatter()


def _refuse_json(name: str, head: str) -> None:
    """Raises DocumentError for a text below a JSON object that names access, as some tools write
    it. A file that is all JSON is a text like any other."""
    text = head.lstrip(" \t\n\ufeff")
    if not text.startswith("{"):
        return
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return
    if text[end:].strip() and {k.strip().lower() for k in value} & set(ACCESS_KEYS):
        raise DocumentError(
            name,
            "its front matter says who may read it, but is JSON, which is not understood",
            "Write it as YAML between two lines ---; until then the file is not read.",
        )


def _refuse_access(name: str, block: str, reason: str) -> None:
    """Raises DocumentError where a block that is not understood names access."""
    if _ACCESS_LINE.search(block) or ("{" in block and _ACCESS_IN_BRACES.search(block)):
        raise DocumentError(
            name,
            f"its front matter says who may read it, but cannot be understood ({reason})",
            "Put the front matter right; until then the file is not read.",
        )


def _lines(text: str) -> str:
    """The text, character for character, with each line's end as ``\\n``."""
    return text.replace("\r\n", " \n").translate(_LINE_ENDS)


def _first_lines(head: str, start: int) -> str:
    """The lines up to the first blank one: what front matter that was never closed would say."""
    return re.split(r"\n[ \t]*\n", head[start:], maxsplit=1)[0]


def _parse(block: str, above: int) -> dict[str, Any]:
    """Raises ValueError, with the reason, for what is no mapping of word-like keys. ``above``
    counts the lines of the file before it."""
    import yaml

    try:
        value = yaml.load(block, Loader=_loader(yaml))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not YAML"
        # Marks count lines from 0.
        raise ValueError(f"line {mark.line + above + 1}: {problem}" if mark else problem) from None
    if not isinstance(value, dict) or not value:
        raise ValueError("it is not a list of keys and values")
    if not all(isinstance(key, str) and _KEY.fullmatch(key) for key in value):
        raise ValueError("a key is not a single word")
    for key in value:
        if key.lower() in ACCESS_KEYS and value[key] == "":
            raise ValueError(f"“{key}” is left empty")
    return value


def _loader(yaml: Any) -> type:
    """PyYAML's string-only loader, which also refuses one key twice (the last would win)."""

    class Loader(yaml.BaseLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                folded = str(key.value).lower()
                if folded in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"“{key.value}” is given twice", key.start_mark
                    )
                seen.add(folded)
            return super().construct_mapping(node, deep=deep)

    return Loader
