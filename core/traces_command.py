"""``chunkscope compare`` and ``chunkscope import``: traces that lie in files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.errors import TraceFormatError
from core.terminal import printable

if TYPE_CHECKING:
    from core.compare_traces import ChunkDifference, Difference
    from core.interchange import Imported

SEVERAL = "FILE#2 is the second trace of a file with several"


def add_commands(commands: Any) -> None:
    """Both among the commands."""
    compare = commands.add_parser("compare", help="the difference of two traces, own or imported")
    compare.add_argument("a", metavar="A.json", help=f"a trace; {SEVERAL}")
    compare.add_argument("b", metavar="B.json", help="another one")
    form = compare.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document on standard output")
    form.add_argument("--markdown", action="store_true", help="a report for an issue or a review")
    compare.set_defaults(command=_compare)

    bring = commands.add_parser("import", help="read a trace of another pipeline (docs/import.md)")
    bring.add_argument("file", metavar="FILE", help=f"ranked lists or spans as JSON; {SEVERAL}")
    bring.add_argument("--json", action="store_true", help="the trace as JSON on standard output")
    bring.add_argument("--passage", metavar="TEXT", help="say what the file records of this text: which list names it last, at which rank, what dropped it")  # fmt: skip
    bring.set_defaults(command=_import)


def _compare(options: argparse.Namespace) -> int:
    from core.compare_traces import difference, markdown

    a, b = _one(options.a), _one(options.b)
    names = (options.a, options.b) if options.a != options.b else ("A", "B")
    found = difference(a.trace, b.trace, names)
    if options.json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    elif options.markdown:
        sys.stdout.write(printable(markdown(found)))
    else:
        print(printable(_text(found)))
    return 0


def _import(options: argparse.Namespace) -> int:
    if options.passage is not None:
        return _recorded(options)
    if options.json:
        print(_one(options.file).trace.to_json())
        return 0
    path, number = _numbered(options.file)
    if number is None:
        chosen = dict(enumerate(_load(path), 1))
    else:
        chosen = {number: _one(options.file)}
    for n, one in chosen.items():
        print(printable(f"{n}. {one.name} ({one.form})\n{_stages(one)}\n"))
    return 0


def _recorded(options: argparse.Namespace) -> int:
    """What the trace records of a passage."""
    from core.diagnosis.recorded import recorded_answer
    from core.plain import plain

    answer = recorded_answer(_one(options.file).trace, options.passage)
    if options.json:
        print(json.dumps(plain(answer), ensure_ascii=False))
        return 0
    lines = [answer.sentence]
    if len(answer.verdicts) > 1:
        lines += [f"  {v.share:.0%} of it: {v.sentence}" for v in answer.verdicts]
    print(printable("\n".join(lines)))
    return 0


def _numbered(given: str) -> tuple[str, int | None]:
    """The path, and which of its traces is meant. A file whose own name ends so is that file."""
    from pathlib import Path

    path, sign, number = given.rpartition("#")
    if sign and number.isascii() and number.isdigit() and not Path(given).exists():
        return path, int(number[:9])
    return given, None


def _load(path: str) -> Sequence[Imported]:
    from core.interchange import load_traces

    return load_traces(path)


def _one(given: str) -> Imported:
    """The trace that is meant."""
    path, number = _numbered(given)
    traces = _load(path)
    if number is not None and not 1 <= number <= len(traces):
        raise TraceFormatError(
            given, f"is not there: the file holds {len(traces)}", "Choose one of those."
        )
    if number is None and len(traces) > 1:
        listed = "; ".join(f"#{n} {one.name}" for n, one in enumerate(traces[:20], 1))
        raise TraceFormatError(path, f"holds {len(traces)} traces", f"Choose one: {listed}.")
    return traces[(number or 1) - 1]


def _stages(one: Imported) -> str:
    """A line a stage that is recorded, then the passages."""
    trace = one.trace
    lines = [f"   {trace.question}"]
    for s in trace.stages:
        if s.ran:
            change = f"{s.entered:>5} in {s.passed:>5} out  +{len(s.added)} −{len(s.dropped)}"
            lines.append(f"   {s.name:<12} {change:<32} {s.how}".rstrip())
    if absent := [s.name for s in trace.stages if not s.recorded]:
        lines.append(f"   not recorded: {', '.join(absent)}")
    lines += [f"   note: {w}" for w in trace.warnings]
    for p in trace.selected:
        lines.append(f"   {p.number:>3}  {p.citation}  {' '.join(p.text.split())[:80]}")
    return "\n".join(lines)


def _text(found: Difference) -> str:
    """A difference for the terminal."""
    a, b = found.a, found.b
    lines = [
        f"{side}: {s.name} ({s.kind}): {s.outcome}, {s.passages} passages, {s.tokens:,} tokens"
        for side, s in (("A", a), ("B", b))
    ]
    lines += [f"note: {note}" for note in found.notes]
    for title, rows, side in (
        ("only in B", found.gained, "a"),
        ("only in A", found.lost, "b"),
    ):
        lines += ["", f"{title}: {len(rows)}"]
        lines += [_line(row, side) for row in rows]
    lines += ["", f"in both: {len(found.both)}"]
    lines += [
        f"  {row.name}: rank {row.a.rank} → {row.b.rank}"
        for row in found.both
        if row.a.rank != row.b.rank
    ]
    lines += ["", f"settings that differ: {len(found.settings)}"]
    lines += [f"  {s.name}: {s.a} → {s.b}" for s in found.settings]
    return "\n".join(lines)


def _line(row: ChunkDifference, other: str) -> str:
    mine, theirs = (row.b, row.a) if other == "a" else (row.a, row.b)
    return f"  {row.name} [{mine.number}]; in {other.upper()} {theirs.sentence}"
