"""What the bytes are, whatever the file is called."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from core.errors import DocumentError

PDF, MARKDOWN, TEXT = "pdf", "markdown", "text"
MEDIA_TYPES = {PDF: "application/pdf", MARKDOWN: "text/markdown", TEXT: "text/plain"}

_MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_SAVE_AS = "Save it as PDF, Markdown or plain text."

# Leading bytes → what a person calls such a file.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (.doc, .xls or .ppt)"),
    (b"{\\rtf", "a rich text (RTF) document"),
    (b"%!PS", "a PostScript file"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a Windows program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"AT&TFORM", "a DjVu document"),
    (b"bplist00", "a property list"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"PAR1", "a Parquet table"),
)

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)


def detect(name: str, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The kind (``PDF``, ``MARKDOWN`` or ``TEXT``) and warnings about the file's suffix.

    Raises DocumentError, naming what the content is, for what is none of the three.
    """
    if not data.strip(b"\x00 \t\r\n"):
        what = "empty (0 bytes)" if not data else "blank"
        raise DocumentError(name, f"the file is {what}", "Save it again, or remove it.")
    suffix = PurePosixPath(name).suffix.lower()
    if _is_pdf(data, suffix):
        misnamed = suffix not in ("", ".pdf")
        return PDF, (f"The file is named {suffix} but holds a PDF, and is read as one.",) * misnamed
    head = data[:4096]
    text_head = head.removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(text_head):
        return _html(name, suffix)
    if head.startswith(_LFS_POINTER):
        problem = "the file holds a pointer of Git LFS in place of the document"
        raise DocumentError(name, problem, "Fetch the document with: git lfs pull.")
    if what := _signature(data):
        raise DocumentError(name, f"the file holds {what}, not {_expected(suffix)}", _SAVE_AS)
    if suffix in _MARKDOWN_SUFFIXES:
        return MARKDOWN, ()
    if suffix == ".pdf":
        return TEXT, ("The file is named .pdf but holds plain text, and is read as such.",)
    return TEXT, ()


def known_kind(data: bytes) -> str:
    """What a person calls a file that is no text ("a PDF", "a PNG picture"); "" where its first
    bytes do not say."""
    return "a PDF" if _is_pdf(data, "") else _signature(data)


def _is_pdf(data: bytes, suffix: str) -> bool:
    """Whether the header is at the start, or after some junk in what else looks like a PDF.

    Readers accept ``%PDF-`` within the first 1,024 bytes; so would a text about PDF be taken
    for one, if nothing more were asked.
    """
    at = data[:1029].find(b"%PDF-")
    if at < 0:
        return False
    if not data[:at].strip(b"\xef\xbb\xbf\x00 \t\r\n"):
        return suffix in ("", ".pdf") or b"endobj" in data
    return suffix == ".pdf" or (b"endobj" in data and b"\x00" in data)


def _html(name: str, suffix: str) -> tuple[str, tuple[str, ...]]:
    if suffix in _MARKDOWN_SUFFIXES:
        return MARKDOWN, ("The file holds an HTML page: its tags are read as text.",)
    if suffix in (".txt", ".text", ".rst"):
        return TEXT, ("The file holds an HTML page: its tags are read as text.",)
    remedy = "Open it in a browser and save the page as PDF, or fetch the real file again."
    raise DocumentError(name, f"the file holds an HTML page, not {_expected(suffix)}", remedy)


def _expected(suffix: str) -> str:
    if suffix in _MARKDOWN_SUFFIXES:
        return "Markdown"
    return {".pdf": "a PDF"}.get(suffix, "text")


def _signature(data: bytes) -> str:
    if data.startswith(b"PK\x03\x04"):
        return _zip(data)
    if data[4:8] == b"ftyp":
        return "a video or a HEIF picture"
    if data.startswith(b"RIFF") and data[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "a picture or a recording"
    for magic, what in _SIGNATURES:
        if data.startswith(magic):
            # Text can begin with the letters of a short magic number; no binary file of these
            # kinds lacks bytes that text never holds.
            if magic.isalnum() and not re.search(rb"[\x00-\x08\x0e-\x1a]", data[:512]):
                continue
            return what
    return ""


def _zip(data: bytes) -> str:
    head = data[:4096]
    for mark, what in (
        (b"word/", "a Word document (.docx)"),
        (b"xl/", "an Excel workbook (.xlsx)"),
        (b"ppt/", "a PowerPoint presentation (.pptx)"),
        (b"application/epub+zip", "an EPUB book"),
        (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
        (b"[Content_Types].xml", "an Office document"),
    ):
        if mark in head:
            return what
    return "a ZIP archive"
