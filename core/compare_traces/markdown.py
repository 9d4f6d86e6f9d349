"""A difference as Markdown: for an issue, a review or a changelog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.compare_traces.difference import ChunkDifference, Difference, Side
from core.compare_traces.prompts import CHANGED, ONLY_A, SAME, Line
from core.markup import block, code, plain_words, table

CONTEXT, MOST = 2, 400
"""Lines of the prompts around a difference, and lines of differences that are shown."""


def markdown(found: Difference) -> str:
    """The facts of both, what was gained and lost with the reason, the settings, the prompts."""
    a, b = found.a, found.b
    one, two = plain_words(a.name), plain_words(b.name)
    asked = [f"**Question:** {plain_words(a.question)}"]
    if a.question != b.question:
        asked = [
            f"**Question of {s}:** {plain_words(side.question)}" for s, side in ((one, a), (two, b))
        ]
    parts = [
        f"# {one} against {two}",
        *asked,
        table(("", one, two), _facts(a, b)),
        *(["\n".join(f"- {plain_words(note)}" for note in found.notes)] if found.notes else []),
        *_rows(f"## Only in the prompt of {two}", found.gained, two, one, "b"),
        *_rows(f"## Only in the prompt of {one}", found.lost, one, two, "a"),
        *_both(found, one, two),
        "## Settings that differ",
        _settings(found, one, two),
        "## Prompts",
        _prompts(found),
    ]
    return "\n\n".join(parts) + "\n"


def _facts(a: Side, b: Side) -> Iterator[tuple[str, str, str]]:
    def number(value: int | None) -> str:
        return "not recorded" if value is None else f"{value:,}"

    yield "Mode", plain_words(a.kind), plain_words(b.kind)
    yield "Outcome", a.outcome, b.outcome
    yield "Passages", f"{a.passages:,}", f"{b.passages:,}"
    yield "Evidence, tokens", f"{a.tokens:,}", f"{b.tokens:,}"
    yield "Evidence budget, tokens", number(a.budget), number(b.budget)
    yield "Prompt, tokens", number(a.prompt_tokens), number(b.prompt_tokens)
    yield "Seconds", *("not recorded" if s.seconds is None else f"{s.seconds:.3f}" for s in (a, b))
    if a.degraded or b.degraded:
        yield "Degraded", plain_words("; ".join(a.degraded)), plain_words("; ".join(b.degraded))


def _rows(
    title: str, rows: Sequence[ChunkDifference], here: str, there: str, side: str
) -> list[str]:
    if not rows:
        return [title, "None."]
    cells = []
    for row in rows:
        mine, other = (row.a, row.b) if side == "a" else (row.b, row.a)
        cells.append(
            (
                plain_words(row.name),
                f"\\[{mine.number}\\], rank {mine.rank}",
                plain_words(other.sentence) + _ranks(other.ranks),
                code(row.words[:80]),
            )
        )
    return [title, table(("Chunk", f"In {here}", f"In {there}", "First words"), cells)]


def _ranks(ranks: dict | object) -> str:
    """The ranks that a chunk had before it was lost."""
    said = [f"{stage} {rank:,}" for stage, rank in dict(ranks).items()]
    return f" (ranks: {plain_words(', '.join(said))})" if said else ""


def _both(found: Difference, one: str, two: str) -> list[str]:
    rows = found.both
    moved = [r for r in rows if r.a.rank != r.b.rank]
    title = f"## In both prompts: {len(rows):,}, of which {len(moved):,} with another rank"
    if not moved:
        return [title]
    cells = [(plain_words(r.name), str(r.a.rank), str(r.b.rank)) for r in moved]
    return [title, table(("Chunk", f"Rank in {one}", f"Rank in {two}"), cells)]


def _settings(found: Difference, one: str, two: str) -> str:
    if not found.settings:
        two_pipelines = found.a.origin != found.b.origin
        return "Not compared: they are of two pipelines." if two_pipelines else "None."

    def said(value: object) -> str:
        return "(none)" if value is None else code(value)

    cells = [(plain_words(s.name), said(s.a), said(s.b)) for s in found.settings]
    return table(("Setting", one, two), cells)


def _prompts(found: Difference) -> str:
    if not found.prompt:
        return "Not compared: one of them is not recorded."
    lines = list(hunks(found.prompt))
    if not lines:
        return "The same."
    more = f"\n\n{len(lines) - MOST:,} more lines." if len(lines) > MOST else ""
    return block("\n".join(lines[:MOST]), "diff") + more


def hunks(lines: Sequence[Line]) -> Iterator[str]:
    """The differences as a diff's lines, each with some lines around it."""
    near = {
        j for i, line in enumerate(lines) if line.kind != SAME for j in range(i - CONTEXT, i + CONTEXT + 1)
    }  # fmt: skip
    before = -1
    removed: list[str] = []
    added: list[str] = []
    for i, line in enumerate(lines):
        if line.kind == SAME:
            yield from (*removed, *added)
            removed, added = [], []
        if i not in near:
            continue
        if i > before + 1:
            yield f"@@ line {i + 1} @@"
        before = i
        if line.kind == SAME:
            yield f"  {line.a}"
        if line.kind in (CHANGED, ONLY_A):
            removed.append(f"- {line.a}")
        if line.kind not in (SAME, ONLY_A):
            added.append(f"+ {line.b}")
    yield from (*removed, *added)
