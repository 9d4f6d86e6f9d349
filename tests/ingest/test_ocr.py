"""Text recognition: only where asked for, only of pictures, and marked as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import DocumentError
from core.ingest import Limits, Source, ingest, ocr, page_health, unextracted_pages
from core.ingest.extract import extract
from tests.ingest.alignments import assert_aligned
from tests.ingest.pdfs import drawn, prose

needs_tesseract = pytest.mark.skipif(
    "eng" not in ocr.languages(), reason="tesseract with its English is not installed"
)
LINES = ["The harbour office found that the pilot", "was aboard at noon on 7 March 2026."]


def scan(*lines: str, rotate: int = 0) -> Any:
    """A page that is a picture of these lines."""
    import pymupdf

    with pymupdf.open() as shown:
        page = shown.new_page(width=595, height=842)
        for index, line in enumerate(lines):
            page.insert_text((72, 100 + 30 * index), line, fontsize=16)
        pixels = page.get_pixmap(dpi=150)

    def draw(page: Any) -> None:
        page.insert_image(page.rect, pixmap=pixels)
        page.set_rotation(rotate)

    return draw


def stamped(page: Any) -> None:
    scan(*LINES)(page)
    page.insert_text((72, 800), "Stamp 12")


def test_nothing_is_recognised_unasked() -> None:
    with pytest.raises(DocumentError, match="picture without text.*Turn on text recognition"):
        extract("a.pdf", drawn(scan(*LINES)), {})
    document = extract("a.pdf", drawn(prose(0, 3), scan(*LINES)), {})
    assert [page.number for page in unextracted_pages(document)] == [2]
    assert not any(page.ocr or page.recognised for page in document.report.pages)


@needs_tesseract
def test_a_picture_s_text_is_read_and_marked() -> None:
    (outcome,) = ingest([Source("a.pdf", drawn(prose(0, 3), scan(*LINES)))], Limits(ocr=True))
    document = outcome.document
    assert " ".join(LINES) in " ".join(document.text.split())
    first, second = document.report.pages
    assert (first.ocr, first.recognised) == ("", False)
    assert (second.ocr, second.recognised) == ("eng", True)
    assert "recognised (OCR)" in second.warnings[0]
    assert document.report.warnings[0].startswith("Page 2 of 2 is a picture: its text was recog")
    assert page_health(second).severity == "doubtful" and not unextracted_pages(document)
    assert_aligned(document)
    boxes = {document.text[b.start : b.end].strip(): b for b in document.boxes if b.page == 2}
    assert 60 < boxes[LINES[0]].x0 < 85 and 80 < boxes[LINES[0]].y0 < 105


@needs_tesseract
def test_what_the_text_layer_holds_is_kept_and_not_read_twice() -> None:
    document = extract("a.pdf", drawn(stamped), {}, limits=Limits(ocr=True))
    assert document.text.count("Stamp 12") == 1 and LINES[1] in document.text


@needs_tesseract
def test_a_blank_picture_says_that_nothing_was_recognised() -> None:
    document = extract("a.pdf", drawn(prose(0, 3), scan()), {}, limits=Limits(ocr=True))
    assert "gave no text" in "".join(document.report.pages[1].warnings)
    assert [page.number for page in unextracted_pages(document)] == [2]


@needs_tesseract
def test_a_language_that_is_not_there_is_named() -> None:
    with pytest.raises(DocumentError, match="no language “xyz”.*tesseract-ocr-xyz"):
        ingest([Source("a.txt", b"words")], Limits(ocr=True, ocr_language="eng+xyz"))


@needs_tesseract
@pytest.mark.parametrize("typed", ["x; rm -rf ~", "chi sim", "../deu", "$(id)", "eng+", "German"])
def test_what_was_typed_becomes_no_part_of_a_command(typed: str) -> None:
    with pytest.raises(DocumentError) as caught:
        ocr.require(typed)
    assert typed not in caught.value.remedy and "apt-get" not in caught.value.remedy
    assert "chi_sim" in caught.value.remedy


@needs_tesseract
def test_the_package_of_a_language_has_no_underscore_in_its_name() -> None:
    with pytest.raises(DocumentError, match=r"apt-get install tesseract-ocr-frk-latf\)"):
        ocr.require("frk_Latf")


@needs_tesseract
def test_on_a_turned_page_what_is_recognised_stands_where_it_is_shown() -> None:
    def turned(page: Any) -> None:
        import pymupdf

        with pymupdf.open(stream=drawn(scan(*LINES)), filetype="pdf") as shown:
            pixels = shown[0].get_pixmap(dpi=150)
        page.set_mediabox(pymupdf.Rect(0, 0, 842, 595))
        page.insert_image(page.rect, pixmap=pixels, rotate=90)
        page.set_rotation(90)

    document = extract("a.pdf", drawn(turned), {}, limits=Limits(ocr=True))
    assert " ".join(LINES) in " ".join(document.text.split())
    first = document.boxes[0]
    assert 60 < first.x0 < 90 and 80 < first.y0 < 110 and first.x1 - first.x0 > 200
    assert not any("sideways" in warning for warning in document.report.pages[0].warnings)


def test_where_tesseract_is_missing_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TESSDATA_PREFIX", raising=False)
    ocr.languages_folder.cache_clear()
    try:
        assert ocr.languages() == ()
        with pytest.raises(DocumentError, match="not installed.*apt-get install tesseract-ocr"):
            ingest([Source("a.txt", b"words")], Limits(ocr=True))
        (outcome,) = ingest([Source("a.txt", b"words")])
        assert outcome.document is not None
    finally:
        ocr.languages_folder.cache_clear()
