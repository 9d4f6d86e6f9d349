"""Two real pipelines on the sample documents: ours, and one of rank-bm25 over paragraphs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.compare_traces import difference, markdown
from core.interchange import read_traces
from core.session import embedded_pipeline, open_documents

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "May I fly business class for seven hours?"


def other_pipeline(corpus, name: str, top_k: int) -> dict:
    """Chunks found by rank-bm25, cut to a few by a second look at their length, as it exports."""
    rank_bm25 = pytest.importorskip("rank_bm25")

    def words(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    chunks = list(corpus.index.chunks)
    names = {d.id: d.name for d in corpus.index.documents}
    model = rank_bm25.BM25Okapi([words(c.text) for c in chunks])
    scores = model.get_scores(words(QUESTION))
    order = sorted(range(len(chunks)), key=lambda i: -scores[i])[:top_k]

    def result(i: int) -> dict:
        c = chunks[i]
        return {
            "id": f"p{i}",
            "text": c.text,
            "score": float(scores[i]),
            "metadata": {"source": f"/data/{names[c.document_id]}", "start": c.start, "end": c.end},
        }

    short = [i for i in order if len(chunks[i].text) < 700][:3]
    prompt = "\n\n".join(chunks[i].text for i in short)
    return {
        "question": QUESTION,
        "pipeline": name,
        "stages": [
            {
                "name": "retrieve",
                "settings": {"top_k": top_k},
                "results": [result(i) for i in order],
            },
            {"name": "budget", "results": [result(i) for i in short]},
        ],
        "prompt": f"{prompt}\n\n{QUESTION}",
    }


def test_ours_and_another_one_are_compared(tmp_path):
    pipeline = embedded_pipeline()
    corpus = open_documents([ROOT / "sample_docs"], encoder=pipeline.encoder, cache=tmp_path)
    ours = pipeline.run(corpus.index, QUESTION)
    theirs = read_traces(json.dumps(other_pipeline(corpus, "plain", 12)))[0].trace
    found = difference(ours, theirs, ("ours", "theirs"))
    assert {c.joined for c in found.both} <= {"text"} and found.both
    assert len(theirs.selected) == 3
    for row in found.lost:  # ours has it: theirs dropped it, or never had it on a list
        assert row.b.stage in ("first_stage", "budget", "left_out", "no_such_chunk")
    for row in found.gained:  # every chunk of theirs is one of ours, so its end here is known
        assert row.joined == "text" and row.a.stage not in ("no_such_chunk", "prompt")
        assert row.a.reason
    assert "theirs does not record: access" in " ".join(found.notes)
    assert "# ours against theirs" in markdown(found)

    wider = read_traces(json.dumps(other_pipeline(corpus, "plain", 20)))[0].trace
    two = difference(theirs, wider)
    assert [(s.name, s.a, s.b) for s in two.settings] == [("first_stage, top_k", 12, 20)]
    assert {c.joined for c in two.both} == {"id"}
