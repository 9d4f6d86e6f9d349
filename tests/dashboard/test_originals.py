"""The files behind PDFs, the sets of documents that links name, and lines on a page."""

from __future__ import annotations

import pytest

from core.errors import DocumentError
from core.ingest import Source, ingest, sources_from_paths
from core.records import Box, Chunk, Document, Page, chunk_id, document_id
from dashboard import shelves
from dashboard.originals import originals
from dashboard.page_lines import page_lines
from dashboard.shelf import Shelf
from tests.ingest.pdfs import drawn, prose


def shelf_of(sources) -> Shelf:
    outcomes = ingest(sources)
    documents = [o.document for o in outcomes if o.document is not None]
    return Shelf().adding(documents, (), originals(sources, outcomes))


def test_an_upload_is_kept_and_a_text_needs_none():
    data = drawn(prose(1, 4))
    shelf = shelf_of([Source("a.pdf", data), Source("b.md", b"# Title\n\nWords.")])
    (document,) = [d for d in shelf.documents if d.name == "a.pdf"]
    assert set(shelf.originals) == {document.id}
    assert shelf.originals[document.id].source().data == data
    assert not shelf.without({document.id}).originals


def test_a_file_is_read_again_and_must_still_be_the_same(tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(drawn(prose(1, 4)))
    (original,) = shelf_of(sources_from_paths([path])).originals.values()
    assert original.data == b"" and original.source().data == path.read_bytes()
    path.write_bytes(drawn(prose(9, 4)))
    with pytest.raises(DocumentError, match="has changed since it was read"):
        original.source()
    path.unlink()
    with pytest.raises(DocumentError, match="cannot be read again"):
        original.source()


def test_the_last_few_sets_of_documents_are_found_by_their_fingerprint():
    made = [shelf_of([Source("n.txt", f"Note {n}.".encode())]) for n in range(shelves.MOST + 1)]
    for shelf in made:
        shelves.keep(shelf)
    assert shelves.kept(made[-1].fingerprint) is made[-1]
    assert shelves.kept(made[0].fingerprint) is None
    assert shelves.kept("0" * 16) is None


TEXT = "One two three. Four five six.\nSeven eight nine."


def placed() -> Document:
    """A document of two lines, of which the first holds the end of one chunk and the next."""
    pages = (Page(1, 0, len(TEXT)),)
    return Document(
        document_id(TEXT, pages),
        "a.pdf",
        "A",
        TEXT,
        pages=pages,
        boxes=(Box(0, 29, 1, 10.0, 20.0, 300.0, 32.0), Box(30, 48, 1, 10.0, 34.0, 190.0, 46.0)),
    )


def chunked(document: Document, spans: list[tuple[int, int]]) -> list[Chunk]:
    return [
        Chunk(chunk_id(document.id, n), document.id, n, a, b, document.text[a:b], 5, (1, 1))
        for n, (a, b) in enumerate(spans)
    ]


def test_a_line_is_cut_where_one_chunk_ends_and_the_next_begins():
    document = placed()
    chunks = chunked(document, [(0, 15), (15, 48)])
    lines = page_lines(document, chunks, 1)
    assert [(x.ordinal, x.first) for x in lines] == [(0, True), (1, True), (1, False)]
    assert [x.box for x in lines] == [
        (10.0, 20.0, 160.0, 32.0),
        (160.0, 20.0, 300.0, 32.0),
        (10.0, 34.0, 190.0, 46.0),
    ]
    assert page_lines(document, chunks, 2) == []


def test_what_is_in_no_chunk_is_a_line_of_its_own():
    document = placed()
    chunks = chunked(document, [(15, 29)])
    lines = page_lines(document, chunks, 1)
    assert [x.chunk_id != "" for x in lines] == [False, True, False]
    assert lines[0].box == (10.0, 20.0, 160.0, 32.0)
