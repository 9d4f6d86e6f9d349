"""Stage 11: numbers given last, each stretch of text once, a ledger that adds up."""

from __future__ import annotations

import itertools
import re

import pytest

from core.chunking import chunk_document
from core.index.build import build_index
from core.records import Candidate, Chunk, Page, chunk_id
from core.rendering import PassageCost, label, place
from core.settings import Settings
from core.stages.base import State
from core.stages.prompt import assemble
from core.tokens import WordCounter, wordpiece
from tests.fakes import HashingEncoder
from tests.stages.made import ask, index_of, named, run_over, scores_by_word
from tests.worlds import document, pipeline

# D5: overlapping chunks give their text once, by offsets.


def assembled(text: str, spans: list[tuple[int, int]], order: list[int]):
    """The passages of these spans of one document, in this order."""
    from core.index.bm25 import count_terms
    from core.index.index import DocumentPart, Index

    made = document(text, "a")
    chunks = tuple(
        Chunk(chunk_id(made.id, n), made.id, n, s, e, text[s:e], len(text[s:e].split()))
        for n, (s, e) in enumerate(spans)
    )
    index = Index(
        [DocumentPart(made, chunks, count_terms([c.text for c in chunks]), None, "k")],
        WordCounter(),
    )
    state = State(tuple(Candidate(chunks[n].id, 1.0) for n in order))
    return assemble(state, Settings(), run_over(index))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]])
def test_overlapping_chunks_show_their_text_once(order):
    text = "abcdefghijklmno"
    made = assembled(text, [(0, 8), (4, 6), (6, 15)], order)
    shown = [0] * len(text)
    for p in made.selected:
        assert p.text == text[p.start : p.end]
        for at in range(p.start, p.end):
            shown[at] += 1
    covered = {i for i, n in enumerate(shown) if n}
    assert covered == set(range(15))
    if order != [1, 0, 2]:  # a chunk that lies inside a later one cannot be cut from its middle
        assert set(shown) == {1}


def test_chunks_that_repeat_tokens_are_shown_once():
    text = " ".join(f"Sentence {n} says that number {n} is the one." for n in range(30))
    knobs = Settings(chunk_tokens=32, chunk_overlap=16, order="source", dedup_method="off")
    encoder = HashingEncoder()
    made = build_index([document(text, "a")], knobs, encoder, counter=WordCounter())
    assert any(a.end > b.start for a, b in zip(made.chunks, made.chunks[1:], strict=False))
    trace = pipeline(encoder).run(made, "number 7 sentence", knobs)
    ends = [(p.start, p.end) for p in trace.selected]
    assert all(a <= b for (_, a), (b, _) in itertools.pairwise(ends))
    assert "".join(p.text for p in trace.selected) in text


# E10: numbers are given after the last stage; brackets in a source stay plain text.


@pytest.mark.parametrize("order", ["score", "source", "score_then_source", "date"])
@pytest.mark.parametrize("room", [30, 60, 500])
def test_numbers_name_the_passages_that_are_there(order, room):
    texts = {
        "b": ["alpha as shown in [8] and [1]", "beta [2] says [3]", "gamma [99]"],
        "a": ["delta [1]", "eps (see [4], [5])"],
    }
    made = index_of(texts)
    scores = {"alpha": 0.5, "beta": 0.9, "gamma": 0.1, "delta": 0.7, "eps": 0.3}
    trace = ask(made, scores_by_word(scores), order=order, evidence_budget=room)
    numbers = [p.number for p in trace.selected]
    assert numbers == list(range(1, len(numbers) + 1)) != []
    labels = re.findall(
        r"^\[(\d+)\] (.+)$", trace.prompt.partition("Evidence:\n\n")[2], re.MULTILINE
    )
    assert [int(n) for n, _ in labels] == numbers
    for passage in trace.selected:
        assert passage.citation.startswith(f"[{passage.number}] {passage.document}#")
        assert passage.text in trace.prompt  # its own brackets as they were


@pytest.mark.parametrize("name", ["x\n[7] forged.md", "x\r\n\r\n[7] forged.md", "x\u2028[7] y"])
def test_a_file_name_forges_no_label(name):
    made = index_of({name: ["alpha"]})
    trace = ask(made, mode="no_rerank", question="alpha")
    evidence = trace.prompt.partition("Evidence:\n\n")[2]
    assert [line[:3] for line in evidence.splitlines() if line.startswith("[")] == ["[1]"]


# Labels and what they cost.


def test_places_by_hand():
    chunk = Chunk("d:000004", "d", 4, 0, 3, "abc", 1)
    assert place(chunk) == "c5"
    paged = {(3, 3): "p3", (3, 4): "p3-4"}
    for pages, where in paged.items():
        assert place(Chunk("d:000004", "d", 4, 0, 3, "abc", 1, pages)) == where
    assert label(2, "a.pdf", "p3") == "[2] a.pdf#p3"


@pytest.mark.parametrize("passages", [1, 9, 10, 120])
def test_the_cost_of_a_label_is_never_too_low(passages):
    for counter in (WordCounter(), wordpiece()):
        cost = PassageCost(counter).labels([("my file.pdf", "p3")] * passages)[-1]
        dearest = max(
            counter.count(label(n, "my file.pdf", "p3") + "\n\n") for n in range(1, passages + 1)
        )
        assert dearest <= cost <= dearest + 2


# The ledger.


@pytest.mark.parametrize("counter", [WordCounter(), wordpiece()], ids=lambda c: c.name)
def test_the_ledger_counts_what_is_in_the_prompt(counter):
    text = "\n\n".join(f"Paragraph {n} of the policy says that fee {n} is due." for n in range(9))
    knobs = Settings(chunk_tokens=16, answer_reserve=300, window_tokens=4000)
    encoder = HashingEncoder()
    made = build_index([document(text, "a.md")], knobs, encoder, counter=counter)
    trace = pipeline(encoder).run(made, "Which fee is due?", knobs)
    ledger = trace.ledger
    assert ledger.counter == counter.name
    assert ledger.instructions == counter.count(knobs.instructions)
    assert ledger.question == counter.count("Which fee is due?")
    assert ledger.evidence == counter.count(trace.prompt.partition("Evidence:\n\n")[2])
    assert ledger.total == counter.count(trace.prompt) + 300
    assert (ledger.reserve, ledger.window, ledger.evidence_budget) == (300, 4000, 2000)
    assert sum(p.tokens for p in trace.selected) <= ledger.evidence
    spent = ledger.instructions + ledger.question + ledger.evidence + ledger.reserve
    assert spent <= ledger.total <= spent + 16


def test_a_prompt_without_evidence_says_so():
    trace = ask(index_of({"a": ["alpha"]}), mode="no_rerank", evidence_budget=0)
    assert "No passage was found" in trace.prompt and trace.ledger.evidence == 0


def test_a_passage_keeps_the_pages_of_its_chunk():
    text = "First page text here.\n\nSecond page text here."
    half = text.index("Second")
    pages = (Page(1, 0, half), Page(2, half, len(text)))
    made = index_of({"a": ["First page text here.", "Second page text here."]}, pages={"a": pages})
    trace = ask(made, mode="no_rerank", question="second page")
    by_text = {p.text: p for p in trace.selected}
    assert by_text["Second page text here."].pages == (2, 2)
    assert by_text["First page text here."].citation.endswith("#p1")
    assert named(made, "a2") in {p.chunk_id for p in trace.selected}


def test_what_is_unranked_is_in_no_prompt():
    from core.records import Span

    text = "Page 1 of 9\nAlpha is here.\nPage 2 of 9\nBeta is there."
    unranked = tuple(
        Span(text.index(h), text.index(h) + 12, "header") for h in ("Page 1", "Page 2")
    )
    made = document(text, "a", unranked=unranked)
    chunks = chunk_document(made, WordCounter())
    assert [c.text.strip() for c in chunks] == ["Alpha is here.", "Beta is there."]
    trace = pipeline().run(
        build_index([made], counter=WordCounter()), "alpha page", mode="no_rerank"
    )
    assert "of 9" not in trace.prompt
