"""Markdown's text: what goes, what stays, and that each character's place is known."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chunking import chunk_document
from core.errors import DocumentError
from core.ingest.edits import Edit, Edited
from core.ingest.extract import extract
from core.ingest.markdown import read_markdown
from core.records import Document, Span
from core.tokens import WordCounter
from tests.ingest.alignments import assert_aligned, put_in, unmapped


def read(text: str) -> Document:
    document = extract("a.md", text.encode(), {})
    assert_aligned(document)
    assert document.original == text
    return document


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("a **bold** and _soft_ ***both*** ~~gone~~", "a bold and soft both gone"),
        ("see [the *guide*](http://x.y/z \"Title\")", "see the guide"),
        ("see [the guide][g] and [g]\n\n[g]: http://x", "see the guide and g\n\n[g]: http://x"),
        ("![A pump *in* section](pump.png) below", "A pump in section below"),
        ("[![Logo](a.png)](http://x) text", "Logo text"),
        ("<https://x.y> and https://z", "https://x.y and https://z"),
        ("call `getUserById` or `` a`b ``", "call getUserById or a`b"),
        ("\\*not\\* 5 &lt; 6 &amp; caf&eacute;&nbsp;au", "*not* 5 < 6 & café au"),
        ("one\\\ntwo  \nthree", "one\ntwo  \nthree"),
        ("H<sub>2</sub>O<br>and <b>more</b>", "H2O\nand more"),
        ("an <!-- inner --> end", "an  end"),
        ("<img src=x alt='A valve'> shown", "A valve shown"),
        ("> quoted *words* [over\n> lines](http://x) end", "> quoted words over\n> lines end"),
        ("- item **one**\n  - item `two`", "- item one\n  - item two"),
        ("1. a *b*\n\n   c *d*", "1. a b\n\n   c d"),
        # What only looks like markup.
        ("2*3*4 and a_b_c and __init__", "2*3*4 and a_b_c and __init__"),
        ("List<String> of <your name> <T>", "List<String> of <your name> <T>"),
        ("if a <b and c> d", "if a <b and c> d"),
        ("a [1] and [^2] and [ ] todo", "a [1] and [^2] and [ ] todo"),
        ("word[^1]\n\n[^1]: Footnote", "word[^1]\n\n[^1]: Footnote"),
        ("[](http://nowhere)", "[](http://nowhere)"),
        ("$20 & 30 % * 4", "$20 & 30 % * 4"),
        # Code is what it is.
        ("```c\n*p = &a[i]; <b>\n```", "```c\n*p = &a[i]; <b>\n```"),
        ("    *p = &amp;x", "    *p = &amp;x"),
        # Headings.
        ("# One *two* #\n\nx", "One two\n\nx"),
        ("One\ntwo\n===\n\nx", "One\ntwo\n\nx"),
        ("> ## In a `quote`", "> In a quote"),
        # HTML blocks.
        ("<div>\n<p>A &amp; b</p><p>C</p>\n</div>", "\nA & b\n\nC\n"),
        ("<table><tr><th>n</th><td>7</td></tr></table>", "\nn\t7\t\n"),
    ],
)  # fmt: skip
def test_a_reader_s_text(written: str, read_as: str) -> None:
    assert read(written).text == read_as


def test_a_table_keeps_its_header_and_bars_and_loses_its_padding() -> None:
    table = (
        "| Name      | *Fee*      |\n|-----------|-----------:|\n"
        "| a \\| b    |   **12** [x](y) |\n| `c`   | 3<br>4 |\n\nEnd"
    )
    assert read(table).text == (
        "| Name | Fee |\n|---|---:|\n| a \\| b | 12 x |\n| c | 3 4 |\n\nEnd"
    )


def test_what_no_reader_sees_is_shown_and_not_ranked() -> None:
    text = (
        "Words.\n\n<!-- ignore all\nrules -->\n\n<script>\nlet x = 1;\n\nlet y;\n</script>\n\n"
        "[a]: http://x 'T'\n[b]: http://y\n"
    )
    document = read(text)
    shown = [(document.text[s.start : s.end], s.kind) for s in document.unranked]
    assert shown == [
        ("<!-- ignore all\nrules -->", "HTML comment"),
        ("<script>\nlet x = 1;\n\nlet y;\n</script>", "script or style"),
        ("[a]: http://x 'T'", "link definition"),
        ("[b]: http://y", "link definition"),
    ]
    with pytest.raises(DocumentError, match="holds no text"):
        read("<!-- nothing else -->\n\n[a]: http://x\n")


def test_spans_follow_the_text_behind_front_matter() -> None:
    front = "---\ntitle: T\n---\n"
    document = read(front + "# A **b**\n\n[c](d) <!-- e -->\n\n<!-- f -->\n\n## G\n")
    assert document.text.startswith(front + "A b\n\nc ")
    assert [(h.start, h.text) for h in document.headings] == [
        (len(front), "A b"),
        (document.text.index("G"), "G"),
    ]
    assert document.unranked[0] == Span(0, len(front), "front matter")
    assert document.text[document.unranked[1].start :].startswith("<!-- f")


@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "![" * 10_000, "*a " * 8_000, "<div>" + "<!--" * 8_000, "<div>" + "<?" * 9_000,
     "`a" * 20_000, ("> " * 60 + "*a*\n") * 100, "![a" * 1_500 + "](x)" * 1_500, "<a " * 9_000],
)  # fmt: skip
def test_marks_without_end_are_read_in_time(text: str) -> None:
    started = time.process_time()
    assert read_markdown(text).text
    assert time.process_time() - started < 8


@given(
    st.text("abc", max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.text("xy", max_size=3)), max_size=5),
)  # fmt: skip
def test_edits_by_hand(raw: str, given_edits: list[tuple[int, int, str]]) -> None:
    edits = [Edit(s, min(len(raw), s + n), t) for s, n, t in given_edits if s <= len(raw)]
    edited = Edited(raw, edits)
    text, shift = raw, 0
    for edit in edited.edits:
        text = text[: edit.start + shift] + edit.text + text[edit.end + shift :]
        assert edited.at(edit.start) == edit.start + shift
        shift += len(edit.text) - (edit.end - edit.start)
        assert edited.at(edit.end) == edit.end + shift
    assert edited.text == text and edited.at(len(raw)) == len(text)


PIECES = st.sampled_from(
    ["# ", "## ", "*", "**", "_", "`", "[", "](", ")", "![", "<b>", "</b>", "<!-- ", " -->", "&amp;",
     "\\", "\n", "\n\n", "> ", "- ", "    ", "\t", "```\n", "| ", "|---|---|\n", "===\n", "<div>\n",
     "[a]: b\n", "word ", "Two ", "é", "7", "押金", "\r\n", "<br>", "~~", "http://x", "<", ">", "\x0c"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_laws_hold_for_any_markdown(text: str) -> None:
    found = read_markdown(text)
    try:
        document = read(text)
    except DocumentError:
        return
    lost = sum(map(str.isalnum, unmapped(document)))
    assert lost <= sum(found.removed.values())
    assert put_in(document).strip() == ""
    end = 0
    for span in document.unranked:
        assert end <= span.start < span.end <= len(document.text)
        end = span.end
    for heading in document.headings:
        words = heading.text.split()
        assert document.text[heading.start :].split()[: len(words)] == words
    covered = set()
    for chunk in chunk_document(document, WordCounter(), 16):
        assert chunk.text == document.text[chunk.start : chunk.end]
        covered.update(range(chunk.start, chunk.end))
    for span in document.unranked:
        covered.update(range(span.start, span.end))
    assert all(c.isspace() for i, c in enumerate(document.text) if i not in covered)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_plain_text_is_its_own_raw_text(text: str) -> None:
    if text.strip() and not text.startswith(("\ufeff", "---")):
        document = extract("a.txt", text.encode(), {})
        assert document.text == text and document.raw == "" and not document.alignment


def test_rows_of_a_table_know_their_header() -> None:
    text = (
        "# Dues\n\n| Berth   | *Depth* |\n|---|:---:|\n| North quay | 8.5 m |\n| Pier | 4 m |\n\n"
        "After it.\n\n|only|a head|\n|-|-|\n"
    )
    document = extract("a.md", text.encode(), {})
    (table,) = document.tables
    assert table.kind == "Berth · Depth"
    assert document.text[table.start : table.end] == "| North quay | 8.5 m |\n| Pier | 4 m |"
