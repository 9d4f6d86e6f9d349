"""Figures and tables of an evaluation say what it holds; its inputs decide what is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from core.evaluate import Evaluation, compare, evaluate, summarise
from core.evaluate.records import LOSSES as STAGES
from core.modes import MODES as EVERY
from core.questions import Question, Reference, load_questions, refer
from core.settings import Settings
from dashboard import evaluation, figures, tables
from dashboard.evaluation import Inputs, Runs, measured, worth_workers
from dashboard.figures.dots import bounds
from dashboard.figures.legend import legend_html, legend_keys
from dashboard.figures.recall import BELOW, BEST, BETTER, COMPLETE, SAME, WORSE
from dashboard.models import ModelChoice
from dashboard.palette import LOSSES, THEMES, contrast
from dashboard.question_sets import adding, edited, pieces_of, read
from dashboard.views import question_set
from dashboard.views.evaluate import parsed_budgets
from dashboard.views.expected import stretch
from dashboard.views.measured import headline
from tests.evaluate.sets import MODES, NOTES, QUESTIONS, RULES, SMALL, asked, corpus, pipeline
from tests.evaluate.test_comparison import made as of_shares

BUDGETS = (20, 40)
ODD = Question("odd", "Which?", "rules.md", (Reference(quote="nowhere <b>"), Reference(start=0, end=9)))  # fmt: skip


@cache
def small(candidate_k: int = 1) -> Evaluation:
    """One candidate: some evidence is lost at the first stage, some to the budget."""
    extra = (ODD, Question("none", "Is it?"))
    return evaluate(
        pipeline(), corpus(), (*QUESTIONS, *extra), MODES, SMALL.changed(candidate_k=candidate_k), BUDGETS
    )  # fmt: skip


def apart() -> Evaluation:
    """Two modes that differ beyond chance."""
    return of_shares([1.0, 0.9] * 10, modes=MODES, less=0.3)


# the chart of recall


def marks(figure) -> dict[str, list[tuple[str, float]]]:
    """Kind of dot → (mode, mean)."""
    out: dict[str, list] = {}
    for t in figure.data:
        if t.mode == "markers":
            out.setdefault(t.name, []).extend(zip(t.customdata, t.x, strict=True))
    return out


def test_each_dot_stands_at_its_mean_with_its_interval() -> None:
    made = small()
    summary = summarise(made)
    figure = figures.recall_chart(summary, made.budgets)
    found = marks(figure)
    for b in made.budgets:
        for m, f in summary.modes.items():
            assert (m, f.recall[str(b)].mean) in found.get(BEST, []) + found.get(BELOW, [])
            assert (m, f.complete[str(b)].mean) in found[COMPLETE]
    ends = {x for t in figure.data if t.mode == "lines" for x in t.x if x is not None}
    for f in summary.modes.values():
        for b in made.budgets:
            assert {f.recall[str(b)].low, f.recall[str(b)].high} <= ends
    for t in figure.data:
        axis = figure.layout["xaxis" + (t.xaxis or "x")[1:]]
        assert all(axis.range[0] <= x <= axis.range[1] for x in t.x if x is not None)


def test_a_difference_inside_its_interval_is_drawn_as_none() -> None:
    made = small()
    summary = summarise(made)
    same = [m for m in summary.modes for b in made.budgets if m in summary.as_good(b)]
    assert sorted(m for m, _ in marks(figures.recall_chart(summary, made.budgets))[BEST]) == sorted(same)  # fmt: skip
    summary = summarise(apart())
    found = marks(figures.recall_chart(summary, apart().budgets))
    best = summary.best(apart().budgets[0])
    assert {m for m, _ in found[BEST]} == {best}
    assert {m for m, _ in found[BELOW]} == set(MODES) - {best}
    assert "more than every other mode" in headline(summary, apart().budgets[0])


@pytest.mark.parametrize("theme", THEMES)
def test_every_mark_has_a_name(theme: str) -> None:
    made = small()
    summary = summarise(made)
    for figure in (
        figures.recall_chart(summary, made.budgets, theme=theme),
        figures.loss_bars(summary, 20, tables.pieces_counted(made), theme=theme),
        figures.change_chart(compare(made, small(9)), theme=theme),
    ):
        shown = {t.name for t in figure.data if t.type == "bar" or t.mode == "markers"}
        assert {k.name for k in legend_keys(figure)} == shown
        assert legend_html(figure)


def test_losses_look_different_and_can_be_seen() -> None:
    assert tuple(LOSSES) == STAGES
    for name, colours in THEMES.items():
        shades = [look.colour(name) for look in LOSSES.values()]
        assert len(set(shades)) == len(STAGES)
        assert all(contrast(s, colours.background) >= 4.5 for s in shades)
    assert len({look.glyph for look in LOSSES.values()}) == len(STAGES)


@pytest.mark.parametrize(
    ("values", "expected"), [([0.41, 0.97], (0.4, 1.0)), ([1.0], (0.9, 1.0)), ([0.0], (0.0, 0.1))]
)
def test_the_axis_holds_the_values_in_whole_steps(values, expected) -> None:
    low, high = bounds(values, 0.1, 0.0, 1.0)
    assert low <= min(values) and max(values) <= high
    assert (low, high) == pytest.approx((expected[0], expected[1]), abs=0.11)


# losses


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_bar_holds_every_lost_piece_and_each_segment_its_questions(budget: int) -> None:
    made = small()
    summary = summarise(made)
    figure = figures.loss_bars(summary, budget, tables.pieces_counted(made), chosen=(MODES[0], ""))
    drawn = {key: n for t in figure.data for key, n in zip(t.customdata, t.x, strict=True)}
    assert drawn
    for mode, f in summary.modes.items():
        for stage, n in f.lost[str(budget)].items():
            assert drawn.get(f"{mode}|{stage}", 0) == n
            items = tables.lost_items(made, mode, stage, budget)
            assert sum(len(i.positions) for i in items) == n
            for i in items:
                row = made.by_mode[mode][i.asked.id]
                assert all(row.lost[str(budget)][at] == stage for at in i.positions)
    # Segments of one bar stand end to end.
    for mode in MODES:
        own = sorted(
            (base, base + n)
            for t in figure.data
            for key, base, n in zip(t.customdata, t.base, t.x, strict=True)
            if key.startswith(mode)
        )
        at = 0
        for low, high in own:
            assert low == at
            at = high


def test_quotes_that_are_nowhere_are_reported_and_not_counted() -> None:
    made = small()
    frame = tables.unmeasured_table(made)
    assert list(frame["What"]) == ["not found, not counted", "skipped: it names no evidence"]
    assert "nowhere <b>" in frame["Evidence"][0]
    pieces = sum(len(q.references) for q in QUESTIONS) + 1
    assert tables.pieces_counted(made) == pieces


# tables


def test_the_table_holds_the_summary_in_percent_and_milliseconds() -> None:
    made = small()
    summary = summarise(made)
    frame = tables.recall_table(summary, 20)
    for mode, f in summary.modes.items():
        row = frame.loc[mode]
        assert row["Recall"] == pytest.approx(100 * f.recall["20"].mean)
        assert row["Before"] == pytest.approx(100 * f.before["20"].mean)
        assert row["p95"] == pytest.approx(1_000 * f.latency["all"].p95)
        assert row["Mode"].startswith("●") == (mode in summary.as_good(20))
    stages = tables.latency_table(summary)
    assert stages.loc["no_rerank", "Rerank 1"] == ""
    assert "/" in stages.loc["rerank_extend_rerank", "Rerank 1"]


def test_beside_an_earlier_run_the_questions_that_moved() -> None:
    now, then = small(9), small()
    comparison = compare(now, then)
    assert any("candidate_k: 1 then, 9 now" == s for s in tables.changed_lines(comparison))
    for line in comparison.lines:
        items = tables.changed_items(now, line)
        assert [i.asked.id for i in items] == [c.question for c in (*line.worse, *line.better)]
        assert all(("▼" in i.note) == (at < len(line.worse)) for at, i in enumerate(items))
    found = marks(figures.change_chart(comparison))
    means = {f"{x.mode}|{x.budget}": x.figure.mean for x in comparison.lines}
    assert {k: v for dots in found.values() for k, v in dots} == means


def test_a_change_is_better_or_worse_only_beyond_chance() -> None:
    good = of_shares([1.0] * 20)
    bad = of_shares([0.5] * 20)
    assert set(marks(figures.change_chart(compare(good, bad)))) == {BETTER}
    assert set(marks(figures.change_chart(compare(bad, good)))) == {WORSE}
    assert set(marks(figures.change_chart(compare(good, good)))) == {SAME}


# inputs and what is kept


def inputs(**more) -> Inputs:
    given = {
        "questions": QUESTIONS, "modes": MODES, "budgets": BUDGETS, "scope": "corpus",
        "settings": measured(SMALL, False), "principal": None, "documents": "d",
    }  # fmt: skip
    return Inputs(**(given | more))


@pytest.mark.parametrize(
    "other",
    [
        {"questions": QUESTIONS[1:]}, {"modes": MODES[:1]}, {"budgets": (20,)},
        {"scope": "document"}, {"settings": measured(SMALL.changed(candidate_k=2), False)},
        {"documents": "e"}, {"models": ModelChoice("bge")}, {"questions": (replace(QUESTIONS[0], text="?"), *QUESTIONS[1:])},
    ],
)  # fmt: skip
def test_other_inputs_are_another_run(other) -> None:
    assert inputs(**other).key != inputs().key
    assert inputs().key == inputs().key


def test_the_two_knobs_are_set_aside_unless_included() -> None:
    turned = Settings(relevance_threshold=0.4, evidence_budget=500, candidate_k=9)
    aside, within = measured(turned, False), measured(turned, True)
    assert (aside.relevance_threshold, aside.dedup_method) == (0.0, "off")
    assert (within.relevance_threshold, within.dedup_method) == (0.4, Settings().dedup_method)
    assert aside.candidate_k == within.candidate_k == 9
    # The budgets take the place of the sidebar's, so that its own decides nothing.
    assert aside == measured(turned.changed(evidence_budget=900), False)


def test_a_stopped_run_goes_on_and_another_mode_takes_over_what_was_measured() -> None:
    whole, held = small(), Runs()
    part = replace(whole, rows=whole.rows[:4])
    held.put(inputs(), part)
    assert held.get(inputs()) is part
    assert held.nearest(inputs(), dict(whole.models)) is part
    assert held.nearest(inputs(modes=MODES[:1]), dict(whole.models)) is part
    assert held.nearest(inputs(budgets=(20,)), dict(whole.models)) is None
    assert held.nearest(inputs(), {"encoder": "another"}) is None
    assert held.nearest(inputs(modes=tuple(EVERY)[-1:]), dict(whole.models)) is None
    for n in range(evaluation.KEPT):
        held.put(inputs(documents=str(n)), whole)
    assert held.get(inputs()) is None


def test_processes_only_for_a_long_set() -> None:
    assert worth_workers(19) == 0
    assert worth_workers(10_000) >= 1


# question sets


def test_a_file_is_read_line_by_line() -> None:
    good = json.dumps({"id": "a", "question": "Why?", "references": [{"quote": "so"}]})
    found = read("set.jsonl", f"{good}\n{{\n{good}\n".encode())
    assert [q.id for q in found.questions] == ["a"]
    assert "line 2" in found.problems[0] and "two questions" in found.problems[1]
    assert "UTF-8" in read("set.jsonl", b"\xff\xfe\xff").problems[0]
    assert "no questions" in read("set.jsonl", b"\n").problems[0]


def test_what_is_marked_joins_its_question_and_can_be_downloaded(tmp_path) -> None:
    spots = [refer(RULES, 0, 10), refer(RULES, 20, 30)]
    held = adding((), "Why?", RULES.name, spots[0])
    held = adding(held, "Why?", RULES.name, spots[1])
    assert adding(held, "Why?", RULES.name, spots[1]) == held
    held = adding(held, "Why?", NOTES.name, refer(NOTES, 0, 5))
    assert [len(q.references) for q in held] == [2, 1]
    assert len({q.id for q in held}) == 2
    assert pieces_of(held, "Why?", RULES.name) == 2
    held = adding(edited(held, {0: " How? ", 1: " "}, {1}), "Why?", NOTES.name, spots[0])
    assert [q.text for q in held] == ["How?", "Why?"]
    path = tmp_path / "questions.jsonl"
    path.write_text(question_set.questions_jsonl(held), encoding="utf-8")
    assert load_questions(path) == held
    assert question_set.evidence_texts(held[0], (RULES, NOTES)) == [RULES.text[:10], RULES.text[20:30]]  # fmt: skip


def test_a_part_of_a_chunk_is_found_however_it_was_pasted() -> None:
    text = "The fee is due. Later: the  fee\nis due. The end."
    assert stretch(text, "The FEE is due", 0, 15) == (0, 14)
    assert stretch(text, "the fee is due", 20, 40) == (23, 38)
    assert stretch(text, "the end", 0, 15) == (40, 47)
    assert stretch(text, "the deposit is due", 0, 15) is None


def test_budgets_are_numbers_of_tokens() -> None:
    assert parsed_budgets(["5,000", "1000", "0", "many", "1_000", "9" * 9]) == (
        (1_000, 5_000),
        ["0", "many", "9" * 9],
    )


def test_one_mode_is_not_compared_with_others() -> None:
    made = evaluate(pipeline(), corpus(), [asked("q", "Fee?", RULES, "annual fee")], MODES[:1], SMALL, (20,))  # fmt: skip
    assert headline(summarise(made), 20).endswith("within 20 tokens.")
