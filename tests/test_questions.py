"""Question files, and evidence found in documents."""

from __future__ import annotations

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import QuestionSetError
from core.ingest.extract import extract
from core.questions import (
    Question,
    Reference,
    load_questions,
    locate,
    parse_questions,
    refer,
)
from core.records import Page
from tests.ingest.pdfs import drawn
from tests.worlds import document


@pytest.fixture
def load(tmp_path):
    def loaded(content: str | bytes, name: str = "q.jsonl"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_questions(path)

    return loaded


ROW = {"question": "Why?", "document": "a.md", "references": [{"start": 3, "end": 9}]}


# JSONL.


def test_a_row_of_each_kind(load):
    rows = [
        ROW,
        {"question": "How?", "references": [{"quote": "so it is"}, {"page": 2}], "id": "how", "note": "x"},
        {"question": "Unanswered?"},
    ]  # fmt: skip
    one, two, three = load("\n".join(map(json.dumps, rows)))
    assert one == Question("1", "Why?", "a.md", (Reference(start=3, end=9),), {})
    assert two.id == "how" and two.more == {"note": "x"}
    assert two.references == (Reference(quote="so it is"), Reference(page=2))
    assert three.references == () and three.document == "" and three.id == "3"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r\n\r\n", "\n \n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_blank_lines_and_a_byte_order_mark(load, newline, start):
    assert len(load(start + newline.join([json.dumps(ROW)] * 3) + newline)) == 3


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_line_separators_inside_a_string_part_no_rows(load, odd):
    text = json.dumps({"question": f"Why {odd} so?"}, ensure_ascii=False)
    if odd in "\x0b\x0c\x1c":  # JSON itself wants these escaped
        text = json.dumps({"question": f"Why {odd} so?"})
    assert load(text)[0].text == f"Why {odd} so?"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 50_000, "is not JSON"),
        ("[]", "is not a JSON object"),
        ('"Why?"', "is not a JSON object"),
        ("{}", "has no question"),
        ('{"question": " "}', "has no question"),
        ('{"question": 3}', "has no question"),
        ('{"question": "Q", "references": {"start": 1, "end": 2}}', "references are not a list"),
        ('{"question": "Q", "references": "[1"}', "references are not JSON"),
        ('{"question": "Q", "references": [3]}', "is not an object"),
        ('{"question": "Q", "references": [{}]}', "names no place"),
        ('{"question": "Q", "references": [{"start": 5, "end": 5}]}', "names no place"),
        ('{"question": "Q", "references": [{"start": -1, "end": 5}]}', "names no place"),
        ('{"question": "Q", "references": [{"start": 1.5, "end": 5}]}', "names no place"),
        ('{"question": "Q", "references": [{"quote": " "}]}', "names no place"),
        ('{"question": "Q", "references": [{"page": "two"}]}', "names no place"),
        ('{"question": "Q", "references": [{"page": true}]}', "names no place"),
        ('{"question": "Q", "references": [{"page": -1}]}', "names no place"),
        ('{"question": "Q", "references": [{"start": false, "end": true}]}', "names no place"),
        ('{"question": "Q", "document": ["a.md", "b.md"]}', "its document is .*, not a name"),
        ('{"question": "Q", "document": {"name": "a.md"}}', "its document is .*, not a name"),
        ('{"question": "Q", "corpus_id": ["a"]}', "its corpus_id is .*, not a name"),
        ('{"question": "Q", "id": []}', "its id is .*, not a name"),
    ],
)
def test_a_bad_line_is_named(load, line, said):
    with pytest.raises(QuestionSetError, match=said) as caught:
        load(f"{json.dumps(ROW)}\n\n{line}\n{json.dumps(ROW)}")
    assert caught.value.culprit == "q.jsonl, line 3"


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00", b'{"question": "\xe9"}'])
def test_a_file_of_another_encoding_is_named(load, content):
    with pytest.raises(QuestionSetError, match="cannot be read: it .*Save it again as UTF-8"):
        load(content)


def test_no_file_is_named(tmp_path):
    with pytest.raises(QuestionSetError, match="cannot be read") as caught:
        load_questions(tmp_path / "none.jsonl")
    assert "none.jsonl" in str(caught.value)


@given(st.binary(max_size=60), st.sampled_from(["q.jsonl", "q.csv"]))
def test_any_bytes_are_questions_or_a_named_error(tmp_path_factory, content, name):
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(content)
    try:
        assert all(q.text.strip() for q in load_questions(path))
    except QuestionSetError as error:
        assert "q." in error.culprit


# CSV, with the chunking-evaluation set's columns too.


def test_the_columns_of_the_chunking_evaluation_set(load):
    cell = json.dumps([{"content": "the text", "start_index": 27, "end_index": 35}])
    text = f'question,references,corpus_id\n"What, and\nwhy?","{cell.replace(chr(34), chr(34) * 2)}",wikitexts\n'
    (made,) = load(text, "q.csv")
    assert made == Question("2", "What, and\nwhy?", "wikitexts", (Reference(start=27, end=35),), {})


def test_the_set_itself(shared_data):
    path = shared_data / "chunking_evaluation" / "questions.csv"
    made = load_questions(path)
    assert len(made) == 472
    assert all(q.references and q.document for q in made)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [q.text for q in made] == [r["question"] for r in rows]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("Why?,[]\n,[]\n", 3),
        ('"Why\nso?",[]\n\n,[]\n', 5),
        ('Why?,[]\n"","[\n]"\n', 3),
        ("Why?,nothing\n", 2),
    ],
)
def test_a_bad_row_is_named_by_the_line_on_which_it_begins(load, rows, line):
    with pytest.raises(QuestionSetError) as caught:
        load("question,references\n" + rows, "q.csv")
    assert caught.value.culprit == f"q.csv, line {line}"


def test_short_and_long_rows(load):
    one, two = load("question,document,references\nWhy?\nHow?,a.md,[],left over\n", "q.csv")
    assert (one.document, one.references) == ("", ())
    assert (two.document, two.more) == ("a.md", {})
    assert load("question\n", "q.csv") == ()


# Evidence.


TEXT = "The deposit is\n  refunded within\t7 days.\n\nElse (see §4) it is kept: 3.5 % a day."


def found(reference: Reference, *documents, named: str = "") -> list:
    question = Question("1", "?", named, (reference,))
    return [
        None if e.span is None else (e.document_id, e.span.start, e.span.end)
        for e in locate(question, documents)
    ]


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("deposit is refunded within 7 days.", "deposit is\n  refunded within\t7 days."),
        (" The\n\n deposit ", "The deposit"),
        ("days. Else (see §4)", "days.\n\nElse (see §4)"),
        ("3.5 % a day.", "3.5 % a day."),
        ("it is\u00a0kept", "it is kept"),
        ("375 % a day", None),
        ("the deposit", None),
        ("depositis", None),
    ],
)
def test_a_quote_is_found_whatever_its_white_space(quote, shown):
    made = document(TEXT)
    (place,) = found(Reference(quote=quote), made)
    assert (place and TEXT[place[1] : place[2]]) == shown


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6), min_size=1, max_size=6), st.data())  # fmt: skip
def test_words_are_found_again_with_any_white_space_between(words, data):
    spaces = st.text(st.sampled_from(" \n\t\u00a0"), min_size=1, max_size=3)
    text = "".join(w + data.draw(spaces) for w in words)
    quote = "".join(w + data.draw(spaces) for w in words)
    ((_, start, end),) = found(Reference(quote=quote), document(f"« {text}»"))
    assert f"« {text}»"[start:end].split() == quote.split()


def test_spans_and_pages():
    made = document(TEXT, pages=(Page(1, 0, 40), Page(2, 40, len(TEXT))))
    assert found(Reference(start=4, end=11), made) == [(made.id, 4, 11)]
    assert found(Reference(start=4, end=len(TEXT)), made) == [(made.id, 4, len(TEXT))]
    assert found(Reference(start=4, end=len(TEXT) + 1), made) == [None]
    assert found(Reference(page=2), made) == [(made.id, 40, len(TEXT))]
    assert found(Reference(page=3), made) == [None]


@pytest.mark.parametrize("wanted", ["north/policy.md", "south/policy.md"])
def test_two_files_of_one_name_in_two_folders(wanted):
    north, south = document(TEXT, "north/policy.md"), document(TEXT + " ", "south/policy.md")
    both = {"north/policy.md": north, "south/policy.md": south}
    for order in ([north, south], [south, north]):
        (place,) = found(Reference(start=0, end=3), *order, named=wanted)
        assert place[0] == both[wanted].id


@pytest.mark.parametrize(
    ("name", "wanted", "agree"),
    [
        ("policy.md", "policy.md", True),
        ("north/policy.md", "policy.md", True),
        ("policy.md", "docs/policy.md", True),
        ("policy.pdf", "policy", True),
        ("policy.pdf", "policy.md", False),
        ("policy.md", "olicy.md", False),
        ("wikitexts.md", "wikitexts", True),
    ],
)
def test_how_a_document_may_be_named(name, wanted, agree):
    made = document(TEXT, name)
    assert (found(Reference(start=0, end=3), made, named=wanted) != [None]) is agree


def test_a_suffix_that_is_given_counts():
    text, pdf = document(TEXT, "policy.md"), document(TEXT + "!", "policy.pdf")
    for wanted, meant in (("policy.md", text), ("policy.pdf", pdf)):
        assert found(Reference(start=0, end=3), pdf, text, named=wanted)[0][0] == meant.id


def test_without_a_documents_name_only_a_quote_is_looked_for_everywhere():
    one, two = document("Nothing of the kind.", "a"), document(TEXT, "b")
    assert found(Reference(quote="see §4"), one, two)[0][0] == two.id
    assert found(Reference(start=0, end=3), one, two) == [None]
    assert found(Reference(start=0, end=3), two) == [(two.id, 0, 3)]


MARKED = "# Fees\n\nThe **deposit** is [refunded](http://x/terms) within 7 days.\n"


@pytest.mark.parametrize(
    ("marked", "read"),
    [
        ("The **deposit** is [refunded](http://x/terms)", "The deposit is refunded"),
        ("deposit", "deposit"),
        ("**deposit**", "deposit"),
        ("# Fees", "Fees"),
        ("http://x/terms", None),
        ("within 7", "within 7"),
    ],
)
def test_spans_and_quotes_of_the_file_are_found_in_the_clean_text(marked, read):
    made = extract("a.md", MARKED.encode(), {})
    at = MARKED.index(marked)
    for reference in (Reference(start=at, end=at + len(marked)), Reference(quote=marked)):
        (place,) = found(reference, made)
        assert (place and made.text[place[1] : place[2]]) == read
    assert found(Reference(start=at, end=len(MARKED)), made) != [None]
    assert found(Reference(start=at, end=len(MARKED) + 1), made) == [None]


def test_a_span_of_a_pdf_counts_the_extracted_text():
    made = extract("a.pdf", drawn([(72, 100, "The infor-"), (72, 114, "mation ends.")]), {})
    at = made.text.index("ends")
    assert found(Reference(start=at, end=at + 4), made) == [(made.id, at, at + 4)]
    ((_, start, end),) = found(Reference(quote="The infor- mation"), made)
    assert made.text[start:end] == "The information"


# Line by line, and back.


def test_lines_that_cannot_be_used_are_said_and_the_others_read():
    text = "\n".join([json.dumps(ROW), "{", "[]", '{"question": " "}', json.dumps(ROW)])
    questions, errors = parse_questions("set.jsonl", text)
    assert [q.id for q in questions] == ["1", "5"]
    assert [e.culprit for e in errors] == [f"set.jsonl, line {n}" for n in (2, 3, 4)]


def test_a_csv_that_breaks_off_keeps_the_rows_before():
    text = 'question,references\nWhy?,\nHow?,"[{""page"": 0.5}]"\nWhen?,\n'
    questions, errors = parse_questions("set.CSV", text)
    assert [q.text for q in questions] == ["Why?", "When?"]
    assert "names no place" in str(errors[0])


def test_what_refer_writes_of_a_cleaned_text_is_found_again():
    raw = b"---\ntenant: south\n---\n\n# Deposits   here\n\nThe **deposit** is [paid](a.md) back\nsoon.\n"
    made = extract("terms.md", raw, {})
    assert made.text != made.original
    for start, end in ((made.text.index("deposit"), len(made.text) - 1), (0, 8)):
        reference = refer(made, start, end)
        (found,) = locate(Question("q", "Where?", "terms.md", (reference,)), [made])
        assert (found.span.start, found.span.end) == (start, end)
