"""Many files at once: the child process, its limits, the cache, duplicates, cancelling."""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Cancelled
from core.ingest import DuplicateDocument, Limits, Source, ingest
from core.ingest.cache import cache_key, load, save
from core.ingest.child import Child
from core.ingest.codec import document_from_json, document_to_json
from core.ingest.extract import extract
from core.records import Box, Document, ExtractionReport, Heading, Page, PageReport, Span
from tests.ingest.pdfs import HELVETICA, drawn, one_page, prose
from tests.laws.test_alignment import alignments


def texts(count: int) -> list[Source]:
    return [Source(f"{n:02}.txt", f"Text number {n}.".encode()) for n in range(count)]


def test_outcomes_are_sorted_by_name_whatever_the_order_given() -> None:
    sources = texts(5)
    there, back = ingest(sources), ingest(sources[::-1])
    assert [i.name for i in there] == [i.name for i in back] == [s.name for s in sources]
    assert [i.document.id for i in there] == [i.document.id for i in back]


def test_a_bad_file_among_good_ones_fails_alone() -> None:
    outcomes = ingest([Source("a.pdf", b""), *texts(2), Source("z.pdf", b"%PDF-1.4 cut")])
    assert [i.document is not None for i in outcomes] == [True, True, False, False]
    assert all((i.document is None) != (i.error is None) for i in outcomes)


def test_equal_content_is_indexed_once_under_the_first_name() -> None:
    sources = [
        Source("b.txt", b"The same words."),
        Source("a.txt", b"The same words."),
        Source("c.txt", b"The same words.", {"tenant": "t"}),
    ]
    first, second, third = ingest(sources)
    assert first.document and third.document and second.document is None
    assert isinstance(second.error, DuplicateDocument)
    assert "same content as a.txt" in str(second.error)


def test_progress_is_told_before_each_file_and_at_the_end() -> None:
    calls: list[tuple[int, int, str]] = []
    ingest(texts(2), progress=lambda *call: calls.append(call))
    assert calls == [(0, 2, "00.txt"), (1, 2, "01.txt"), (2, 2, "")]


def test_nothing_to_read_is_no_error() -> None:
    assert ingest([]) == []


def test_cancelling_stops_between_and_within_files() -> None:
    with pytest.raises(Cancelled):
        ingest(texts(3), cancelled=lambda: True)
    content = zlib.compress(b"BT /F0 9 Tf (xx) Tj ET\n" * 1_000_000)
    slow = Source("slow.pdf", one_page(content, HELVETICA, keys=b"/Filter/FlateDecode"))
    started = time.perf_counter()
    asked = threading.Event()
    with pytest.raises(Cancelled):
        ingest([slow], progress=lambda *_: asked.set(), cancelled=lambda: _later(started))
    assert asked.is_set() and time.perf_counter() - started < 5


def _later(started: float) -> bool:
    return time.perf_counter() - started > 0.1


def test_a_child_that_dies_is_replaced() -> None:
    with Child(Limits()) as child:
        first, second = texts(2)
        assert child.read(first, None).text == "Text number 0."
        child._process.kill()
        child._process.wait()
        with pytest.raises(Exception, match="memory"):
            child.read(second, None)
        assert child.read(second, None).text == "Text number 1."


def test_two_sessions_parse_at_once() -> None:
    def session(seed: int) -> list[str]:
        sources = [Source(f"{n}.pdf", drawn(prose(seed + n, 30))) for n in range(6)]
        return [outcome.document.text for outcome in ingest(sources)]

    with ThreadPoolExecutor(4) as pool:
        seeds = [0, 100, 200, 300]
        for seed, found in zip(seeds, pool.map(session, seeds), strict=True):
            for n, text in enumerate(found):
                assert f"Statement {1000 + 7 * (seed + n)} " in text


def test_the_child_sees_neither_secrets_nor_heavy_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    with Child(Limits()) as child:
        child.read(Source("a.pdf", drawn(prose(0, 4)), password="hunter3"), None)
        process = Path(f"/proc/{child._process.pid}")
        if not process.is_dir():
            pytest.skip("no /proc on this system")
        assert b"hunter" not in (process / "environ").read_bytes()
        assert b"hunter" not in (process / "cmdline").read_bytes()
        loaded = (process / "maps").read_text()
        assert "_mupdf" in loaded
        for package in ("torch", "numpy", "scipy", "onnxruntime"):
            assert f"site-packages/{package}/" not in loaded


def test_a_module_beside_the_working_directory_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    assert ingest(texts(1))[0].document is not None


def test_what_was_extracted_is_taken_from_the_cache(tmp_path: Path) -> None:
    source = Source("a.pdf", drawn(prose(0, 6)), {"roles": ["x"], "priority": 2})
    (first,) = ingest([source], cache=tmp_path)
    (second,) = ingest([source], cache=tmp_path)
    assert first == second and first.document.report.seconds == second.document.report.seconds
    assert len(list(tmp_path.iterdir())) == 1
    changed = [
        Source("a.pdf", source.data, {"roles": ["y"], "priority": 2}),
        Source("b.pdf", source.data, source.metadata),
        Source("a.pdf", source.data + b"\n", source.metadata),
    ]
    keys = {cache_key(s, Limits()) for s in [source, *changed]} | {cache_key(source, Limits(5))}
    assert len(keys) == 5


@pytest.mark.parametrize("damage", [b"", b"{}", b"null", b"[1", b'{"key": 1, "document": {}}'])
def test_a_damaged_cache_entry_is_read_again(tmp_path: Path, damage: bytes) -> None:
    (source,) = texts(1)
    (before,) = ingest([source], cache=tmp_path)
    (entry,) = tmp_path.iterdir()
    entry.write_bytes(damage)
    (after,) = ingest([source], cache=tmp_path)
    assert after.document.text == before.document.text
    changed = json.loads(entry.read_text())
    changed["document"]["access"]["tenant"] = "everyone"
    entry.write_text(json.dumps(changed))
    assert load(tmp_path, entry.stem) is None


def test_what_a_password_opened_is_not_kept(tmp_path: Path) -> None:
    import pymupdf

    data = drawn(
        prose(0, 4), encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="own"
    )
    (outcome,) = ingest([Source("a.pdf", data, password="open")], cache=tmp_path)
    assert outcome.document is not None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="permissions differ")
def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (outcome,) = ingest(texts(1), cache=tmp_path / "file" / "folder")
    assert outcome.document is not None


tenths = st.integers(-(10**5), 10**5).map(lambda n: n / 10)
boxes = st.builds(Box, *[st.integers(0, 10**7)] * 3, *[tenths] * 4)
words = st.text(max_size=20)
numbers = st.integers(0, 10**6)
documents = st.builds(
    Document,
    id=words,
    name=words,
    title=words,
    text=st.text(st.characters(), max_size=50),
    pages=st.lists(st.builds(Page, numbers, numbers, numbers), max_size=3).map(tuple),
    headings=st.lists(st.builds(Heading, numbers, numbers, words), max_size=3).map(tuple),
    unranked=st.lists(st.builds(Span, numbers, numbers, words), max_size=3).map(tuple),
    date=words,
    priority=st.integers(-9, 9),
    report=st.builds(
        ExtractionReport,
        encoding=words,
        seconds=st.floats(0, 100),
        pages=st.lists(st.builds(PageReport, numbers, numbers, numbers), max_size=2).map(tuple),
        warnings=st.lists(words, max_size=2).map(tuple),
    ),
    raw=st.text(st.characters(), max_size=50),
    alignment=alignments(),
    boxes=st.lists(boxes, max_size=3).map(tuple),
)


@given(documents)
def test_a_document_survives_json(document: Document) -> None:
    assert document_from_json(json.loads(json.dumps(document_to_json(document)))) == document


@pytest.mark.parametrize("damage", [7, "x", "!!!!", "eJw=", "eJxjYGBgAAAABAAB"])
@pytest.mark.parametrize("field", ["alignment", "boxes"])
def test_packed_numbers_that_are_none_are_refused(field: str, damage: object) -> None:
    value = document_to_json(extract("a.txt", b"words", {})) | {field: damage}
    with pytest.raises((TypeError, ValueError)):
        document_from_json(value)


def test_a_document_survives_the_cache(tmp_path: Path) -> None:
    document = extract("a.md", "---\ntenant: t\n---\n# A\n\nb \U0001f600".encode(), {})
    save(tmp_path, "k", document)
    assert load(tmp_path, "k") == document


def test_the_handbook_is_read_row_by_row(shared_data: Path) -> None:
    path = shared_data / "pdfs" / "competitive_programmers_handbook.pdf"
    (outcome,) = ingest([Source("handbook.pdf", path.read_bytes())])
    document = outcome.document
    assert len(document.pages) == 300 and document.title.startswith("Competitive Programmer")
    page = document.pages[54]
    text = document.text[page.start : page.end]
    assert "Efficiency comparison" in text
    assert "4·106\t7.7 s\t1.7 s\t0.7 s\n5·106\t10.0 s\t2.3 s\t0.9 s" in text
    at = page.start + text.index("Efficiency comparison")
    path = [h for h in document.headings if h.start <= at]
    assert path[-1].text == "Efficiency comparison" and path[-1].start == at
    assert [h.text for h in path if h.level == 2][-1] == "Data structures"
    assert "O(√n) A square root algorithm" in document.text
    # The sentence that runs over to the next page is whole.
    assert "sorting is a\nsimple procedure and it is done only once" in document.text


def test_small_files_kept_before_cost_about_as_much_as_reading_them(tmp_path: Path) -> None:
    sources = [Source(f"{n:04}.md", f"# File {n}\n\nText **{n}**.".encode()) for n in range(300)]
    ingest(sources, cache=tmp_path)
    spent = []
    for _ in range(3):
        started = time.process_time()
        outcomes = ingest(sources, cache=tmp_path)
        spent.append(time.process_time() - started)
    assert all(outcome.document for outcome in outcomes)
    # 0.2 ms a file on the machine that this was written on.
    assert min(spent) / len(sources) < 0.003
