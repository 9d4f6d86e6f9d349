"""Writes the documents that are made from the code: docs/knobs.md, from ``Settings``.

    python tools/make_docs.py [--check]

With ``--check`` nothing is written, and the exit code is 1 if a document is out of date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from core.settings import GROUPS, Knob, knobs

KNOBS = ROOT / "docs" / "knobs.md"

HEAD = """\
<!-- Made by `make docs` from core/settings.py; change it there. -->

# Knobs

Every knob of a run, in the order of the stages. The dashboard's sidebar and the command
line's `--set knob=value` are made from the same table. A value out of range is an error that
says what the knob takes.
"""

ABOUT = {
    "documents": "How documents become chunks. A change here rebuilds the index.",
    "first_stage": "Scores for every chunk, and the cut to the candidates.",
    "rerank": "Both rounds, `rerank_1` and `rerank_2`.",
    "limits": "When a model that is too slow is given up. Scores do not depend on it.",
    "extend": "Neighbours in the same document join the candidates.",
    "relevance": "Chunks that are not relevant enough leave.",
    "dedup": "Near-duplicates of a better chunk leave.",
    "diversity": "Variety among what is left.",
    "budget": "What fits into the evidence.",
    "order": "How the passages stand in the prompt.",
    "prompt": "The prompt around the evidence.",
}
"""What each group does, in a line."""

LONG = 40
"""Characters from which a default stands below its table."""


def number(value: float) -> str:
    """Without a useless fraction, and in groups of three digits: 0.35, 8, 120,000."""
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def typed(value: object) -> str:
    """A value as a person would type it after ``knob=``."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def takes(knob: Knob) -> str:
    """What may be given, without the unit."""
    if knob.choices:
        return ", ".join(f"`{choice}`" for choice in knob.choices)
    if knob.low is not None and knob.high is not None:
        return f"{number(knob.low)} to {number(knob.high)}"
    return knob.allowed()


def row(knob: Knob) -> str:
    """A knob's line of the table; a default too long for it stands below the table."""
    default = typed(knob.default)
    shown = f"`{default}`" if len(default) < LONG else "below"
    return f"| `{knob.name}` | {shown} | {takes(knob)} | {knob.unit} | {knob.help} |"


def group_text(group: str) -> Iterator[str]:
    """The lines of one group: what it is, its table, its long defaults."""
    members = [k for k in knobs() if k.group == group]
    yield from ("", f"## {group}", "", ABOUT[group], "")
    yield from ("| knob | default | takes | unit | what it does |", "| --- " * 5 + "|")
    yield from map(row, members)
    for knob in members:
        if len(typed(knob.default)) >= LONG:
            yield from ("", f"The default of `{knob.name}`:", "", f"> {typed(knob.default)}")


def knobs_text() -> str:
    """The whole of docs/knobs.md."""
    lines = [line for group in GROUPS for line in group_text(group)]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the documents made from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if out of date")
    text = knobs_text()
    if parser.parse_args().check:
        if KNOBS.exists() and KNOBS.read_text(encoding="utf-8") == text:
            return 0
        print(f"{KNOBS.relative_to(ROOT)} is out of date: run `make docs`", file=sys.stderr)
        return 1
    KNOBS.parent.mkdir(exist_ok=True)
    KNOBS.write_text(text, encoding="utf-8")
    print(f"wrote {KNOBS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
