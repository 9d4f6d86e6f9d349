"""What was pasted or pointed at, found in the documents."""

from __future__ import annotations

import pytest

from core.diagnosis import target_of_chunk, target_of_evidence, target_of_span, targets_of_passage
from core.diagnosis.matching import Words, matches
from core.questions import Evidence, Reference
from core.records import ExtractionReport, Page, PageReport, Span
from tests.stages.made import index_of, named, names
from tests.worlds import document, index

TEXT = (
    "Pilots board at the outer buoy. The vessel’s master may not refuse a pilot, “except in fog”, "
    "and pays the infor-\nmation fee of 1,200 EUR.\n\nA naïve reader of the ﬁnal rule asks why."
)


def place(pasted: str, text: str = TEXT) -> list[str]:
    """The stretches of ``text`` that hold what was pasted."""
    found = matches(Words(text), Words(pasted))
    return [text[s:e] for m in found for s, e in m.stretches]


@pytest.mark.parametrize(
    ("pasted", "found"),
    [
        ("the  vessel's\nMASTER may not", "The vessel’s master may not"),
        ('a pilot "except in fog" and', "a pilot, “except in fog”, and"),
        ("the information fee", "the infor-\nmation fee"),
        ("A NAIVE READER of the final rule", "A naïve reader of the ﬁnal rule"),
        ("fee of 1200 EUR", "fee of 1,200 EUR"),
        ("lots board at the ou", "lots board at the ou"),
    ],
)
def test_a_passage_is_found_however_it_is_written(pasted, found):
    assert place(pasted) == [found]


def test_few_letters_must_be_whole_words():
    assert place("art", "The start of art.") == ["art"]
    assert place("tar", "The start of art.") == []


def test_each_place_of_a_passage_is_a_match():
    assert place("same words here", "Same words here. And the same words here.") == [
        "Same words here",
        "same words here",
    ]


def test_chinese_is_found_by_its_characters():
    assert place("押金退还", "规定:押 金退还需要七天。") == ["押 金退还"]


def test_what_is_changed_in_part_is_found_in_part():
    text = "One two three four five six seven eight nine ten eleven twelve."
    (match,) = matches(Words(text), Words("two three four five BUT eight nine ten eleven OR NOT"))
    assert [text[s:e] for s, e in match.stretches] == [
        "two three four five six seven eight nine ten eleven"
    ]
    assert match.missing == ("BUT", "OR NOT")
    assert match.share == pytest.approx(8 / 11)


def test_two_stretches_far_apart_are_two():
    gap = " ".join(f"w{i}" for i in range(200))
    text = f"alpha beta gamma delta epsilon zeta eta {gap} one two three four five six seven."
    pasted = "alpha beta gamma delta epsilon zeta eta one two three four five six seven"
    (match,) = matches(Words(text), Words(pasted))
    assert len(match.stretches) == 2 and match.share == 1.0


def test_what_only_sounds_alike_is_not_found():
    assert place("the vessel refused a pilot in thick fog at the buoy of the harbour") == []


def test_a_target_is_the_chunks_that_a_passage_spans():
    made = index_of({"a": ["alpha beta gamma.", "delta epsilon zeta."], "b": ["eta theta."]})
    (target,) = targets_of_passage(made, "Beta gamma\n\ndelta")
    assert names(made, target.chunk_ids) == ["a1", "a2"]
    assert [made.document(p.document_id).text[p.start : p.end] for p in target.pieces] == [
        "beta gamma.",
        "delta",
    ]


def test_a_passage_in_two_documents_is_two_targets():
    made = index_of(
        {"a": ["the same rule stands here."], "b": ["intro", "the same rule stands here."]}
    )
    found = targets_of_passage(made, "same rule stands here")
    assert sorted(n for t in found for n in names(made, t.chunk_ids)) == ["a1", "b2"]


def test_the_document_with_most_of_it_wins():
    made = index_of(
        {
            "a": ["one two three four five six seven and eight"],
            "b": ["one two three four five six seven eight nine ten"],
        }
    )
    (target,) = targets_of_passage(made, "one two three four five six seven eight nine TWELVE")
    assert names(made, target.chunk_ids) == ["b1"]
    assert target.missing == ("TWELVE",) and target.share == pytest.approx(0.9)


def scanned(*pages: PageReport):
    text = "Words that can be read stand on this page alone."
    made = document(text, "scan.pdf", pages=tuple(Page(p.number, 0, 0) for p in pages))
    from dataclasses import replace

    return replace(made, report=ExtractionReport(pages=pages))


def test_a_passage_of_no_text_names_the_pages_that_could_hold_it():
    pages = (
        PageReport(1, 900),
        PageReport(2, 0, 1, ("The page is a picture without text: nothing on it can be found.",)),
        PageReport(3, 0),
        PageReport(4, 800, 0, ("The text layer is unreliable: the font does not say which.",)),
    )
    (target,) = targets_of_passage(index([scanned(*pages)]), "what nobody wrote down anywhere")
    assert not target.pieces and "not in any document" in target.problem
    assert [(s.document, s.page) for s in target.silent] == [("scan.pdf", 2), ("scan.pdf", 4)]
    (clean,) = targets_of_passage(index([scanned(PageReport(1, 900))]), "what nobody wrote down")
    assert clean.silent == ()


def test_a_passage_without_a_word_is_told_apart():
    (target,) = targets_of_passage(index_of({"a": ["alpha"]}), " … — ")
    assert "no word" in target.problem


def test_an_unranked_stretch_says_where_it_stands():
    from dataclasses import replace

    made = document("Running head\n\nThe body of the text.", "a.pdf")
    made = replace(made, unranked=(Span(0, 12, "running header"),))
    (target,) = targets_of_passage(index([made]), "running head")
    assert not target.pieces and "running header of a.pdf" in target.problem


def test_evidence_by_span_quote_and_page():
    made = index_of({"a": ["alpha beta.", "gamma delta."]})
    source = made.documents[0].id
    by_span = target_of_evidence(made, Evidence(Reference(start=0, end=5), source, Span(0, 5)))
    assert names(made, by_span.chunk_ids) == ["a1"]
    quote = target_of_evidence(made, Evidence(Reference(quote="GAMMA  delta")))
    assert names(made, quote.chunk_ids) == ["a2"] and quote.kind == "evidence"
    assert target_of_evidence(made, Evidence(Reference(start=3, end=9))).problem


def test_evidence_on_a_page_without_text():
    warning = "The page is a picture without text: nothing on it can be found."
    made = scanned(PageReport(1, 900), PageReport(2, 0, 1, (warning,)))
    target = target_of_evidence(
        index([made]), Evidence(Reference(page=2), made.id, Span(0, 0, "page"))
    )
    assert "page without text" in target.problem
    assert [s.page for s in target.silent] == [2]


def test_what_is_in_no_document_is_no_error():
    made = index_of({"a": ["alpha"]})
    for target in (
        target_of_chunk(made, "0" * 16 + ":000000"),
        target_of_span(made, "0" * 16, 0, 3),
    ):
        assert not target.pieces and target.problem == "is in none of the documents"
    assert target_of_chunk(made, named(made, "a1")).pieces
