"""The first article's question about the Competitive Programmer's Handbook, on the true book."""

from __future__ import annotations

import pytest

from core.session import embedded_pipeline, open_documents
from core.settings import Settings

QUESTION = (
    "How significant are the efficiency gaps between the algorithms introduced in the "
    "Data Structures chapter?"
)


@pytest.fixture(scope="module")
def pipeline():
    return embedded_pipeline()


@pytest.mark.timeout(600)
def test_the_table_of_running_times_is_in_the_prompt_at_2000_tokens(shared_data, pipeline):
    book = shared_data / "pdfs" / "competitive_programmers_handbook.pdf"
    corpus = open_documents([book], encoder=pipeline.encoder)
    (file,) = corpus.files
    assert file.error is None
    assert len(file.document.pages) == 300
    trace = pipeline.run(corpus.index, QUESTION, Settings(evidence_budget=2000))
    assert trace.ledger.evidence <= 2000
    (table,) = [p for p in trace.selected if "1.5 s" in p.text and "0.3 s" in p.text]
    assert table.pages == (55, 55)
    # Three columns in their order: the rows of the table can be read.
    assert [row.split()[-6:] for row in table.text.splitlines() if "1.5 s" in row] == [
        ["1.5", "s", "0.3", "s", "0.2", "s"]
    ]
    chapter = next(h for h in corpus.index.chunk(table.chunk_id).headings if "tructures" in h)
    assert chapter.endswith("Data structures")
