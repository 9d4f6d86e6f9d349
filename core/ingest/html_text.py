"""HTML within Markdown → its text: tags go, comments and scripts are not what a reader sees.

Only what is surely HTML counts: ``<T>`` in ``List<T>`` and ``<your name>`` are text that an
author meant to be read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from core.ingest.edits import Edit

MARKUP, COMMENT, ADDRESS = "HTML markup", "HTML comment", "address of a link or picture"

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby "
    "s samp small span strike strong sub sup time tt u var wbr img picture source svg path audio "
    "video button input".split()
)
_CELLS = frozenset("td th".split())
_BLOCKS = frozenset(
    "address article aside blockquote body br caption center col colgroup dd details dialog dir "
    "div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html "
    "iframe legend li link main menu meta nav noscript object ol optgroup option p param pre "
    "section select summary table tbody template textarea tfoot thead title tr track ul".split()
)
_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)")
_WITHOUT_VALUE = frozenset(
    "allowfullscreen async autofocus autoplay checked compact controls default defer disabled "
    "download hidden inert itemscope loop multiple muted nohref noshade novalidate nowrap open "
    "readonly required reversed selected".split()
)
_ATTRIBUTE = re.compile(
    r"""\s+([a-zA-Z_:@][a-zA-Z0-9:._-]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^"'=<>`\s]+))?"""
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")


def tag_text(tag: str, before: str, after: str, in_row: bool = False) -> Edit | None:
    """What a tag, comment or declaration becomes, with offsets into it; None if it stays.

    ``before`` and ``after`` are the characters beside it: words that only a tag parts must not
    run into one. ``in_row``: a table's row, which no line break may cut.
    """
    if tag.startswith(("<!--", "<?", "<!")):
        if tag.startswith("<![CDATA["):
            return None
        return Edit(0, len(tag), "", COMMENT if tag.startswith("<!--") else MARKUP)
    name = _NAME.match(tag)
    if name is None or not _is_html(tag, lowered := name[1].lower()):
        return None
    if lowered == "img":
        return Edit(0, len(tag), _alternative(tag), ADDRESS)
    apart = ""
    if not (before.isspace() or after.isspace()):
        if lowered in _CELLS:
            apart = "\t" * tag.startswith("</")
        elif lowered in _BLOCKS:
            apart = " " if in_row else "\n"
    return Edit(0, len(tag), apart, MARKUP)


def _is_html(tag: str, name: str) -> bool:
    if name not in _INLINE and name not in _BLOCKS and name not in _CELLS:
        return False
    if tag.startswith("</"):
        return True
    return all(
        value or attribute.lower() in _WITHOUT_VALUE or attribute.startswith(("data-", "aria-"))
        for attribute, value in _ATTRIBUTE.findall(tag)
    )


def _alternative(tag: str) -> str:
    for attribute, value in _ATTRIBUTE.findall(tag):
        if attribute.lower() == "alt":
            return html.unescape(value.strip("\"'"))
    return ""


def entities(text: str) -> Iterator[Edit]:
    """The entities of HTML text, each as the character that it names."""
    for match in _ENTITY.finditer(text):
        if (meant := entity(match[0])) != match[0]:
            yield Edit(match.start(), match.end(), meant)


def entity(written: str) -> str:
    """The character that an entity names, a blank for one that does not break."""
    return html.unescape(written).replace("\u00a0", " ")
