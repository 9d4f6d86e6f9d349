"""The light markup in which the sample documents are written, read into blocks.

One line is one block. Its first characters say what it is:

======== =====================================================
``#``    title of the document; ``##`` chapter; ``###`` section
``^``    subtitle under the title
``@``    author's name under a chapter heading; ``~`` a note on the author below it
``(a)``  item of a list; ``*`` a point below it
``::``   line of program text, spaces kept
``|``    row of a table; ``|l`` and ``|r`` open a heading row
``>``    comment, set smaller with a bar beside it
======== =====================================================

Anything else is a paragraph. ``key: value`` lines before the first blank line are metadata.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

MARKS = {
    "### ": "section",
    "## ": "chapter",
    "# ": "title",
    "^ ": "subtitle",
    "@ ": "byline",
    "~ ": "headnote",
    "* ": "point",
    ":: ": "code",
    "> ": "comment",
}
ITEM = re.compile(r"\(([a-z])\) (.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its kind, its text, an item's label, and a table's rows of cells."""

    kind: str
    text: str = ""
    label: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    aligned: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A document's metadata and its blocks, in reading order."""

    meta: dict[str, str]
    blocks: tuple[Block, ...]


def curled(text: str) -> str:
    """``text`` with straight quotation marks and apostrophes made typographic."""
    text = re.sub(r'(^|[\s(|])"', "\\1\u201c", text)
    return text.replace('"', "\u201d").replace("'", "\u2019")


def read(path: Path) -> Source:
    """The source at ``path``; a ValueError names a line without sense before the first blank."""
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    meta = {}
    for line in head.splitlines():
        key, colon, value = line.partition(": ")
        if not colon:
            raise ValueError(f"{path.name}: {line!r} is not metadata. Write it as 'key: value'.")
        meta[key] = value
    return Source(meta, tuple(_blocks(body)))


def _blocks(body: str) -> list[Block]:
    blocks: list[Block] = []
    table: list[str] = []
    for line in [*body.splitlines(), ""]:
        if line.startswith("|"):
            table.append(line)
            continue
        if table:
            blocks.append(_table(table))
            table = []
        if line.strip():
            blocks.append(_block(line))
    return blocks


def _block(line: str) -> Block:
    for mark, kind in MARKS.items():
        if line.startswith(mark):
            text = line[len(mark) :]
            return Block(kind, text if kind == "code" else curled(text))
    if item := ITEM.fullmatch(line):
        return Block("item", curled(item[2]), label=f"({item[1]})")
    return Block("paragraph", curled(line))


def _table(lines: list[str]) -> Block:
    heads = lines[0].split("|")[1:]
    rows = [tuple(head[1:].strip() for head in heads)]
    rows += [tuple(curled(cell.strip()) for cell in line.split("|")[1:]) for line in lines[1:]]
    return Block("table", rows=tuple(rows), aligned="".join(head[0] for head in heads))
