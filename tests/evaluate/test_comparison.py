"""Beside a baseline: what got better, what worse, and what chance explains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import EvaluationError
from core.evaluate import Evaluation, compare
from core.evaluate.gate import parse_gate
from core.evaluate.records import Asked, Row
from core.evaluate.summary import summarise


def made(shares, modes=("no_rerank",), less=0.0, **more) -> Evaluation:
    """An evaluation at 100 tokens in which question i has recall ``shares[i]``; each further
    mode has ``less`` than the one before it."""

    def row(i, share, mode):
        by = {"100": share - less * modes.index(mode)}
        return Row(f"q{i}", mode, by, by, by, {"100": ()}, {}, (1,), 2, {"100": 9})

    base = Evaluation(
        modes=modes,
        budgets=(100,),
        scope="corpus",
        settings={"candidate_k": 50},
        corpus="c",
        models={"encoder": "e"},
        asked=tuple(Asked(f"q{i}", f"Why {i}?") for i in range(len(shares))),
        rows=tuple(row(i, s, m) for i, s in enumerate(shares) for m in modes),
    )
    return replace(base, **more)


def test_question_by_question():
    then, now = made([1.0, 0.5, 0.5, 0.2]), made([1.0, 0.9, 0.1, 0.3])
    (line,) = compare(now, then).lines
    assert [(c.question, c.before, c.after) for c in line.better] == [
        ("q1", 0.5, 0.9),
        ("q3", 0.2, 0.3),
    ]
    assert [(c.question, c.before, c.after) for c in line.worse] == [("q2", 0.5, 0.1)]
    assert line.figure.mean == pytest.approx(0.1 / 4) and not line.is_worse


def test_beside_itself_nothing_moved():
    e = made([0.3, 0.7, 1.0])
    (line,) = compare(e, e).lines
    assert not line.better and not line.worse
    assert (line.figure.low, line.figure.mean, line.figure.high) == (0, 0, 0)
    assert not compare(e, e).is_worse and not compare(e, e).changed


def test_worse_is_what_chance_does_not_explain():
    then = made([1.0] * 60)
    assert not compare(made([1.0] * 59 + [0.0]), then).is_worse, "one of sixty may be chance"
    assert compare(made([1.0] * 40 + [0.5] * 20), then).is_worse
    assert not compare(then, made([1.0] * 40 + [0.5] * 20)).is_worse, "that is better"


def test_only_what_both_measured():
    now, then = made([1.0, 0.5, 0.2]), made([0.0, 0.5])
    other = replace(then.asked[0], text="Why not?")
    result = compare(now, replace(then, asked=(other, then.asked[1])))
    assert result.questions == 1 and not result.lines[0].better
    assert set(result.only_now) == {"q0", "q2"} and result.only_then == ("q0",)


def test_what_else_changed():
    now = made([1.0], settings={"candidate_k": 20}, models={"encoder": "f"})
    assert compare(now, made([1.0])).changed == {"candidate_k": (50, 20), "encoder": ("e", "f")}


@pytest.mark.parametrize(
    ("then", "what"),
    [
        (made([1.0], modes=("bm25_top_k",)), "mode"),
        (made([1.0], asked=(Asked("q0", "Something else?"),)), "question"),
    ],
)
def test_nothing_in_common(then, what):
    with pytest.raises(EvaluationError, match=f"no {what} in common"):
        compare(made([1.0]), then)


# Gates.

MODES, BUDGETS = ("no_rerank", "rerank_extend_rerank"), (100,)


@pytest.fixture(scope="module")
def summary():
    """Recall 0.75 in the first mode and 0.5 in the second."""
    return summarise(made([1.0, 0.5], MODES, less=0.25))


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("recall@100=0.5", []),
        ("recall@100=50.1%", ["rerank_extend_rerank"]),
        ("recall@100=76%", ["no_rerank", "rerank_extend_rerank"]),
        ("no_rerank:recall@100=0.75", []),
        ("no_rerank:recall@100=0.7501", ["no_rerank"]),
        ("rerank_extend_rerank:recall@100=.7", ["rerank_extend_rerank"]),
        ("before@100=70%", ["rerank_extend_rerank"]),
        ("assembled@100=70%", ["rerank_extend_rerank"]),
        ("complete@100=1", []),
        ("R@5=0.5", []),
        ("R@5=0.51", ["no_rerank", "rerank_extend_rerank"]),
        ("RR=1", []),
        ("ndcg@10=0.61", []),
        ("nDCG@10=0.62", ["no_rerank", "rerank_extend_rerank"]),
    ],
)
def test_a_gate_is_for_every_mode_or_for_one(summary, text, short):
    failures = parse_gate(text, MODES, BUDGETS).failures(summary)
    assert [said.partition(":")[0] for said in failures] == short


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recall@100", "is no gate"),
        ("recall=0.5", "names no figure"),
        ("recall@30=0.5", "budget that is not measured"),
        ("best:recall@100=0.5", "mode that is not run"),
        ("recall@100=1.5", "more than there is"),
        ("recall@100=90", "more than there is"),
        ("recall@100=0.5.5", "no number"),
        ("speed@100=0.5", "names no figure"),
    ],
)
def test_what_is_no_gate(text, said):
    with pytest.raises(EvaluationError, match=said):
        parse_gate(text, MODES, BUDGETS)
