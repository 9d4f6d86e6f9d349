"""An evaluation as tables: a mode's figures, its time by stage, what could not be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from core.questions import Reference
from core.words import counted
from dashboard.figures.several import mode_title
from dashboard.figures.text import clipped
from dashboard.lookup import STAGE_TITLES

if TYPE_CHECKING:
    from core.evaluate.comparison import Comparison, Line
    from core.evaluate.records import Asked, Evaluation
    from core.evaluate.summary import Summary

RECALL_HELP = {
    "Recall": "Share of the evidence's characters that lie in the chunks which fit, the mean over questions.",
    "Interval": "95 % bootstrap interval of the recall.",
    "All of it": "Share of questions of which no evidence is missing.",
    "Before": "Recall of the first stage's order, ahead of any rerank, at the same budget.",
    "Assembled": "Recall in the prompt as the pipeline puts it together: with labels, and its own budget rule.",
    "Median": "Time of all stages for one question; half of the questions take less.",
    "p95": "95 of 100 questions take less.",
    "Tokens": "Tokens of the assembled evidence, the mean over questions.",
}
"""What the columns of :func:`recall_table` mean."""


def recall_table(summary: Summary, budget: int) -> pd.DataFrame:
    """A row a mode at one budget. Shares are in percent, times in milliseconds.

    Columns: Mode (● for the best and those that are not different from it, else ○), Recall,
    Interval, All of it, Before, Assembled, Median, p95, Tokens.
    """
    equal, b = set(summary.as_good(budget)), str(budget)
    rows = []
    for mode, f in summary.modes.items():
        r = f.recall[b]
        rows.append(
            {
                "Mode": f"{'●' if mode in equal else '○'} {mode_title(mode)}",
                "Recall": 100 * r.mean,
                "Interval": f"{100 * r.low:.1f} to {100 * r.high:.1f}",
                "All of it": 100 * f.complete[b].mean,
                "Before": 100 * f.before[b].mean,
                "Assembled": 100 * f.assembled[b].mean,
                "Median": 1_000 * f.latency["all"].median,
                "p95": 1_000 * f.latency["all"].p95,
                "Tokens": round(f.tokens[b]),
            }
        )
    return pd.DataFrame(rows, index=pd.Index(list(summary.modes), name="mode"))


def latency_table(summary: Summary) -> pd.DataFrame:
    """A row a mode, a column a stage that some mode ran: "median / p95" in milliseconds."""
    names = dict.fromkeys(s for f in summary.modes.values() for s in f.latency if s != "all")
    stages = [s for s in STAGE_TITLES if s in names] + ["all"]
    rows = []
    for mode, f in summary.modes.items():
        row = {"Mode": mode_title(mode)}
        for stage in stages:
            found = f.latency.get(stage)
            title = STAGE_TITLES.get(stage, "All stages")
            row[title] = f"{1e3 * found.median:,.1f} / {1e3 * found.p95:,.1f}" if found else ""
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index(list(summary.modes), name="mode"))


def unmeasured_table(evaluation: Evaluation) -> pd.DataFrame:
    """A row for each question that was skipped, quote that was not found, page without text.

    Columns: Question, Document, What, Evidence.
    """
    rows = []
    for a in evaluation.asked:
        if a.skipped:
            rows.append((a, f"skipped: {a.skipped}", ""))
            continue
        rows += [(a, "not found, not counted", named(a.references[i])) for i in a.unfound]
        rows += [(a, "a page without text", named(a.references[i])) for i in a.textless]
    return pd.DataFrame(
        [
            {"Question": a.text, "Document": a.document, "What": what, "Evidence": evidence}
            for a, what, evidence in rows
        ],
        columns=["Question", "Document", "What", "Evidence"],
    )


def named(reference: Reference) -> str:
    """A piece of evidence in a few words."""
    if reference.quote:
        return f"“{clipped(reference.quote, 160)}”"
    if reference.page is not None:
        return f"page {reference.page}"
    return f"characters {reference.start:,} to {reference.end:,}"


def pieces_counted(evaluation: Evaluation) -> int:
    """How many pieces of evidence the figures look for: those that were found in documents."""
    return sum(len(a.references) - len(a.unfound) for a in evaluation.common)


@dataclass(frozen=True, slots=True)
class Item:
    """A question in a list: ``positions`` of the references meant, and a line about them."""

    asked: Asked
    positions: tuple[int, ...]
    note: str


def lost_items(evaluation: Evaluation, mode: str, stage: str, budget: int) -> list[Item]:
    """The questions of which this stage lost a piece, in the order of the set."""
    from core.evaluate.losses import lost_questions

    found = lost_questions(evaluation, mode, budget)[stage]
    asked = {a.id: a for a in evaluation.common}
    repeated = {i: evaluation.by_mode[mode][i].repeated.get(str(budget), ()) for i in found}
    return [
        Item(asked[i], at, _lost_note(asked[i], at, set(repeated[i]))) for i, at in found.items()
    ]


def _lost_note(asked: Asked, positions: Sequence[int], repeated: set[int]) -> str:
    of = len(asked.references) - len(asked.unfound)
    said = f"{len(positions)} of {counted(of, 'piece')}"
    if twice := len(repeated & set(positions)):
        said += f", {twice} of which stand word for word in another chunk that was shown"
    return f"{said} · {asked.document}" if asked.document else said


def changed_items(evaluation: Evaluation, line: Line) -> list[Item]:
    """The questions that got worse, then those that got better, most first."""
    asked = {a.id: a for a in evaluation.common}
    rows = []
    for sign, changes in (("▼", line.worse), ("▲", line.better)):
        for c in changes:
            moved = 100 * (c.after - c.before)
            said = f"{sign} {moved:+.1f} points: {c.before:.1%} → {c.after:.1%}".replace("%", " %")
            lost = evaluation.by_mode[line.mode][c.question].lost[str(line.budget)]
            stages = sorted({s for s in lost if s})
            if stages:
                said += f" · now lost at {', '.join(s.replace('_', ' ') for s in stages)}"
            missing = tuple(i for i, s in enumerate(lost) if s)
            rows.append(Item(asked[c.question], missing or tuple(range(len(lost))), said))
    return rows


def changed_lines(comparison: Comparison) -> list[str]:
    """What else is not the same in the two runs, a line each."""
    said = []
    for name, (then, now) in comparison.changed.items():
        if name in ("documents", "encoder", "piecewise", "listwise", "context"):
            said.append(f"{name}: not the same")
        else:
            said.append(f"{name}: {then} then, {now} now")
    for what, ids in (("now", comparison.only_now), ("then", comparison.only_then)):
        if ids:
            many = counted(len(ids), "question")
            said.append(f"{many} asked {what} alone, or differently: not compared")
    return said
