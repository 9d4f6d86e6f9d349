"""PDFs that are broken, locked, empty or hostile: one readable message each."""

from __future__ import annotations

import time
import zlib
from typing import Any

import pytest

from core.errors import DocumentError
from core.ingest import Limits, Source, ingest
from core.ingest.bombs import unpacks_past
from core.ingest.child import Child
from core.ingest.extract import extract
from tests.ingest.pdfs import HELVETICA, coded, drawn, one_page, prose, raw

HELLO = b"BT /F0 12 Tf 50 200 Td (Hello, one page of text) Tj ET"


def problem(data: bytes, **more: Any) -> str:
    with pytest.raises(DocumentError) as caught:
        extract("bad.pdf", data, {}, **more)
    assert str(caught.value).startswith("bad.pdf: ")
    assert caught.value.remedy
    return caught.value.problem


def picture(page: Any) -> None:
    import pymupdf

    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 60))
    pixels.clear_with(120)
    page.insert_image(page.rect, pixmap=pixels)


def test_an_empty_file_is_named_as_such() -> None:
    assert problem(b"") == "the file is empty (0 bytes)"
    assert problem(b"\n \n") == "the file is blank"


def test_a_file_cut_short_says_that_it_was_repaired() -> None:
    whole = drawn(prose(0, 20), prose(20, 20), prose(40, 20))
    document = extract("cut.pdf", whole[: int(len(whole) * 0.6)], {})
    assert "repaired" in document.report.warnings[0]
    assert sum(page.characters for page in document.report.pages) < 3000


def test_a_header_alone_is_no_pdf() -> None:
    assert "damaged" in problem(b"%PDF-1.7\nnothing more") or "pages" in problem(b"%PDF-1.7\n")


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        (b"<</Type/Pages/Kids[]/Count 0>>", "without any pages"),
        (b"<</Type/Pages/Kids[3 0 R]/Count 100000>>", "page tree"),
        (b"<</Type/Pages/Kids[2 0 R]/Count 1>>", "none of its pages"),
    ],
)
def test_a_broken_page_tree_is_named(pages: bytes, said: str) -> None:
    assert said in problem(one_page(HELLO, HELVETICA, pages=pages))


def test_one_bad_page_does_not_take_the_good_ones_along() -> None:
    pages = b"<</Type/Pages/Kids[3 0 R 2 0 R]/Count 2>>"
    document = extract("half.pdf", one_page(HELLO, HELVETICA, pages=pages), {})
    assert document.text == "Hello, one page of text"
    assert document.report.warnings == ("Page 2 of 2 could not be read.",)


def test_a_user_password_is_asked_for_and_an_owner_password_is_not() -> None:
    import pymupdf

    aes = pymupdf.PDF_ENCRYPT_AES_256
    locked = drawn(prose(0, 4), encryption=aes, user_pw="open", owner_pw="own")
    assert problem(locked) == "it needs a password"
    for wrong in ("wrong", "o\x00pen", "\ud800", "ö" * 500):
        assert problem(locked, password=wrong) == "the password given does not open it"
    assert "Statement" in extract("a.pdf", locked, {}, "open").text
    owned = drawn(prose(0, 4), encryption=aes, user_pw="", owner_pw="own")
    assert "Statement" in extract("a.pdf", owned, {}).text


def test_pages_without_text_are_named() -> None:
    pages = [picture if n not in (3, 6) else prose(n, 4) for n in range(1, 11)]
    document = extract("scan.pdf", drawn(*pages), {})
    assert document.report.warnings[0].startswith("Pages 1–2, 4–5, 7–10 of 10 hold no text")
    assert [page.characters > 0 for page in document.report.pages] == [
        n in (3, 6) for n in range(1, 11)
    ]
    assert document.report.pages[0].images == 1
    assert "picture without text" in document.report.pages[0].warnings[0]


def test_a_document_without_any_text_is_an_error() -> None:
    assert problem(drawn(picture)) == "its only page is a picture without text"
    assert problem(drawn(picture, picture)) == "its pages are pictures without text"


def test_a_document_whose_text_nobody_sees_is_an_error() -> None:
    def hidden(page: Any) -> None:
        page.insert_text((72, 100), "obey the following", render_mode=3)

    assert "all of its text is invisible" in problem(drawn(hidden))


def test_a_stream_packed_many_times_over_hits_a_limit_in_seconds() -> None:
    packer = zlib.compressobj(9)
    layer = b"".join(packer.compress(b" " * 2**20) for _ in range(300)) + packer.flush()
    for _ in range(2):
        layer = zlib.compress(layer, 9)
    assert len(layer) < 7000
    bomb = one_page(layer, HELVETICA, keys=b"/Filter[/FlateDecode/FlateDecode/FlateDecode]")
    started = time.perf_counter()
    good, bad = ingest([Source("bomb.pdf", bomb), Source("a.pdf", drawn(prose(0, 4)))])
    assert time.perf_counter() - started < 20
    assert good.document is not None
    assert "unpacks to more than 256 MB" in str(bad.error)


def test_a_table_that_claims_objects_without_number_costs_nothing() -> None:
    data = one_page(HELLO, HELVETICA).replace(b"/Size 6", b"/Size 2000000000")
    started = time.perf_counter()
    assert extract("a.pdf", data, {}).text == "Hello, one page of text"
    assert time.perf_counter() - started < 10


def test_unpacking_is_measured_without_keeping_it() -> None:
    data = bytes(3_000_000)
    twice = zlib.compress(zlib.compress(data))
    assert unpacks_past(twice, 2, len(data) - 1)
    assert not unpacks_past(twice, 2, len(data))
    assert not unpacks_past(b"no zlib at all", 1, 10)


def test_a_page_that_takes_too_long_is_given_up() -> None:
    # Ten million drawing steps: small when packed, and slow.
    content = zlib.compress(b"BT /F0 9 Tf (xx) Tj ET\n" * 3_000_000, 9)
    slow = one_page(content, HELVETICA, keys=b"/Filter/FlateDecode")
    bad, good = ingest(
        [Source("slow.pdf", slow), Source("text.txt", b"It still lives.")],
        Limits(seconds=1, characters=10**9),
    )
    assert "more than the limit of 1 seconds" in str(bad.error)
    assert good.document is not None


def test_memory_is_limited() -> None:
    content = zlib.compress(b"BT /F0 9 Tf (" + b"x" * 60_000_000 + b") Tj ET", 9)
    big = one_page(content, HELVETICA, keys=b"/Filter/FlateDecode")
    bad, good = ingest(
        [Source("big.pdf", big), Source("text.txt", b"It still lives.")], Limits(memory_mb=400)
    )
    assert bad.document is None and "limit" in str(bad.error)
    assert good.document is not None


def test_a_file_after_one_that_ran_out_of_memory_is_read_by_another_process() -> None:
    """Of what was used up not all is given back: a good file would fail, or crash, by it."""
    content = zlib.compress(b"BT /F0 9 Tf (" + b"x" * 60_000_000 + b") Tj ET", 9)
    big = Source("big.pdf", one_page(content, HELVETICA, keys=b"/Filter/FlateDecode"))
    with Child(Limits(memory_mb=400)) as child:
        child.read(Source("a.txt", b"Before."), None)
        before = child._process.pid
        child.read(Source("b.txt", b"Between."), None)
        assert child._process.pid == before
        with pytest.raises(DocumentError, match="400 MB of memory"):
            child.read(big, None)
        assert child.read(Source("c.txt", b"After."), None).text == "After."
        assert child._process.pid != before


def test_a_file_of_which_no_page_is_left_is_damaged() -> None:
    data = drawn(*(prose(n, 20) for n in range(30)))
    at = data.index(b"/Type/Page")
    assert "damaged" in problem(data[: max(at, 200)])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (one_page(b"", HELVETICA), "its pages are blank"),
        (one_page(b"9 9 99 99 re f", HELVETICA), "it holds drawings but no text"),
        (coded("\ue041\ue042\ue043"), "no meaning outside their font"),
    ],
)
def test_what_a_document_without_text_holds_is_said(data: bytes, said: str) -> None:
    assert said in problem(data)


def test_pages_and_characters_are_limited() -> None:
    data = drawn(prose(0, 4), prose(4, 4))
    assert "claims 2 pages" in problem(data, limits=Limits(pages=1))
    assert "longer than the limit of 100 characters" in problem(data, limits=Limits(characters=100))


def test_objects_that_are_no_pages_are_no_crash() -> None:
    data = raw([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[1 0 R 9 0 R]/Count 2>>"])
    assert problem(data)


@pytest.mark.parametrize("matrix", [b"1 0 0 99999999", b"1 0 99999999 1", b"99999999 0 0 1"])
def test_coordinates_of_no_page_are_held_within_bounds(matrix: bytes) -> None:
    content = b"BT /F0 12 Tf 50 250 Td (near) Tj ET BT /F0 12 Tf %s 60 200 Tm (far and wide) Tj ET"
    (outcome,) = ingest([Source("far.pdf", one_page(content % matrix, HELVETICA))])
    assert outcome.document is not None and "near" in outcome.document.text
    assert all(abs(corner) <= 1e6 for box in outcome.document.boxes for corner in box[3:])
