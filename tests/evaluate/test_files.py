"""Files that are whole or not there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import EvaluationError, QuestionSetError
from core.evaluate import append_question, evaluate, load_evaluation, save_evaluation
from core.questions import Question, Reference, load_questions, locate, refer
from tests.evaluate.sets import MODES, QUESTIONS, RULES, SMALL, corpus
from tests.worlds import document, pipeline, texts


def test_an_evaluation_is_saved_and_loaded(tmp_path):
    path = tmp_path / "run.json"
    made = evaluate(pipeline(), corpus(), QUESTIONS, MODES, SMALL, (20,))
    for _ in range(2):
        save_evaluation(path, made)
        assert load_evaluation(path) == made
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    with pytest.raises(EvaluationError, match="cannot be read"):
        load_evaluation(tmp_path / "none.json")


def test_questions_are_appended_with_their_spans(tmp_path):
    path = tmp_path / "set.jsonl"
    page = Question("page", "Which page?", "rules.md", (Reference(page=2),), {"note": "naïve 押金"})
    for q in (*QUESTIONS, page):
        append_question(path, q)
    assert load_questions(path) == (*QUESTIONS, page)
    assert path.read_text("utf-8").count("\n") == 5


def test_what_the_file_holds_stays_as_it_is(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"question":  "Why?", "extra": [1]}\r\n\n{"question": "How?"}')
    before = path.read_bytes()
    append_question(path, QUESTIONS[0])
    assert path.read_bytes().startswith(before + b"\n")
    assert [q.text for q in load_questions(path)] == ["Why?", "How?", "What is the annual fee?"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (QUESTIONS[0], "already"),
        (Question("new", " ", "a", QUESTIONS[0].references), "no text"),
        (Question("new", "Why?", "a"), "no evidence"),
    ],
)
def test_what_is_not_appended(tmp_path, question, said):
    path = tmp_path / "set.jsonl"
    append_question(path, QUESTIONS[0])
    before = path.read_bytes()
    with pytest.raises(QuestionSetError, match=said):
        append_question(path, question)
    assert path.read_bytes() == before


def test_a_set_that_is_csv_or_broken_is_left_alone(tmp_path):
    table, broken = tmp_path / "set.csv", tmp_path / "set.jsonl"
    table.write_text("question\nWhy?\n")
    broken.write_text("{")
    for path, said in ((table, "is CSV"), (broken, "not JSON")):
        before = path.read_bytes()
        with pytest.raises(QuestionSetError, match=said):
            append_question(path, QUESTIONS[0])
        assert path.read_bytes() == before


@given(texts, st.data())
def test_a_passage_that_is_marked_is_found_again(tmp_path_factory, text, data):
    made = document(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    path = tmp_path_factory.mktemp("set") / "set.jsonl"
    append_question(path, Question("q", "Where?", made.name, (refer(made, start, end),)))
    (found,) = locate(load_questions(path)[0], [made])
    assert (found.document_id, found.span.start, found.span.end) == (made.id, start, end)


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (0, 10_000)])
def test_no_passage_is_no_reference(start, end):
    with pytest.raises(QuestionSetError, match="no characters"):
        refer(RULES, start, end)


def test_each_line_is_json(tmp_path):
    path = tmp_path / "set.jsonl"
    odd = Question("odd", "Is\u2028this\none?", "rules.md", (Reference(quote="a\nb"),))
    append_question(path, odd)
    assert json.loads(path.read_text("utf-8"))["references"] == [{"quote": "a\nb"}]
    assert load_questions(path) == (odd,)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{}".encode("utf-16"), "it is text in UTF-16, not in UTF-8. Save it again as UTF-8."),
        (b"%PDF-1.7\n\xe2\xe3 1 0 obj endobj", "it holds a PDF, not text"),
    ],
)
def test_a_file_that_is_no_text_is_called_what_it_is(tmp_path, data, said):
    path = tmp_path / "run.json"
    path.write_bytes(data)
    with pytest.raises(EvaluationError) as caught:
        load_evaluation(path)
    assert said in str(caught.value) and "run.json" in str(caught.value)
