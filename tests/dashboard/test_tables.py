"""Tables: every number and word in them is the trace's."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.fates import fates
from core.records import chunk_id
from core.settings import STAGES
from core.trace import DROPPED, CorpusScores
from dashboard import tables
from dashboard.lookup import STAGE_TITLES, Lookup
from dashboard.palette import FATES
from tests import worlds
from tests.dashboard import traces


def test_stage_table_has_a_row_for_each_chunk_that_a_stage_named():
    trace = traces.small()
    table = tables.stage_table(trace, limit=None)
    assert sorted(table.index) == sorted(c.id for c in trace.chunks)
    assert table.index.is_unique
    assert list(table.columns) == [
        c
        for group in tables.COLUMN_GROUPS.values()
        for c in group
        if c not in ("Expected", "List score", "List rank")  # those are an import's
    ]
    assert set(tables.COLUMN_HELP) == {c for g in tables.COLUMN_GROUPS.values() for c in g}


def test_stage_table_says_what_the_stages_said():
    trace = traces.small()
    table, lookup, ends = tables.stage_table(trace, limit=None), Lookup(trace), fates(trace)
    for chunk, row in table.iterrows():
        for stage, title in (("rerank_1", "Rerank 1"), ("rerank_2", "Rerank 2")):
            entry = lookup.entries[stage].get(chunk)
            assert pd.isna(row[f"{title} rank"]) == (entry is None)
            if entry:
                assert row[f"{title} score"] == entry.score
                assert row[f"{title} rank"] == entry.rank
        at = lookup.row(chunk)
        assert row["BM25 score"] == pytest.approx(float(lookup.scores("bm25")[at]))
        assert pd.isna(row["BM25 rank"]) == (row["BM25 score"] == 0)
        assert row["Dense score"] == pytest.approx(float(lookup.scores("dense")[at]))
        info = lookup.chunks[chunk]
        assert (row["Chunk"], row["Tokens"]) == (info.ordinal + 1, info.tokens)
        assert row["Fate"] == FATES[ends[chunk].stage].text
        assert row["First words"].rstrip("…") in " ".join(info.text.split())
    for entry in trace.stage("first_stage").entries:
        assert table.loc[entry.chunk_id, "Fused rank"] == entry.rank


def test_stage_table_is_in_the_final_order():
    trace = traces.small()
    table = tables.stage_table(trace, limit=None)
    chosen = [p.chunk_id for p in trace.selected]
    assert list(table.index[: len(chosen)]) == chosen
    assert list(table["Prompt number"].dropna()) == [p.number for p in trace.selected]
    ends = fates(trace)
    reached = [STAGES.index(ends[c].stage) for c in table.index[len(chosen) :]]
    assert reached == sorted(reached, reverse=True)


def test_stage_table_keeps_expected_evidence_within_its_limit():
    trace = traces.small()
    everything = list(tables.stage_table(trace, limit=None, include="all").index)
    assert len(everything) == sum(d.chunks for d in trace.documents)
    evidence = [everything[-1], everything[2], "feedfeedfeedfeed:000000"]
    table = tables.stage_table(trace, limit=10, evidence=evidence)
    assert len(table) == 10
    assert list(table.index[table["Expected"]]) == [everything[2], everything[-1]]
    last = table.loc[everything[-1]]
    assert last["Fate"] == FATES["first_stage"].text
    assert "the best 18 went on" in last["Reason"]


def test_stage_table_leaves_out_stages_that_did_not_run():
    columns = set(tables.stage_table(traces.small("no_rerank")).columns)
    assert not columns & {"Rerank 1 score", "Rerank 2 score", "Window", "Relevance"}
    columns = set(tables.stage_table(traces.small("full_document")).columns)
    assert not columns & {"BM25 score", "Dense score", "Fused score"}


def test_a_degraded_stage_gives_no_scores():
    table = tables.stage_table(traces.degraded())
    assert table["Rerank 1 score"].isna().all()
    assert table["Rerank 1 rank"].isna().all()
    summary = tables.stage_summary(traces.degraded()).set_index("Stage")
    assert summary.loc["Rerank 1", "Ran"] == "degraded"
    assert "no context reranker is loaded" in summary.loc["Rerank 1", "Warnings"]


def test_an_unknown_choice_of_chunks_is_an_error():
    with pytest.raises(ValueError, match="neither 'touched' nor 'all'"):
        tables.stage_table(traces.small(), include="some")


@pytest.mark.parametrize("mode", sorted(traces.MODES))
def test_a_journey_ends_where_the_fate_says(mode):
    trace = traces.small(mode)
    ends = fates(trace)
    for chunk, end in ends.items():
        table = tables.journey_table(trace, chunk)
        assert list(table.columns) == list(tables.chunk.JOURNEY)
        last = table.iloc[-1]
        if end.arrived:
            number = next(p.number for p in trace.selected if p.chunk_id == chunk)
            assert last["What happened"] == f"In the prompt as [{number}]."
        else:
            assert last["Stage"] == STAGE_TITLES[end.stage]
            assert last["What happened"].startswith("Lost: ")
            assert pd.isna(last["Rank out"])
        inside = table.iloc[1:]
        for before, after in zip(inside["Rank out"], inside["Rank in"].iloc[1:], strict=False):
            assert pd.isna(before) == pd.isna(after) and (pd.isna(before) or before == after)
        assert not table["What happened"].str.contains(r"[0-9a-f]{16}:\d{6}").any()


def test_the_journey_of_a_chunk_that_nothing_touched():
    trace = traces.small(candidate_k=3, max_radius=0)
    touched = {c.id for c in trace.chunks}
    chunk = next(
        c for d in trace.documents for o in range(d.chunks) if (c := chunk_id(d.id, o)) not in touched
    )  # fmt: skip
    table = tables.journey_table(trace, chunk)
    assert table["What happened"].iloc[1].startswith("Ranked ")
    assert "the best 3 went on" in table["What happened"].iloc[1]
    assert table["What happened"].iloc[-1] == "No window reached it."
    assert tables.journey_table(trace, "feedfeedfeedfeed:000000").empty


def test_components_are_every_score_with_its_meaning():
    trace = traces.small()
    lookup = Lookup(trace)
    chunk = trace.selected[0].chunk_id
    table = tables.component_table(trace, chunk)
    second = table[table["Stage"] == "Rerank 2"].set_index("Score")["Value"]
    scores = lookup.entries["rerank_2"][chunk].scores
    assert second["MaxSim"] == scores["rerank_2_maxsim"]
    assert second["Score"] == scores["rerank_2"]
    assert len(second) == len(scores) + 1
    assert second["Relevance"] == lookup.entries["rerank_2"][chunk].relevance
    assert (table["Meaning"] != "").all()
    assert tables.component_table(trace, "feedfeedfeedfeed:000000").empty


def test_sparse_scores_are_components_where_an_encoder_gave_them():
    plain = traces.small()
    chunk = plain.selected[0].chunk_id
    assert "Sparse" not in set(tables.component_table(plain, chunk)["Score"])
    sparse = np.linspace(0, 1, len(plain.corpus_scores.array("fused")))
    held = replace(plain.corpus_scores, sparse=CorpusScores.pack(sparse))
    made = replace(plain, corpus_scores=held)
    table = tables.component_table(made, chunk).set_index("Score")
    row = Lookup(made).row(chunk)
    assert table.loc["Sparse", "Value"] == pytest.approx(sparse[row])
    assert f"rank {len(sparse) - row} of" in table.loc["Sparse", "Meaning"]
    assert Lookup(made).corpus_ranks("sparse")[0] == 0  # no token in common, no rank


def test_the_ledger_sums_to_the_window():
    for trace in traces.every_mode().values():
        table = tables.ledger_table(trace).set_index("Part")
        assert table["Tokens"].iloc[:-1].sum() == table.loc["Model window", "Tokens"]
        assert table.loc["Evidence", "Tokens"] == trace.ledger.evidence
        assert math.isclose(table["Share"].iloc[:-1].sum(), 1)


def test_stage_summary_balances():
    for trace in traces.every_mode().values():
        table = tables.stage_summary(trace)
        assert list(table["Stage"]) == [STAGE_TITLES[s.name] for s in trace.stages]
        assert (table["In"] + table["Added"] - table["Dropped"] == table["Out"]).all()
        ran = dict(zip(table["Stage"], table["Ran"], strict=True))
        for record in trace.stages:
            assert (ran[STAGE_TITLES[record.name]] == "not in this mode") == (not record.ran)


def test_selected_table_is_the_prompt():
    trace = traces.small()
    table = tables.selected_table(trace)
    assert list(table.index) == [p.chunk_id for p in trace.selected]
    assert list(table["Tokens"]) == [p.tokens for p in trace.selected]
    assert sorted(table["Rank"]) == list(range(1, len(table) + 1))
    best = table["Rank"].idxmin()
    assert best == trace.stage("budget").kept[0]


def test_compare_table_has_ranks_and_fates():
    modes = traces.every_mode()
    table = tables.compare_table(modes)
    assert set(table.index) == {p.chunk_id for t in modes.values() for p in t.selected}
    for mode, trace in modes.items():
        ranks = Lookup(trace).passage_ranks
        for chunk, value in table[mode].items():
            if chunk in ranks:
                assert value == str(ranks[chunk])
            else:
                assert value in {look.text for look in FATES.values()}
    assert list(table["In prompts"]) == sorted(table["In prompts"], reverse=True)


def test_mode_table_counts_what_each_mode_has_alone():
    modes = traces.every_mode()
    evidence = [modes["no_rerank"].selected[0].chunk_id]
    table = tables.mode_table(modes, evidence=evidence)
    assert list(table.index) == list(modes)
    for mode, trace in modes.items():
        own = {p.chunk_id for p in trace.selected}
        others = {p.chunk_id for k, t in modes.items() if k != mode for p in t.selected}
        assert table.loc[mode, "Only here"] == len(own - others)
        assert table.loc[mode, "Expected found"] == len(own & set(evidence))
    assert "Expected" not in tables.mode_table(modes)


@given(st.data())
@settings(max_examples=12)
def test_tables_of_any_trace_agree_with_its_fates(data):
    knobs = data.draw(worlds.settings())
    index = worlds.index(data.draw(worlds.documents()), knobs)
    trace = worlds.pipeline().run(
        index, data.draw(worlds.questions), knobs, data.draw(worlds.modes)
    )
    table = tables.stage_table(trace, limit=None)
    ends = fates(trace)
    assert set(table.index) == set(ends)
    lost = {e.chunk_id for s in trace.stages for e in s.entries if e.fate == DROPPED}
    assert set(table.index[table["Prompt number"].isna()]) == lost
    for chunk in table.index[:5]:
        assert len(tables.journey_table(trace, chunk)) >= 2
        tables.component_table(trace, chunk)
    tables.compare_table({trace.mode: trace})
    tables.mode_table({trace.mode: trace})
    tables.selected_table(trace)
    tables.ledger_table(trace)
