"""Texts in pieces: a document's blocks, an answer's claims, the tour, the report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from core.chunking import chunk_document
from core.errors import QuestionSetError, SettingsError
from core.records import Page, Principal, Span
from core.report import markdown_report
from core.settings import Settings
from core.tokens import WordCounter
from dashboard import tour
from dashboard.answers import claims
from dashboard.chunks import find, place, row_in_ranking, step_in_document, step_in_ranking
from dashboard.passages import CHUNK, sections
from dashboard.say import escaped
from tests import worlds

HOSTILE = '<img src=x onerror="alert(1)"> ![](http://evil.example/a.png) $x$ :red[y] `z` | # h'


class TestSections:
    @given(worlds.documents(most=1))
    def test_every_word_of_the_document_is_shown(self, documents) -> None:
        document = documents[0]
        chunks = chunk_document(document, WordCounter(), 24)
        shown = " ".join(b.text for s in sections(document, chunks) for b in s.blocks)
        assert "".join(shown.split()) == "".join(document.text.split())

    @given(worlds.documents(most=1))
    def test_every_chunk_is_in_a_section(self, documents) -> None:
        document = documents[0]
        chunks = chunk_document(document, WordCounter(), 24)
        held = {b.chunk_id for s in sections(document, chunks) for b in s.blocks}
        assert held - {""} == {c.id for c in chunks}

    def test_a_chunk_over_a_page_break_is_on_both_pages_and_says_so(self) -> None:
        text = "One two three. Four five six."
        document = worlds.document(text, pages=(Page(1, 0, 15), Page(2, 15, len(text))))
        first, second = sections(document, chunk_document(document, WordCounter(), 128))
        assert first.blocks[0].chunk_id == second.blocks[0].chunk_id
        assert "goes on" in first.blocks[0].label
        assert "continued" in second.blocks[0].label

    def test_what_is_not_ranked_says_why(self) -> None:
        text = "HEADER\n\nThe body of it."
        document = worlds.document(text, unranked=(Span(0, 7, "running_header"),))
        blocks = sections(document, chunk_document(document, WordCounter(), 128))[0].blocks
        assert [b.kind == CHUNK for b in blocks] == [False, True]
        assert "running header" in blocks[0].label

    def test_a_document_without_chunks_has_a_section(self) -> None:
        assert len(sections(worlds.document(""), ())) == 1


class TestClaims:
    def test_citations_and_what_is_wrong_with_them(self) -> None:
        answer = "Deposits are refundable. [1] Not in March [2, 9].\nThat is all."
        found = claims(answer, {1, 2, 3})
        assert [c.numbers for c in found] == [(1,), (2, 9), ()]
        assert [c.problem for c in found] == [
            "",
            "no passage [9] in the prompt",
            "cites nothing",
        ]

    def test_numbers_in_words_are_no_citations(self) -> None:
        assert claims("See section 8 and [a8].", {8})[0].numbers == ()

    def test_nothing_claims_nothing(self) -> None:
        assert claims(" \n ", {1}) == []


class TestTour:
    def test_a_stop_carries_its_view(self, tmp_path: Path) -> None:
        row = {
            "id": "refund",
            "question": "When?",
            "document": "a.md",
            "references": [{"quote": "within seven days"}],
            "title": "A title",
            "note": "A note",
            "mode": "no_rerank",
            "settings": {"top_k": 3},
            "tenant": "north",
        }
        file = tmp_path / "questions.jsonl"
        file.write_text(json.dumps(row) + "\n\n", encoding="utf-8")
        (stop,) = tour.read(file)
        assert (stop.id, stop.title, stop.note) == ("refund", "A title", "A note")
        assert stop.view.mode == "no_rerank"
        assert stop.view.settings == Settings(top_k=3)
        assert stop.view.principal == Principal("north")
        document = worlds.document("Pay\nwithin seven  days of it.", "a.md")
        chunks = chunk_document(document, WordCounter(), 128)
        assert tour.evidence(stop, [document], chunks) == (chunks[0].id,)

    def test_only_chunks_that_hold_the_quote_are_evidence(self, tmp_path: Path) -> None:
        text = "\n\n".join(f"Paragraph number {n} stands here alone." for n in range(12))
        document = worlds.document(text, "a.md")
        chunks = chunk_document(document, WordCounter(), 16)
        file = tmp_path / "q.jsonl"
        quote = {"quote": "number 7 stands"}
        file.write_text(json.dumps({"question": "?", "document": "a.md", "references": [quote]}))
        found = tour.evidence(tour.read(file)[0], [document], chunks)
        assert found == tuple(c.id for c in chunks if "number 7" in c.text)

    def test_no_file_no_tour(self, tmp_path: Path) -> None:
        assert tour.read(tmp_path / "questions.jsonl") == ()

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ("{", QuestionSetError),
            ("{}", QuestionSetError),
            ('{"question": "?", "mode": "best"}', SettingsError),
            ('{"question": "?", "settings": {"top_k": "many"}}', SettingsError),
        ],
    )
    def test_a_bad_line_is_named(self, tmp_path: Path, line: str, error: type) -> None:
        file = tmp_path / "q.jsonl"
        file.write_text(line, encoding="utf-8")
        with pytest.raises(error):
            tour.read(file)


@pytest.fixture(scope="module")
def trace():
    text = f"Refund within 7 days. {HOSTILE} {'`' * 4}\n\nPilot fees are waived in Lisbon."
    index = worlds.index([worlds.document(text, "a|b`c.md")])
    return worlds.pipeline().run(index, f"refund days {HOSTILE}", Settings(chunk_tokens=16))


class TestReport:
    def test_it_says_what_happened(self, trace) -> None:
        lost = trace.chunks[0].id
        report = markdown_report(trace, evidence=(lost,))
        for heading in ("Stages", "Passages in the prompt", "Expected evidence", "Tokens"):
            assert f"## {heading}" in report
        assert "chunk_tokens" in report
        for record in trace.stages:
            assert record.name in report

    def test_models_have_their_names_and_the_end_of_their_hash(self, trace) -> None:
        print_ = f"{'c0ffee' * 5}ab"
        models = {"encoder": print_, "rerank_1": f"context-2:{print_}"}
        stages = tuple(
            replace(s, model={"first_stage": "mini (bfloat16)", "rerank_1": "mini, MaxSim"}.get(s.name, ""))
            for s in trace.stages
        )  # fmt: skip
        report = markdown_report(replace(trace, models=models, stages=stages))
        assert "- Model, encoder: `mini (bfloat16), c0ffeeab`" in report
        assert "- Model, rerank\\_1: `mini, MaxSim, c0ffeeab`" in report
        assert print_ not in report
        foreign = replace(trace, models={"llm": "small-llm"}, origin="bot")
        assert "- Model, llm: `small-llm`\n" in markdown_report(foreign)

    def test_nothing_of_a_document_becomes_markup(self, trace) -> None:
        report = markdown_report(trace)
        fences = re.split(r"^(`{3,})text\n.*?^\1$", report, flags=re.DOTALL | re.MULTILINE)
        outside = "".join(fences[::2])
        assert "Refund within" not in outside
        assert not re.search(r"(?<!\\)<img", outside)
        assert not re.search(r"(?<!\\)!\[", outside)

    def test_tables_keep_their_columns(self, trace) -> None:
        rows = [r for r in markdown_report(trace).splitlines() if r.startswith("| ")]
        assert all(len(re.findall(r"(?<!\\)\|", r)) in (3, 4, 8) for r in rows)


class TestChunks:
    def test_find_and_steps(self, trace) -> None:
        first = find(trace, None, trace.chunks[0].id)
        assert first is not None
        assert first.text == trace.chunks[0].text
        assert find(trace, None, "nobody:000000") is None
        forward = step_in_document(trace, None, first, +1)
        if forward:
            again = find(trace, None, forward)
            assert again is not None
            assert step_in_document(trace, None, again, -1) == first.id

    def test_steps_in_the_ranking_stop_at_its_ends(self) -> None:
        assert step_in_ranking(["a", "b"], "a", -1) == ""
        assert step_in_ranking(["a", "b"], "a", +1) == "b"
        assert step_in_ranking(["a", "b"], "b", +1) == ""
        assert step_in_ranking(["a", "b"], "elsewhere", +1) == "a"
        assert step_in_ranking([], "a", +1) == ""

    def test_a_row_is_told_by_its_place(self) -> None:
        assert row_in_ranking(["a", "b"], "b") == "row 2 of 2"
        assert row_in_ranking(["a", "b"], "elsewhere") == "not in the table"

    def test_place(self) -> None:
        assert place((), 4) == "chunk 5"
        assert place((2, 2), 4) == "page 2"
        assert place((2, 3), 4) == "pages 2 to 3"


def test_escaped_text_has_no_open_marks() -> None:
    text = escaped(HOSTILE)
    assert not re.search(r"(?<!\\)[<>!\[\]()$`:|#*_]", text)
    assert "\n" not in escaped("a\nb")
