"""The content decides what a file is, not its name."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest

from core.errors import DocumentError
from core.ingest.detect import MARKDOWN, PDF, TEXT, detect
from core.ingest.extract import extract
from tests.ingest.pdfs import drawn, prose


def refused(name: str, data: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        detect(name, data)
    return caught.value.problem


def test_a_web_page_named_pdf_is_refused_as_a_web_page() -> None:
    assert "HTML page, not a PDF" in refused("a.pdf", b"<!DOCTYPE html><html>Sign in</html>")
    assert "HTML page" in refused("a.pdf", b"\xef\xbb\xbf\n<!-- x -->\n<HTML lang=en>")


@pytest.mark.parametrize("name", ["a.pdf", "a.md", "a.txt"])
def test_a_pointer_of_git_lfs_is_no_document(name: str) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 812345\n"
    assert "pointer of Git LFS" in refused(name, pointer)


def test_html_in_markdown_is_markdown() -> None:
    assert detect("a.md", b"<p align=center>Title</p>\n\n# A") == (MARKDOWN, ())
    kind, warnings = detect("a.md", b"<!doctype html><html></html>")
    assert kind == MARKDOWN and warnings


def test_a_pdf_named_txt_is_read_as_a_pdf_and_says_so() -> None:
    document = extract("a.txt", drawn(prose(0, 4)), {})
    assert document.report.media_type == "application/pdf"
    assert "holds a PDF" in document.report.warnings[0]


def test_a_text_about_pdf_is_a_text() -> None:
    assert detect("a.md", b"%PDF-1.7 is how such files begin.")[0] == MARKDOWN
    assert detect("a.txt", b"The header is %PDF-1.7, then come obj and endobj.")[0] == TEXT


def test_junk_before_the_header_is_forgiven() -> None:
    assert detect("a.pdf", b"HTTP/1.1 200 OK\r\n\r\n%PDF-1.4 ...")[0] == PDF


def test_text_named_pdf_is_read_with_a_warning() -> None:
    kind, warnings = detect("a.pdf", b"just words")
    assert kind == TEXT and "plain text" in warnings[0]


def test_other_formats_are_called_by_their_names() -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("word/document.xml", "<w/>")
    assert "Word document" in refused("a.pdf", packed.getvalue())
    assert "PNG picture" in refused("a.txt", b"\x89PNG\r\n\x1a\n rest")
    assert "RTF" in refused("a.txt", b"{\\rtf1 words}")
    assert "old Office" in refused("a.txt", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))


def test_text_may_begin_with_the_letters_of_a_magic_number() -> None:
    assert detect("a.txt", b"ID3 is a decision-tree algorithm.")[0] == TEXT
    assert detect("a.txt", b"BZh is not a word.")[0] == TEXT


def test_binary_data_is_no_text() -> None:
    with pytest.raises(DocumentError, match="binary"):
        extract("a.txt", bytes(range(256)) * 8, {})
