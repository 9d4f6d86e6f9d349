"""Stage 9: never over, and what is cut says what it needed and what was left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rendering import block, label, place
from core.settings import Settings
from core.stages.budget import budget, fill, room_for_evidence
from core.stages.trim import trimmed
from core.tokens import WordCounter, wordpiece
from core.trace import NOTHING_FITS
from tests.stages.made import ask, entries, index_of, named, names, ranked, run_over, scores_by_word

COUNTER = WordCounter()


def text_of(tokens: int, word: str = "word") -> str:
    return " ".join([word] * tokens)


# E5: greedy, never over; the skip is explained.


@pytest.mark.parametrize(
    ("costs", "room", "chosen", "cut"),
    [
        ([80, 20, 20], 50, [1, 2], [(0, 50)]),
        ([20, 80, 20], 50, [0, 2], [(1, 30)]),
        ([30, 21, 20], 50, [0, 2], [(1, 20)]),
        ([50], 50, [0], []),
        ([51], 50, [], [(0, 50)]),
        ([80, 20, 20], 0, [], [(0, 0), (1, 0), (2, 0)]),
        ([], 50, [], []),
    ],
)
def test_greedy_by_hand(costs, room, chosen, cut):
    assert fill(costs, room) == (chosen, cut)


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(0, 120))
def test_greedy_is_never_over_and_skips_only_what_did_not_fit(costs, room):
    chosen, cut = fill(costs, room)
    assert sum(costs[i] for i in chosen) <= room
    assert sorted(chosen + [i for i, _ in cut]) == list(range(len(costs)))
    for i, left in cut:
        assert left == room - sum(costs[j] for j in chosen if j < i) < costs[i]


@pytest.mark.parametrize("size", [50, 0])
def test_sizes_80_20_20_under_50_and_under_none(size):
    made = index_of({"a": [text_of(80), text_of(12, "kelp"), text_of(12, "moss")]})
    state = ranked(made, {"a1": 3, "a2": 2, "a3": 1})
    _, record = budget(state, Settings(evidence_budget=size), run_over(made))
    # A label "[1] a#c2" is 6 tokens: two passages of 12 need 36.
    assert names(made, record.kept) == (["a2", "a3"] if size else [])
    lost = entries(record, made)["a1"]
    assert lost.reason == f"needs 86 tokens, more than the whole budget of {size}"
    assert lost.margin == size - 86 and lost.cause == ""
    if not size:
        trace = ask(made, evidence_budget=0, mode="no_rerank")
        assert trace.outcome == NOTHING_FITS and trace.selected == ()


def test_what_spent_the_room_is_named():
    made = index_of({"a": [text_of(20), text_of(25, "kelp"), text_of(10, "moss")]})
    state = ranked(made, {"a1": 3, "a2": 2, "a3": 1})
    _, record = budget(state, Settings(evidence_budget=50), run_over(made))
    lost = entries(record, made)["a2"]
    assert names(made, record.kept) == ["a1", "a3"]
    assert lost.reason == "needs 31 tokens, 24 of 50 were left"
    assert lost.cause == named(made, "a1") and lost.margin == -7


# E7: labels and separators are counted.


@pytest.mark.parametrize("name", ["a", "a-file-with-a-very-long.name.md"])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_a_budget_of_the_chunks_tokens_alone_does_not_hold_them_all(name, count):
    made = index_of({name: [f"{text_of(30)} {n}" for n in range(count)]})
    plain = sum(c.tokens for c in made.chunks)
    knobs = {"mode": "no_rerank", "dedup_method": "off", "question": "word"}
    trace = ask(made, evidence_budget=plain, **knobs)
    assert len(trace.selected) < count
    assert COUNTER.count(trace.prompt.partition("Evidence:\n\n")[2]) <= plain or not trace.selected
    labels = [label(n, name, place(c)) for n, c in enumerate(made.chunks, 1)]
    whole = COUNTER.count(block(labels, [c.text for c in made.chunks]))
    enough = ask(made, evidence_budget=whole + 2 * count, **knobs)
    assert len(enough.selected) == count
    assert enough.ledger.evidence == whole


def test_a_window_too_small_for_the_budget_is_said():
    made = index_of({"a": [text_of(30)]})
    knobs = Settings(window_tokens=500, answer_reserve=400, instructions=text_of(50))
    room = room_for_evidence(knobs, "one two", COUNTER)
    assert room == 500 - 400 - 50 - 2 - 16
    trace = ask(made, mode="no_rerank", **knobs.differences())
    assert any("leaves 31 tokens" in w for w in trace.stage("budget").warnings)
    assert trace.selected == () and trace.ledger.total <= 500


def test_no_room_at_all_is_not_negative():
    knobs = Settings(window_tokens=500, answer_reserve=1000)
    assert room_for_evidence(knobs, "q", COUNTER) == 0


# Trimming.


SENTENCES = "The first one is here. The second one follows it! Is the third one last? Yes."


@pytest.mark.parametrize(
    ("room", "ends"),
    [
        (6, "here."),
        (11, "here."),
        (12, "it!"),
        (18, "last?"),
        (20, "Yes."),
        (99, "Yes."),
        (3, "one"),
    ],
)
def test_a_passage_is_trimmed_at_a_sentence_or_else_at_a_word(room, ends):
    trim = trimmed(SENTENCES, room, COUNTER)
    shown = SENTENCES[: trim.characters]
    assert shown.endswith(ends) and COUNTER.count(shown) == trim.tokens <= room


def test_a_point_inside_a_number_ends_no_sentence():
    text = "It costs 3.14 EUR for each of them and no more."
    shown = text[: trimmed(text, 4, COUNTER).characters]
    assert shown in ("It costs 3.", "It costs") and shown != "It costs 3."


def test_chinese_sentences_end_without_a_space():
    text = "押金退还需要七天。请提前预约房间。谢谢。"
    counter = wordpiece()
    first = text[: trimmed(text, counter.count(text) - 3, counter).characters]
    assert first == "押金退还需要七天。请提前预约房间。"


@pytest.mark.parametrize("room", [0, -5])
def test_nothing_fits_in_no_room(room):
    assert trimmed(SENTENCES, room, COUNTER).characters == 0
    assert trimmed("", 5, COUNTER).characters == 0


# E9: whole characters as a person sees them.


class Characters:
    """Every character that is not white space is a token: any cut can fall anywhere."""

    name = "characters"

    def spans(self, text):
        return [(i, i + 1) for i, c in enumerate(text) if not c.isspace()]

    def count(self, text):
        return len(self.spans(text))

    def count_many(self, texts):
        return [self.count(t) for t in texts]


WHOLE = {
    "family": "👩‍👩‍👧‍👦",
    "skin tone": "👍🏽",
    "keycap": "1️⃣",
    "flag": "🇩🇪",
    "tag flag": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "accent": "e\u0301",
    "two marks": "e\u0302\u0301",
    "Devanagari": "कि",
    "Thai": "กำ",
    "Hangul": "\u1112\u1161\u11ab",
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("before", ["", "ab", "ab🇫🇷"])
def test_a_cut_never_splits_a_character(kind, before):
    whole = WHOLE[kind]
    text = before + whole * 3
    ends = {len(before) + len(whole) * n for n in range(4)} | {0, 1, 2}
    for room in range(1, len(text) + 1):
        trim = trimmed(text, room, Characters())
        assert trim.characters in ends, (room, text[: trim.characters])
        assert trim.tokens <= room


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.integers(0, 40))
def test_trimming_keeps_to_its_room(text, room):
    for counter in (COUNTER, wordpiece()):
        trim = trimmed(text, room, counter)
        assert 0 <= trim.characters <= len(text)
        assert trim.tokens == counter.count(text[: trim.characters]) <= room


@pytest.mark.parametrize("oversize", ["skip", "trim"])
def test_a_passage_larger_than_the_budget(oversize):
    made = index_of({"a": [SENTENCES, "kelp and moss"]})
    reranker = scores_by_word({"first": 0.9, "kelp": 0.2})
    trace = ask(made, reranker, evidence_budget=25, oversize=oversize)
    record = trace.stage("budget")
    if oversize == "skip":
        assert names(made, [p.chunk_id for p in trace.selected]) == ["a2"]
        assert "more than the whole budget of 25" in entries(record, made)["a1"].reason
        return
    (passage,) = trace.selected
    assert passage.trimmed and passage.text.endswith("last?")
    assert passage.text == made.documents[0].text[passage.start : passage.end]
    assert record.warnings == ("1 passages larger than the whole budget were trimmed.",)
    assert "trimmed from 26" in entries(record, made)["a1"].reason
    assert trace.ledger.evidence <= 25
