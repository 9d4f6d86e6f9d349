"""A sweep as columns, rows, a figure and a table: what they show is what the runs gave."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from core.fates import PROMPT, fates
from core.settings import Settings
from core.sweep import Sweep, sweep, sweep2
from dashboard import figures, sweeps, tables
from dashboard.chunks import Shown
from dashboard.figures.sweep import ticks
from dashboard.lookup import pages_in_words
from dashboard.palette import FATES, fate_look
from dashboard.views.tune import place_names
from tests.dashboard import traces

MODE = "rerank_extend_rerank"


@cache
def swept(knob: str = "evidence_budget") -> Sweep:
    args = traces._index(), traces.QUESTION, Settings(**traces.KNOBS), MODE, knob
    return sweep(traces._pipeline(), *args)


def drawn(knob: str = "evidence_budget", evidence: tuple[str, ...] = (), **more):
    found = swept(knob)
    rows = sweeps.rows(found, found.current, evidence)
    columns = sweeps.columns(found, rows.chunks)
    now = sweeps.column_at(columns, found.current)
    return found, rows, columns, figures.sweep_map(
        found, columns, rows.chunks, now, shown(rows.chunks), evidence=evidence, **more
    )  # fmt: skip


def shown(ids) -> dict[str, Shown]:
    index = traces._index()
    out = {}
    for c in ids:
        chunk, document = index.chunk(c), index.document(c.rpartition(":")[0])
        out[c] = Shown(c, document.id, document.name, chunk.ordinal, 9, chunk.tokens, chunk.text)
    return out


def named(figure, name: str):
    return next(t for t in figure.data if t.name == name)


@pytest.mark.parametrize("knob", ["evidence_budget", "candidate_k", "diversity", "mode"])
def test_each_cell_has_the_fate_that_a_run_at_its_value_gives(knob: str) -> None:
    _, rows, columns, figure = drawn(knob)
    stages = [s for s in FATES if s in {c.setting.fate(r) for c in columns for r in rows.chunks}]
    z = named(figure, "fates").z
    for j, column in list(enumerate(columns))[:: max(1, len(columns) // 5)]:
        for value in {column.first, column.last}:
            moved = {} if knob == "mode" else {knob: value}
            trace = traces._pipeline().run(
                traces._index(),
                traces.QUESTION,
                Settings(**(traces.KNOBS | moved)),
                value if knob == "mode" else MODE,
            )
            ends = fates(trace)
            for i, row in enumerate(rows.chunks):
                stage = ends[row].stage if row in ends else "first_stage"
                assert stages[int(z[i][j])] == stage
            tokens = named(figure, "evidence tokens").y
            assert tokens[j] == trace.ledger.evidence
    assert len(named(figure, "cells").customdata) == len(columns) * len(rows.chunks)


def test_columns_meet_and_differ_and_begin_at_the_changes() -> None:
    found, rows, columns, _ = drawn()
    values = [s.value for s in found.settings]
    assert columns[0].first == values[0] and columns[-1].last == values[-1]
    changes = {c.value for c in found.changes}
    for a, b in pairwise(columns):
        assert a.last < b.first
        assert values.index(b.first) == values.index(a.last) + 1
        one, other = a.setting, b.setting
        moved = [c for c in rows.chunks if one.fate(c) != other.fate(c)]
        assert moved or one.tokens != other.tokens or one.outcome != other.outcome
        assert not moved or b.first in changes


def test_a_value_stands_in_its_column_and_a_click_moves_the_knob_least() -> None:
    _, _, columns, _ = drawn()
    for i, column in enumerate(columns):
        assert sweeps.column_at(columns, column.first) == i
        assert sweeps.column_at(columns, column.last) == i
        assert column.nearest(column.first - 1) == column.first
        assert column.nearest(column.last + 1) == column.last
    choices = drawn("diversity")[2]
    assert [c.first for c in choices] == ["off", "mmr", "sections", "source_cap"]
    assert choices[1].nearest("off") == "mmr"


def test_rows_hold_all_that_arrive_at_some_values_and_count_the_rest() -> None:
    found = swept()
    corpus = len(traces._index().chunks)
    steady = next(
        c for c in found.chunk_ids if not any(s.fate(c) == PROMPT for s in found.settings)
    )
    rows = sweeps.rows(found, found.current, (steady,), corpus, most=10_000)
    moving = {c for c in found.chunk_ids if 0 < sum(s.fate(c) == PROMPT for s in found.settings) < len(found.settings)}  # fmt: skip
    assert {steady, *moving} <= set(rows.chunks)
    assert rows.crowded == 0
    told = len(rows.chunks) + rows.crowded + rows.elsewhere + rows.steady + rows.never
    assert told == corpus
    few = sweeps.rows(found, found.current, (steady,), corpus, most=3)
    assert len(few.chunks) == 3 and steady in few.chunks and few.crowded > 0
    assert f"{few.crowded:,} more that arrive" in few.sentence
    share = [sum(s.fate(c) == PROMPT for s in found.settings) for c in rows.chunks]
    assert share == sorted(share, reverse=True)


def test_the_present_value_and_the_evidence_are_framed() -> None:
    found = swept()
    chunk = found.chunk_ids[0]
    _, rows, columns, figure = drawn(evidence=(chunk,), value="160", selected=chunk)
    now = sweeps.column_at(columns, found.current)
    assert set(named(figure, "the value now").x) == {now - 0.5, now + 0.5}
    at = rows.chunks.index(chunk)
    assert {y for y in named(figure, "expected evidence").y if y is not None} == {
        at - 0.5,
        at + 0.5,
    }
    assert "160" in figure.layout.annotations[0].text
    arrive = named(figure, "expected chunks that arrive").y
    assert list(arrive[:-1]) == [sweeps.arrived(c.setting, (chunk,)) for c in columns]
    assert max(arrive) == 1


def test_every_fate_has_its_glyph_and_an_entry_in_the_legend() -> None:
    _, rows, columns, figure = drawn()
    stages = {c.setting.fate(r) for c in columns for r in rows.chunks}
    html = figures.legend_html(figure)
    for stage in stages:
        assert fate_look(stage).label in html
    for i, _row in enumerate(rows.chunks):
        begun = sum(
            i in (t.y or ())
            for t in figure.data
            if t.type == "scatter" and t.mode == "markers" and not t.showlegend
        )
        assert begun >= 1  # each row says in a glyph how it begins


def test_the_table_says_what_comes_in_and_falls_out() -> None:
    found, _, columns, _ = drawn()
    names = {c: c for c in found.chunk_ids}
    table = tables.changes_table("evidence_budget", columns, names, found.chunk_ids[:2])
    assert list(table["Evidence tokens"]) == [c.setting.tokens for c in columns]
    for i in range(1, len(columns)):
        one, other = columns[i - 1].setting, columns[i].setting
        gained = {c for c in found.chunk_ids if one.fate(c) != PROMPT == other.fate(c)}
        if len(gained) <= 3:
            assert all(c in table["Comes in"].iloc[i] for c in gained)
        assert bool(table["Comes in"].iloc[i]) == bool(gained)
    assert table["Expected found"].iloc[0].endswith("of 2")


def test_values_of_a_choice_are_told_against_the_one_now() -> None:
    found, _, columns, figure = drawn("mode")
    now = sweeps.column_at(columns, found.current)
    table = tables.changes_table("mode", columns, {}, against=now)
    assert not table["Comes in"].iloc[now] and not table["Falls out"].iloc[now]
    for i, column in enumerate(columns):
        gained = {
            c
            for c in found.chunk_ids
            if columns[now].setting.fate(c) != PROMPT == column.setting.fate(c)
        }
        assert bool(table["Comes in"].iloc[i]) == bool(gained)
    assert figure.layout.xaxis.ticktext[0] == "Basic"


def test_two_knobs_are_counted_cell_by_cell() -> None:
    args = traces._index(), traces.QUESTION, Settings(**traces.KNOBS), MODE
    pair = ("evidence_budget", "protect_exceptions")
    found = sweep2(traces._pipeline(), *args, pair, size=4)
    chunk = found.cells[-1][0].fates
    evidence = [c for c, s in chunk.items() if s == PROMPT][:2]
    tokens = sweeps.measured(found, "tokens")
    assert tokens == [[cell.tokens for cell in row] for row in found.cells]
    assert sweeps.measured(found, "evidence", evidence)[-1][0] == 2
    assert sweeps.measured(found, "passages")[0] == [0, 0]  # a budget of nothing
    now = (traces.KNOBS["evidence_budget"], False)
    figure = figures.knob_map(found, tokens, now, titles=("Budget", "Protect"), unit="tokens")
    assert [list(row) for row in figure.data[0].z] == tokens
    assert len(named(figure, "cells").customdata) == len(found.down) * 2
    frame = named(figure, "the values now, or the nearest below")
    at = max(i for i, v in enumerate(found.down) if v <= traces.KNOBS["evidence_budget"])
    assert set(frame.y) == {at - 0.5, at + 0.5} and set(frame.x) == {-0.5, 0.5}
    with pytest.raises(KeyError):
        sweeps.measured(found, "luck")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_names_and_text_of_documents_stay_text(theme: str) -> None:
    found = swept()
    hostile = next(c.id for c in traces._index().chunks if "<img" in c.text)
    _, _, _, figure = drawn(evidence=(hostile,), theme=theme)
    told = [*named(figure, "cells").hovertext, *figure.layout.yaxis.ticktext]
    assert any("&lt;img" in t for t in told)
    assert not any("<img" in t or "<a " in t for t in told)
    assert found


def test_rows_of_one_document_are_told_by_their_place_alone() -> None:
    found = swept()
    columns = sweeps.columns(found, sweeps.rows(found, found.current).chunks)
    by_document: dict[str, dict[str, Shown]] = {}
    for c, one in shown([c.id for c in traces._index().chunks]).items():
        by_document.setdefault(one.document_id, {})[c] = replace(one, pages=(4, 5))
    one, other = list(by_document.values())[:2]

    def labels(chunks: dict[str, Shown]) -> list[str]:
        rows = list(chunks)
        return list(figures.sweep_map(found, columns, rows, 0, chunks).layout.yaxis.ticktext)

    assert labels(one) == [f"chunk {c.ordinal + 1}, pages 4 to 5" for c in one.values()]
    mixed = labels(one | other)
    assert not any(label.startswith("chunk ") for label in mixed)
    assert len(set(mixed)) == len(one | other)


def test_changes_name_the_place_ahead_of_the_document() -> None:
    index = traces._index()
    ids = [c.id for c in index.chunks]
    first = [c for c in ids if c.rpartition(":")[0] == ids[0].rpartition(":")[0]]
    assert set(place_names(index, first).values()) == {
        f"chunk {n + 1}" + page(index.chunk(c).pages) for n, c in enumerate(first)
    }
    names = place_names(index, [*ids, "no-such:0"])
    assert len(set(names.values())) == len(ids) == len(names)
    for c, name in names.items():
        document = index.document(c.rpartition(":")[0]).name
        assert name.startswith("chunk ") and name.endswith(f" of {document}")


def page(pages: tuple[int, int] | None) -> str:
    words = pages_in_words(tuple(pages or ()))
    return f", {words}" if words else ""


@given(st.integers(1, 400), st.data())
@examples(max_examples=60)
def test_few_values_are_written_and_the_present_one_always(columns: int, data) -> None:
    now = data.draw(st.integers(0, columns - 1))
    at = ticks(columns, now)
    assert now in at and len(at) <= 16
    assert at == sorted(set(at)) and 0 <= at[0] and at[-1] < columns
