"""Profiles: full sets of models, alone or with some replaced, through every mode."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelError
from core.index.build import build_index
from core.models import catalog
from core.models.bge_m3 import BgeM3Encoder
from core.models.catalog import PROFILES, chosen, unavailable, why_not
from core.models.consent import revision_of
from core.models.embedded import UNCALIBRATED
from core.models.embedder import EmbeddedEncoder
from core.models.profiles import UnavailableReranker, load_encoder, load_profile
from core.models.sentence_encoder import SentenceEncoder
from core.modes import MODES
from core.pipeline import Pipeline
from core.settings import Settings
from core.trace import Trace
from tests.models.remote import save_remote
from tests.models.test_encoders import prose
from tests.models.tiny import save_encoder, save_reranker
from tests.worlds import document

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "What is the refund deposit?"
KNOBS = Settings(chunk_tokens=16, candidate_k=8, relevance_threshold=0.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("profiles")
    return {
        "m3": save_encoder(base / "m3", heads=True),
        "mean": save_encoder(base / "mean", "bert", pooling="mean"),
        "pairs": save_reranker(base / "pairs"),
        "remote": save_remote(base / "remote"),
    }


@pytest.fixture(scope="module")
def bge(folders):
    """The profile of that name, on tiny models with the same parts."""
    return load_profile("bge", encoder=f"m3:{folders['m3']}", piecewise=f"flag:{folders['pairs']}")


def world(encoder, **more):
    texts = [prose(200, seed) for seed in (1, 2)]
    return build_index(
        [document(t, f"{n}.md", **more) for n, t in enumerate(texts)], KNOBS, encoder
    )


def test_the_profiles_of_the_design_exist_and_say_what_they_are():
    assert list(PROFILES) == ["embedded", "bge", "custom"]
    assert all(p.title and p.help.endswith(".") for p in PROFILES.values())
    bge = {role: catalog.parted(m) for role, m in PROFILES["bge"].models.items() if m}
    assert bge == {
        "encoder": ("m3:", "BAAI/bge-m3"),
        "piecewise": ("flag:", "BAAI/bge-reranker-v2-m3"),
    }
    with pytest.raises(ModelError, match="Profiles: embedded, bge, custom"):
        load_profile("gpt")


def test_models_replace_those_of_a_profile():
    assert chosen("bge", encoder=None, piecewise="mine") .models == {
        "encoder": "m3:", "piecewise": "mine", "listwise": "", "context": "",
    }  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_runs_on_the_parts_of_bge(mode, bge):
    encoder, rerankers = bge
    assert isinstance(encoder, BgeM3Encoder)
    trace = Pipeline(encoder, rerankers).run(world(encoder), QUESTION, KNOBS, mode)
    assert not trace.degraded and trace.selected
    assert Trace.from_json(trace.to_json()) == trace


def test_sparse_scores_are_components_of_the_first_stage(bge):
    encoder, rerankers = bge
    found = world(encoder)

    def first(**knobs):
        trace = Pipeline(encoder, rerankers).run(
            found, QUESTION, KNOBS.changed(**knobs), "no_rerank"
        )
        return trace, trace.stage("first_stage")

    trace, record = first()
    query = encoder.encode_query(QUESTION)
    weights = dict(zip(query.sparse.ids.tolist(), query.sparse.weights.tolist(), strict=True))
    held = [p.states.sparse for p in found.parts]
    expected = []
    for lexical in held:
        for low, high in zip(lexical.offsets, lexical.offsets[1:], strict=False):
            own = zip(lexical.ids[low:high].tolist(), lexical.weights[low:high], strict=True)
            expected.append(sum(weights.get(i, 0.0) * float(w) for i, w in own))
    assert np.allclose(trace.corpus_scores.array("sparse"), expected, atol=1e-6)
    assert np.ptp(expected) > 0
    for entry in record.entries:
        assert entry.scores["sparse"] == pytest.approx(expected[found.row(entry.chunk_id)])
    assert "dense and 0.3 × sparse" in record.how
    # Written out for the best chunk: each rank among all, ties by row.
    dense, bm25 = trace.corpus_scores.array("dense"), trace.corpus_scores.array("bm25")
    best = found.row(record.kept[0])

    def share(scores, weight=1.0, floor=-9.0):
        rank = 1 + sum(s > scores[best] or (s == scores[best] and r < best) for r, s in enumerate(scores))  # fmt: skip
        return weight / (60 + rank) if scores[best] > floor else 0.0

    by_hand = share(bm25, floor=0) + share(dense) + share(np.array(expected), 0.3, floor=0)
    assert record.entries[0].score == pytest.approx(by_hand)
    without, plain = first(fusion_sparse=0.0)
    assert plain.how == "reciprocal rank fusion of BM25 and dense, k = 60"
    assert not np.array_equal(
        without.corpus_scores.array("fused"), trace.corpus_scores.array("fused")
    )
    _, weighted = first(fusion="weighted")
    assert "0.5 × dense + 0.3 × sparse" in weighted.how


def test_without_lexical_weights_the_sparse_weight_changes_nothing():
    from tests.fakes import HashingEncoder

    encoder = HashingEncoder()
    found = world(encoder)
    traces = [
        Pipeline(encoder).run(found, QUESTION, KNOBS.changed(fusion_sparse=w), "no_rerank")
        for w in (0.0, 1.0)
    ]
    assert traces[0].corpus_scores == traces[1].corpus_scores
    assert traces[0].corpus_scores.sparse == b""
    assert all("sparse" not in e.scores for e in traces[1].stage("first_stage").entries)


def test_a_hidden_document_leaves_no_mark_on_sparse_scores(bge):
    from core.records import Access, Principal

    encoder, rerankers = bge
    open_text, hidden = (
        document(prose(150, 1), "a.md"),
        document(prose(150, 2), "b.md", access=Access(tenant="other")),
    )
    both = build_index([open_text, hidden], KNOBS, encoder)
    alone = build_index([open_text], KNOBS, encoder)
    who = Principal("mine")
    traces = [
        Pipeline(encoder, rerankers).run(i, QUESTION, KNOBS, "no_rerank", who).without_timings()
        for i in (both, alone)
    ]
    assert traces[0] == traces[1]


def test_a_custom_encoder_serves_all_kinds_and_claims_no_relevance(folders):
    encoder, rerankers = load_profile("custom", encoder=str(folders["mean"]))
    assert isinstance(encoder, SentenceEncoder)
    found, pipeline = world(encoder), Pipeline(encoder, rerankers)
    for mode in ("bge_rerank", "jina_rerank", "rerank_extend_rerank"):
        trace = pipeline.run(found, QUESTION, KNOBS.changed(relevance_threshold=0.1), mode)
        record = trace.stage("rerank_1")
        assert not trace.degraded and encoder.name in record.model
        assert UNCALIBRATED in record.warnings
        assert all(e.relevance is None for e in record.entries)
        assert "threshold was not applied" in trace.stage("relevance").warnings[0]


def test_an_encoder_with_both_heads_is_read_as_bge_m3(folders):
    assert isinstance(load_encoder(str(folders["m3"])), BgeM3Encoder)
    with pytest.raises(ModelError, match=r"lacks colbert_linear\.pt and sparse_linear\.pt"):
        load_encoder(f"m3:{folders['mean']}")
    with pytest.raises(ModelError, match="is no encoder"):
        load_encoder(f"flag:{folders['pairs']}")


@pytest.mark.integration
def test_kinds_can_be_replaced_one_by_one(folders):
    remote = folders["remote"]
    encoder, rerankers = load_profile(
        piecewise=str(folders["pairs"]),
        listwise=str(remote),
        context=f"provence:{remote}",
        trust=[f"{remote}@{revision_of(remote)}"],
    )
    assert isinstance(encoder, EmbeddedEncoder)
    assert {k: r.name for k, r in rerankers.items()} == {
        "piecewise": "pairs (CrossEncoder)",
        "listwise": "remote (listwise)",
        "context": "remote (token relevance)",
    }
    _, refused = load_profile(listwise=str(remote), context=str(remote))
    assert all(isinstance(refused[k], UnavailableReranker) for k in ("listwise", "context"))
    assert "Write provence:" in str(refused["context"].error)
    assert "--trust-remote-code" in str(refused["listwise"].error)


def test_what_is_there_is_known_without_loading_anything(folders, monkeypatch):
    assert unavailable(PROFILES["embedded"]) == {}
    mine = chosen("custom", encoder=str(folders["mean"]), piecewise=f"flag:{folders['pairs']}")
    assert unavailable(mine) == {}
    missing = unavailable(chosen("bge"))
    assert set(missing) == {"encoder", "piecewise"}
    assert all("is not on this machine" in why for why in missing.values())
    import importlib.metadata

    real = importlib.metadata.version
    monkeypatch.setattr(
        "core.models.flag.version",
        lambda name: "5.24.0" if name == "transformers" else real(name),
    )
    assert "pip install 'transformers>=5,<5.24'" in why_not("encoder", f"m3:{folders['m3']}")
    code = (
        "from core.models.catalog import *\nimport sys\n"
        "[unavailable(p) for p in PROFILES.values()]\n"
        "print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


@pytest.fixture
def terms(tmp_path) -> list[str]:
    page = tmp_path / "terms.md"
    page.write_text("# Terms\n\nThe deposit is a fee.\n\nThe refund is waived.\n")
    return ["--docs", str(page), "--cache", str(tmp_path / "cache"), "--json", "--strict"]


@pytest.mark.integration
def test_the_command_line_takes_encoders_and_profiles(folders, terms, capsys):
    from core.cli import main

    def said(*words: str) -> tuple[int, dict, str]:
        code = main([*words, *terms])
        out = capsys.readouterr()
        return code, json.loads(out.out), out.err

    ask = ("trace", "--question", QUESTION, "--set", "relevance_threshold=0")
    code, trace, _ = said(*ask, "--encoder", str(folders["m3"]))
    assert code == 0
    first = next(s for s in trace["stages"] if s["name"] == "first_stage")
    assert first["model"] == "m3 (BGEM3FlagModel)"
    assert all("sparse" in e["scores"] for e in first["entries"])
    assert said("index", "--encoder", str(folders["mean"]))[0] == 0
    code, trace, err = said(*ask, "--profile", "bge", "--mode", "bge_rerank")
    assert code == 3 and "BAAI/bge-m3: is not on this machine" in err
    reasons = {s["name"]: s["degraded"] for s in trace["stages"] if s["degraded"]}
    assert "BAAI/bge-m3: is not on this machine" in reasons["first_stage"]
    assert "BAAI/bge-reranker-v2-m3: is not on this machine" in reasons["rerank_1"]
    remote = folders["remote"]
    words = (*ask, "--mode", "jina_rerank", "--listwise", str(remote))
    code, trace, err = said(*words)
    assert code == 3 and f"--trust-remote-code {remote}@{revision_of(remote)}" in err
    code, trace, _ = said(*words, "--trust-remote-code", f"{remote}@{revision_of(remote)}")
    assert code == 0
    assert main([*ask, *terms, "--trust-remote-code", "x"]) == 2
    assert main([*ask, *terms, "--profile", "none"]) == 2
    assert "Profiles: embedded, bge, custom" in capsys.readouterr().err
