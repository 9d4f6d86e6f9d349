"""An evaluation as a table: for the terminal, and as Markdown for a README."""

from __future__ import annotations

from collections.abc import Sequence

from core.evaluate.bootstrap import Figure
from core.evaluate.comparison import Comparison
from core.evaluate.records import DOCUMENT, LOSSES, Evaluation
from core.evaluate.summary import Difference, Summary
from core.settings import knobs

FEW = 8
"""How many questions a list shows before it says how many more there are."""

Rows = list[list[str]]

_RECALL = (
    "Recall: the share of evidence characters in whole chunks, best first, until the next does "
    "not fit the budget (tokens of text alone)."
)


def protocol(evaluation: Evaluation) -> list[str]:
    """What was measured, in sentences."""
    settings = evaluation.settings
    moved = [
        f"{k.name}={settings[k.name]}"
        for k in knobs()
        if settings[k.name] != k.default and k.name not in ("evidence_budget", "window_tokens")
    ]
    of = "each of its own document" if evaluation.scope == DOCUMENT else "each of all documents"
    asked = f"{len(evaluation.common)} questions, {of}"
    sizes = f"chunks of {settings['chunk_tokens']} tokens, {settings['candidate_k']} candidates"
    lines = [f"{asked}; {sizes}.", _RECALL]
    if moved:
        lines.append(f"Knobs off their default: {', '.join(moved)}.")
    if settings["relevance_threshold"] == 0 and settings["dedup_method"] == "off":
        lines.append(
            "The threshold and the removal of duplicates leave out what was found; they take "
            "part where --set names them."
        )
    return lines


def recall_rows(evaluation: Evaluation, summary: Summary) -> Rows:
    """A row a mode: recall and complete at each budget, then the time of a question."""
    budgets = [str(b) for b in evaluation.budgets]
    head = ["mode"]
    head += [f"recall at {int(b):,}" for b in budgets]
    head += [f"complete at {int(b):,}" for b in budgets]
    head += ["median", "p95"]
    rows = [head]
    for mode, f in summary.modes.items():
        rows.append(
            [
                mode,
                *(_interval(f.recall[b]) + _mark(mode, summary, int(b)) for b in budgets),
                *(_percent(f.complete[b].mean) for b in budgets),
                _time(f.latency["all"].median),
                _time(f.latency["all"].p95),
            ]
        )
    return rows


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _mark(mode: str, summary: Summary, budget: int) -> str:
    """A star on the best, and on those that chance may have put behind it."""
    return " *" if mode in summary.as_good(budget) else ""


def along_rows(evaluation: Evaluation, summary: Summary) -> Rows:
    """A row a mode: recall ahead of the rerank, in the final order, in the prompt."""
    budgets = [str(b) for b in evaluation.budgets]
    head = ["mode"]
    for what in ("first stage", "final order", "prompt"):
        head += [f"{what} at {int(b):,}" for b in budgets]
    parts = ("before", "recall", "assembled")
    return [
        head,
        *(
            [m, *(_percent(getattr(f, part)[b].mean) for part in parts for b in budgets)]
            for m, f in summary.modes.items()
        ),
    ]


def lost_rows(evaluation: Evaluation, summary: Summary, budget: int) -> Rows:
    """A row a mode: how many pieces of evidence each stage lost, and how many of them are shown
    word for word at another place. Stages that lost none are out."""
    lost = {m: f.lost[str(budget)] for m, f in summary.modes.items()}
    repeated = {m: f.repeated[str(budget)] for m, f in summary.modes.items()}
    stages = [s for s in LOSSES if any(of[s] for of in lost.values())]
    return [
        ["mode", *stages, "in all", "said elsewhere"],
        *(
            [m, *(str(n) for n in (*map(of.get, stages), sum(of.values()), repeated[m]))]
            for m, of in lost.items()
        ),
    ]


def ranked_rows(summary: Summary) -> Rows:
    """A row a mode: the measures over chunks."""
    first = next(iter(summary.modes.values()))
    return [
        ["mode", *("MRR" if name == "RR" else name for name in first.ranked)],
        *([m, *(f"{v.mean:.3f}" for v in f.ranked.values())] for m, f in summary.modes.items()),
    ]


def text(evaluation: Evaluation, summary: Summary, comparison: Comparison | None = None) -> str:
    """The whole report for a terminal."""
    return _laid_out(evaluation, summary, comparison, _plain, "")


def markdown(evaluation: Evaluation, summary: Summary, comparison: Comparison | None = None) -> str:
    """The same as Markdown."""
    return _laid_out(evaluation, summary, comparison, _markdown, "### ") + "\n"


def _laid_out(evaluation, summary, comparison, table, heading) -> str:
    largest = max(evaluation.budgets)
    out = ["\n".join(protocol(evaluation))]
    out.append(table(recall_rows(evaluation, summary)))
    out.append(
        "Recall and complete in %, each at a budget in tokens. 95 % intervals by bootstrap over questions. * the best mode, and those whose paired "
        f"difference from it is inside its interval. In all {_seconds(evaluation.seconds)}."
    )
    out.append(f"{heading}Recall along the way (%)")
    out.append(table(along_rows(evaluation, summary)))
    for budget in dict.fromkeys((min(evaluation.budgets), largest)):
        out.append(f"{heading}Pieces of evidence lost, by stage, at {budget:,} tokens")
        out.append(table(lost_rows(evaluation, summary, budget)))
    out.append(f"{heading}Measures over chunks, by ir-measures")
    out.append(table(ranked_rows(summary)))
    if said := _differences(summary):
        out.append(f"{heading}Differences in recall, in points")
        out.append(table(said))
    out.extend(_notes(evaluation, summary))
    if comparison is not None:
        out.append(f"{heading}Beside the baseline, {comparison.questions} questions")
        out.append(table(_compared(comparison)))
        out.extend(_compared_notes(comparison))
    return "\n\n".join(out)


def _differences(summary: Summary) -> Rows:
    """Each pair of modes, a column a budget. One inside its interval is shown as none."""
    by_pair: dict[tuple[str, str], list[Difference]] = {}
    for d in summary.differences:
        by_pair.setdefault((d.mode, d.against), []).append(d)
    if not by_pair:
        return []
    budgets = [d.budget for d in next(iter(by_pair.values()))]
    rows = [["mode", "against", *(f"at {b:,}" for b in budgets)]]
    for (mode, against), ds in by_pair.items():
        rows.append([mode, against, *(_points(d.figure) for d in ds)])
    return rows


def _points(f: Figure) -> str:
    if not f.differs:
        return "none"
    return f"{_signed(f.mean)} ({_signed(f.low)} to {_signed(f.high)})"


def _notes(evaluation: Evaluation, summary: Summary) -> list[str]:
    out = []
    if not evaluation.finished:
        done, of = len(evaluation.common), len(evaluation.measured)
        out.append(f"Stopped: {done} of {of} questions were asked in every mode.")
    if unfound := [a for a in evaluation.asked if a.unfound and not a.skipped]:
        pieces = sum(len(a.unfound) for a in unfound)
        ids = _some([a.id for a in unfound])
        out.append(
            f"{pieces} pieces of evidence stand nowhere in the documents: not counted ({ids})."
        )
    reasons: dict[str, list[str]] = {}
    for a in evaluation.asked:
        if a.skipped:
            reasons.setdefault(a.skipped, []).append(a.id)
    out.extend(f"Skipped, since {why}: {_some(ids)}." for why, ids in reasons.items())
    for mode, f in summary.modes.items():
        out.extend(f"{mode}, {n} questions: {why}." for why, n in f.degraded.items())
    return out


def _compared(comparison: Comparison) -> Rows:
    rows = [["mode", "budget", "difference", "better", "worse"]]
    for x in comparison.lines:
        row = [x.mode, f"{x.budget:,}", _points(x.figure)]
        rows.append([*row, str(len(x.better)), str(len(x.worse))])
    return rows


def _compared_notes(comparison: Comparison) -> list[str]:
    out = []
    for x in comparison.lines:
        for what, changes in (("better", x.better), ("worse", x.worse)):
            if changes:
                said = [f"{c.question} ({c.before:.0%} → {c.after:.0%})" for c in changes]
                out.append(f"{x.mode} at {x.budget:,}, {what}: {_some(said)}.")
    if comparison.changed:
        said = [f"{k} {_short(a)} → {_short(b)}" for k, (a, b) in comparison.changed.items()]
        out.append(f"Not the same as then: {', '.join(said)}.")
    for what, ids in (("now", comparison.only_now), ("then", comparison.only_then)):
        if ids:
            out.append(f"Asked only {what}: {_some(list(ids))}.")
    return out


def _short(value: object) -> str:
    shown = "none" if value is None else str(value)
    return shown if len(shown) <= 24 else f"{shown[:21]}..."


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - FEW
    return ", ".join(ids[:FEW]) + (f" and {more} more" if more > 0 else "")


def _percent(share: float) -> str:
    return f"{share * 100:.1f}"


def _interval(f: Figure) -> str:
    return f"{_percent(f.mean)} ({_percent(f.low)}–{_percent(f.high)})"


def _signed(share: float) -> str:
    return f"{share * 100:+.1f}".replace("-", "−")


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


def _plain(rows: Rows) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if at == 0 else cell.rjust(w)
            for at, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _markdown(rows: Rows) -> str:
    head, *body = ([c.replace("|", "\\|").replace("*", "\\*") for c in row] for row in rows)
    line = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, line, *body))
