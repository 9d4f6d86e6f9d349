"""Each stage that can lose a piece of evidence, made to lose one."""

from __future__ import annotations

import numpy as np
import pytest

from core.evaluate import evaluate, lost
from core.evaluate.ask import ROOMY
from core.models.protocols import Reranking
from core.pipeline import Pipeline
from core.questions import Question, Reference, locate
from core.records import Span
from tests.evaluate.sets import SMALL, asked
from tests.fakes import HashingEncoder
from tests.worlds import document, index, pipeline

# Seven paragraphs, a chunk each: the first answers best, the fifth next.
PARTS = (
    "The harbour fee, the harbour fee and again the harbour fee is fourteen euros.",
    "Lanterns are lit along the northern quay when the evening bell has rung.",
    "Ropes of the third kind are dried in the long loft above the chandlery.",
    "Gulls nest on the roof of the customs house from March until late August.",
    "A fee is also due for storing timber on the eastern side of the basin.",
    "Barrels are counted twice by the cooper, once full and once empty again.",
    "The clock tower was painted green in the year of the great storm tides.",
)
MANUAL = document("\n\n".join(PARTS), "manual.md")
KNOBS = SMALL.changed(fusion="bm25", candidate_k=2, max_radius=1, extend_threshold=0.9)


def stage_of(part: int, mode: str, budget: int = 400, by: Pipeline | None = None, **knobs) -> str:
    """What lost the first words of a part when asked for the harbour fee."""
    wanted = KNOBS.changed(**knobs)
    q = asked("q", "harbour fee", MANUAL, PARTS[part][:20])
    evaluation = evaluate(by or pipeline(), index([MANUAL], wanted), [q], [mode], wanted, (budget,))
    return evaluation.rows[0].lost[str(budget)][0]


def test_the_parts_are_the_chunks():
    assert [c.text.strip() for c in index([MANUAL], KNOBS).chunks] == list(PARTS)


@pytest.mark.parametrize(
    ("part", "stage"),
    [
        (0, ""),
        (1, ""),  # the window of the best
        (2, "first_stage"),  # out of every window's reach
        (3, "extend"),  # beside the fifth, whose score opens no window
        (4, ""),
        (5, "extend"),
        (6, "first_stage"),
    ],
)
def test_windows_that_were_too_narrow(part, stage):
    assert stage_of(part, "extend_rerank") == stage
    without = stage if part in (0, 4) else "first_stage"
    assert stage_of(part, "no_rerank") == without, "without windows nothing is lost by them"


def test_a_radius_of_none_is_no_window():
    assert stage_of(1, "extend_rerank", max_radius=0) == "first_stage"


class Reversing:
    """Ranks the candidates in the reverse of the order in which they came."""

    name = fingerprint = "reversing"

    def rerank(self, request):
        scores = np.zeros(len(request.chunks))
        scores[request.retrieval_order] = np.linspace(0, 1, len(scores))
        return Reranking(scores=scores, raw=scores)


def test_a_rerank_that_turned_it_down_and_a_budget_too_small_for_either():
    turned = Pipeline(HashingEncoder(), {"context": Reversing()})
    room = 20  # one chunk
    assert stage_of(0, "no_rerank", room) == "" and stage_of(4, "no_rerank", room) == "budget"
    assert stage_of(0, "context_rerank", room, turned) == "rerank"
    assert stage_of(4, "context_rerank", room, turned) == ""
    assert stage_of(4, "context_rerank", 5, turned) == "budget"


def test_a_cap_for_each_source():
    capped = {"diversity": "source_cap", "per_source_cap": 1}
    assert stage_of(4, "no_rerank", **capped) == "diversity"
    assert stage_of(0, "no_rerank", **capped) == ""


def test_text_in_no_chunk_was_lost_by_extraction():
    header = document(MANUAL.text, "manual.md", unranked=(Span(0, len(PARTS[0]), "header"),))
    made = index([header], KNOBS)
    q = Question("q", "fee", "manual.md", (Reference(start=0, end=20),))
    trace = pipeline().run(made, q.text, KNOBS.changed(window_tokens=ROOMY), "no_rerank")
    assert lost(trace, made, locate(q, [header]), 400) == ("extraction",)


@pytest.mark.parametrize(
    ("more", "budget", "stage"),
    [
        (20, 400, "first_stage"),  # the second part is shown, what follows is not
        (5, 20, "budget"),  # the second part does not fit: more than five characters
        (71, 20, "budget"),  # 72 characters against 71
        (72, 20, "first_stage"),  # of equal losses the earlier stage
        (73, 20, "first_stage"),
    ],
)
def test_the_stage_that_lost_most_of_a_piece_has_it(more, budget, stage):
    """A piece from the second part, which a window brings in, on into the third."""
    made = index([MANUAL], KNOBS)
    _, second, third, *_ = made.chunks
    q = Question(
        "q", "harbour fee", "manual.md", (Reference(start=second.end - 72, end=third.start + more),)
    )
    evaluation = evaluate(pipeline(), made, [q], ["extend_rerank"], KNOBS, (budget,))
    (row,) = evaluation.rows
    assert row.lost[str(budget)] == (stage,)


def test_where_chunks_overlap_the_best_of_them_decides():
    wanted = KNOBS.changed(chunk_overlap=8, candidate_k=1)
    text = " ".join(f"{word.capitalize()} is here." for word in "alpha bravo cedar delta eagle fjord grape hotel igloo joker koala lemon".split())  # fmt: skip
    made = index([document(text, "words.md")], wanted)
    a, b = made.chunks[:2]
    assert b.start < a.end, "they overlap"
    for asks in (a, b):
        only = asks.text.replace(text[b.start : a.end], "")
        q = Question("q", only, "words.md", (Reference(start=b.start, end=a.end),))
        evaluation = evaluate(pipeline(), made, [q], ["no_rerank"], wanted, (1,))
        (row,) = evaluation.rows
        assert row.relevant == 2 and row.lost["1"] == ("budget",), "and not the first stage"
