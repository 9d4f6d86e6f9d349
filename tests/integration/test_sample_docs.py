"""The sample documents show what they were written to show, with the embedded model."""

from __future__ import annotations

import json
import re

import pymupdf
import pytest

from tests.integration.samples import QUESTIONS, SAMPLES, World
from tools.sample_docs import build, markup

pytestmark = pytest.mark.integration

PDFS = sorted(path.stem for path in build.SOURCES.glob("*.txt"))


def test_every_file_loads_without_a_complaint(world: World) -> None:
    assert not world.corpus.errors
    assert len(world.documents) == 10
    assert [d.name for d in world.documents if d.report.warnings] == []


def test_there_are_thirty_pages_and_one_long_document(world: World) -> None:
    pages = [len(d.pages) for d in world.documents if d.name.endswith(".pdf")]
    assert sum(pages) >= 30
    assert max(pages) >= 12


def test_every_quote_stands_once_in_its_document(world: World) -> None:
    texts = {d.name: " ".join(d.text.split()) for d in world.documents}
    for question in QUESTIONS.values():
        for reference in question.references:
            quote = " ".join(reference.quote.split())
            assert texts[question.document].count(quote) == 1, (question.id, quote)


def test_questions_say_what_to_look_at() -> None:
    for question in QUESTIONS.values():
        assert question.more["title"] and question.more["note"] and question.more["demonstrates"]
    assert sum(not q.references for q in QUESTIONS.values()) == 2


# The two claims that a newcomer sees first.


@pytest.mark.parametrize("name", ["list-over-page", "full-essay"])
def test_two_rounds_find_all_of_it(world: World, name: str) -> None:
    question = QUESTIONS[name]
    assert min(world.found(question, world.ask(question))) == 1


@pytest.mark.parametrize("name", ["list-over-page", "full-essay"])
@pytest.mark.parametrize("mode", ["no_rerank", "bge_rerank", "context_rerank"])
@pytest.mark.parametrize("candidates", [None, 50])
def test_one_round_misses_part_of_it(
    world: World, name: str, mode: str, candidates: int | None
) -> None:
    """With the question's own settings, and with as many candidates as by default."""
    question = QUESTIONS[name]
    knobs = {"candidate_k": candidates} if candidates else {}
    assert min(world.found(question, world.ask(question, mode, **knobs))) == 0


def test_the_first_question_needs_no_knob_turned() -> None:
    first = next(iter(QUESTIONS.values()))
    assert first.id == "list-over-page"
    assert "settings" not in first.more


def test_the_list_breaks_between_c_and_d() -> None:
    with pymupdf.open(SAMPLES / "harbour-pilotage-regulation.pdf") as pdf:
        pages = [page.get_text() for page in pdf]
    first = next(i for i, text in enumerate(pages) if "(c) Use of the exemption" in text)
    assert "(d) Grounding" not in pages[first]
    body = pages[first + 1].split("\n", 1)[1]
    assert body.startswith("(d) Grounding")


def test_the_essay_shares_no_word_with_its_question() -> None:
    question = QUESTIONS["full-essay"]
    asked = set(re.findall(r"\w+", question.text.lower())) - {"what", "is", "the", "of", "s"}
    body = " ".join(reference.quote for reference in question.references)
    assert asked == {"full", "text", "ottilie", "brandvold", "essay"}
    assert not asked & set(re.findall(r"\w+", body.lower()))


# The others.


@pytest.mark.parametrize(
    "name", [q.id for q in QUESTIONS.values() if q.references and q.id != "full-essay"]
)
def test_the_default_mode_finds_the_evidence(world: World, name: str) -> None:
    question = QUESTIONS[name]
    assert min(world.found(question, world.ask(question))) == 1


def test_equal_sections_differ_in_their_chapter_alone(world: World) -> None:
    chunks = [
        c for c in world.corpus.index.chunks if c.headings and "Efficiency comparison" in c.headings
    ]
    assert {c.headings[0] for c in chunks} == {"Chapter 2. Sorting", "Chapter 4. Ordered sets"}
    for chunk in chunks:
        assert not re.search(r"sort|tree|hash|heap|merg|insertion\b", chunk.text, re.IGNORECASE)


@pytest.mark.parametrize("protect", [True, False])
def test_the_exception_stays_only_when_protected(world: World, protect: bool) -> None:
    trace = world.ask(QUESTIONS["rule-and-exception"], protect_exceptions=protect)
    assert len(world.texts(trace, "Staff may book business class")) == 1
    assert len(world.texts(trace, "Staff may not book business class")) == int(protect)


def test_boilerplate_reaches_the_prompt_once(world: World) -> None:
    question = QUESTIONS["boilerplate"]
    part = "Treat a key as compromised"
    assert world.texts(world.ask(question), part) == ["security-runbook.md"]
    assert len(world.texts(world.ask(question, dedup_method="off"), part)) == 2


def test_a_number_protects_the_regional_deadline(world: World) -> None:
    trace = world.ask(QUESTIONS["deadline-by-region"])
    assert sorted(world.texts(trace, "informs the national regulator within")) == [
        "security-runbook-emea.md",
        "security-runbook.md",
    ]


@pytest.mark.parametrize(
    ("name", "other"), [("invoice-northwind", "southbay"), ("invoice-southbay", "northwind")]
)
def test_the_other_tenant_leaves_no_mark(world: World, name: str, other: str) -> None:
    saved = world.ask(QUESTIONS[name]).to_json()
    assert f"{other}-terms.md" not in saved
    assert other not in json.dumps(json.loads(saved), ensure_ascii=False).lower()


def test_other_words_are_beyond_bm25(world: World) -> None:
    question = QUESTIONS["other-words"]
    assert world.found(question, world.ask(question, "bm25_top_k")) == [0]


def test_dense_alone_confuses_the_identifiers(world: World) -> None:
    question = QUESTIONS["cve"]
    first = {
        fusion: world.ask(question, "no_rerank", fusion=fusion, order="score").selected[0].text
        for fusion in ("bm25", "dense")
    }
    assert "CVE-2026-90417" in first["bm25"]
    assert "CVE-2026-90417" not in first["dense"]


# The PDFs are what their sources say.


@pytest.mark.parametrize("stem", PDFS)
def test_the_pdf_is_built_from_its_source(stem: str) -> None:
    source = markup.read(build.SOURCES / f"{stem}.txt")
    made = build.render(source)
    assert made == build.render(source)
    with pymupdf.open(stream=made) as new, pymupdf.open(SAMPLES / f"{stem}.pdf") as old:
        assert [page.get_text() for page in new] == [page.get_text() for page in old]
        assert new.get_toc() == old.get_toc()
        assert [page.get_text().split("\n")[0] for page in old] == [source.meta["header"]] * len(
            old
        )
