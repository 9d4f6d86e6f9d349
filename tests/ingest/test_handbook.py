"""A real book of 300 pages: its chapters, its page numbers, what reading it costs."""

from __future__ import annotations

import gc
import re
import time
from bisect import bisect_right
from pathlib import Path

import pytest

from core.ingest.extract import extract
from core.records import Document

# Title and page of the file, read off its pages.
CHAPTERS = [
    ("Introduction", 13), ("Time complexity", 27), ("Sorting", 35), ("Data structures", 45),
    ("Complete search", 57), ("Greedy algorithms", 67), ("Dynamic programming", 75),
    ("Amortized analysis", 87), ("Range queries", 93), ("Bit manipulation", 105),
    ("Basics of graphs", 119), ("Graph traversal", 127), ("Shortest paths", 133),
    ("Tree algorithms", 143), ("Spanning trees", 151), ("Directed graphs", 159),
    ("Strong connectivity", 167), ("Tree queries", 173), ("Paths and circuits", 183),
    ("Flows and cuts", 191), ("Number theory", 207), ("Combinatorics", 217), ("Matrices", 227),
    ("Probability", 235), ("Game theory", 245), ("String algorithms", 253),
    ("Square root algorithms", 261), ("Segment trees revisited", 267), ("Geometry", 275),
    ("Sweep line algorithms", 285),
]  # fmt: skip


@pytest.fixture(scope="module")
def data(shared_data: Path) -> bytes:
    return (shared_data / "pdfs" / "competitive_programmers_handbook.pdf").read_bytes()


@pytest.fixture(scope="module")
def book(data: bytes) -> Document:
    return extract("handbook.pdf", data, {})


def page_of(document: Document, at: int) -> int:
    return bisect_right([page.start for page in document.pages], at)


def chapters_found(document: Document) -> set[tuple[str, int]]:
    """Headings with a chapter's title, on its page, that stand above that title in the text."""
    return {
        (title, page)
        for title, page in CHAPTERS
        for heading in document.headings
        if re.sub(r"^(?:Chapter )?\d+ ", "", heading.text) == title
        and page_of(document, heading.start) == page
        and title in document.text[heading.start : heading.start + 60]
    }


def test_the_chapters_are_headings_on_their_pages(book: Document) -> None:
    assert len(chapters_found(book)) == 30


def test_the_chapters_are_found_without_an_outline_too(data: bytes) -> None:
    import pymupdf

    with pymupdf.open(stream=data, filetype="pdf") as pdf:
        pdf.set_toc([])
        bare = extract("bare.pdf", pdf.tobytes(), {})
    assert len(chapters_found(bare)) >= 28


def test_its_page_numbers_are_not_ranked(book: Document) -> None:
    running = [book.text[span.start : span.end] for span in book.unranked]
    assert {span.kind for span in book.unranked} == {"running footer"}
    numbers = [int(text) for text in running if text.isdigit()]
    assert numbers == sorted(numbers) and len(numbers) > 280
    unranked = {at for span in book.unranked for at in range(span.start, span.end)}
    for page in book.pages[12:]:
        printed = str(page.number - 10)
        last = re.search(rf"(?:^|\n)({printed})\s*$", book.text[page.start : page.end])
        assert last is None or page.start + last.start(1) in unranked


def test_reading_it_costs_little_more_than_its_bare_text(data: bytes) -> None:
    """The benchmark's bound is 3; here a busy machine is allowed for."""
    import pymupdf

    def bare() -> None:
        with pymupdf.open(stream=data, filetype="pdf") as pdf:
            for page in pdf:
                page.get_text()

    def seconds(work) -> float:
        gc.collect()
        start = time.process_time()
        work()
        return time.process_time() - start

    ratios = []
    for _ in range(5):
        ratios.append(seconds(lambda: extract("handbook.pdf", data, {})) / seconds(bare))
        if ratios[-1] < 4.0:
            return
    pytest.fail(f"reading takes {min(ratios):.1f} times the bare text's time")
