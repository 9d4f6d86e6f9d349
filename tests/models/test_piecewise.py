"""Cross-encoders through both libraries, on tiny random models that these save and load."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Cancelled, ModelError
from core.models.pairs import sigmoid
from core.models.profiles import UnavailableReranker, load_piecewise, load_profile
from core.models.protocols import RerankRequest
from core.pipeline import Pipeline
from core.records import Chunk
from core.settings import Settings
from tests.fakes import HashingEncoder
from tests.models.tiny import POISON, direct_logits, save_reranker
from tests.worlds import document, index

LIBRARIES = {"CrossEncoder": "", "FlagReranker": "flag:"}
QUESTION = "What is the refund?"
TEXTS = (
    "Harbour pilot vessel.",
    "refund deposit " * 9,
    "",
    "booking not except 7 14 days annual plan index",
    "fee",
    " \n",
    "refund " * 100,
    "What is the tax rate?",
)
LEGIBLE = [i for i, text in enumerate(TEXTS) if text.strip()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("rerankers")
    return {
        "bert": save_reranker(base / "bert", "bert"),
        "xlm-roberta": save_reranker(base / "xlm", "xlm-roberta"),
        "poisoned": save_reranker(base / "poisoned", poisoned=True),
        "labels": save_reranker(base / "labels", labels=3),
        "half": save_reranker(base / "half", dtype="float16"),
    }


@pytest.fixture(params=LIBRARIES)
def load(request, folders):
    """Loads one of the models with one of the libraries."""

    def load(which: str = "xlm-roberta"):
        loaded = load_piecewise(LIBRARIES[request.param] + str(folders.get(which, which)))
        if isinstance(loaded, UnavailableReranker):
            raise loaded.error
        return loaded

    return load


def ask(texts=TEXTS, question: str = QUESTION, **more) -> RerankRequest:
    n = len(texts)
    chunks = [Chunk(f"d:{i:06d}", "d", i, 0, len(t), t, 1) for i, t in enumerate(texts)]
    return RerankRequest(
        question=question,
        query=None,
        chunks=more.pop("chunks", chunks),
        retrieval_order=np.arange(n),
        bm25=np.zeros(n),
        dense=None,
        coverage=np.zeros(n),
        states=None,
        settings=Settings(),
        **more,
    )


def torch_model(reranker):
    """The torch module inside."""
    model = reranker._model.model
    return getattr(model, "_model", model)


def at_each_pass(reranker, act) -> None:
    """Calls ``act`` with the token ids, pairs by length, whenever the model reads a batch.

    At the embeddings, since CrossEncoder calls the forward of the whole by its name.
    """
    embeddings = torch_model(reranker).base_model.embeddings
    embeddings.register_forward_pre_hook(
        lambda module, args, named: act(named["input_ids"]), with_kwargs=True
    )


def watch(reranker) -> list[tuple[int, int]]:
    """Fills with (pairs, tokens less padding) for each batch that the model reads."""
    seen, pad = [], reranker._tokenizer.pad_token_id
    at_each_pass(reranker, lambda ids: seen.append((len(ids), int((ids != pad).sum()))))
    return seen


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta"])
def test_logits_are_those_of_a_plain_forward_pass(load, folders, kind):
    reranker = load(kind)
    answer = reranker.rerank(ask())
    expected = direct_logits(
        folders[kind],
        [(QUESTION, TEXTS[i]) for i in LEGIBLE],
        truncation="only_second",
        max_length=reranker.max_length,
    )
    assert np.abs(answer.raw[LEGIBLE] - expected).max() < 1e-5
    assert np.ptp(expected) > 0.1
    assert np.array_equal(answer.scores, sigmoid(answer.raw), equal_nan=True)
    assert answer.relevance is answer.scores


@pytest.mark.parametrize("texts", [(), ("fee",), ("", " ")])
def test_none_one_and_only_blank_chunks(load, texts):
    answer = load().rerank(ask(texts))
    assert len(answer.scores) == len(answer.raw) == len(answer.truncated) == len(texts)
    assert np.isnan(answer.scores).tolist() == [not t.strip() for t in texts]


def test_scores_belong_to_chunks_whatever_their_order(load):
    reranker, request = load(), ask()
    straight = reranker.rerank(request)
    turned = reranker.rerank(replace(request, chunks=request.chunks[::-1], memo={}))
    assert np.allclose(straight.raw, turned.raw[::-1], atol=1e-5, equal_nan=True)
    assert np.array_equal(straight.truncated, turned.truncated[::-1])


def test_half_precision_is_never_used_on_a_cpu(load, folders):
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    reranker = load("half")
    assert {p.dtype for p in torch_model(reranker).parameters()} == {torch.float32}
    expected = direct_logits(folders["half"], [(QUESTION, TEXTS[0])])
    assert abs(reranker.rerank(ask()).raw[0] - expected[0]) < 1e-5
    assert reranker.fingerprint.endswith(":float32")


def test_empty_chunks_are_not_sent_and_have_no_score(load):
    reranker = load()
    seen = watch(reranker)
    answer = reranker.rerank(ask())
    assert sum(pairs for pairs, _ in seen) == len(LEGIBLE)
    assert np.flatnonzero(~np.isnan(answer.scores)).tolist() == LEGIBLE
    assert answer.warnings == ("2 chunks without text were not sent to the model.",)
    assert not answer.truncated[[2, 5]].any()


def test_a_score_that_is_no_number_stays_one_chunks_trouble(load):
    texts = ("refund deposit", f"refund {POISON} fee", "booking")
    answer = load("poisoned").rerank(ask(texts))
    assert np.isnan(answer.scores).tolist() == [False, True, False]
    assert np.isnan(answer.raw).tolist() == [False, True, False]


def test_no_number_at_all_is_a_failure_of_the_model(load):
    with pytest.raises(ModelError, match="gave no number for any chunk"):
        load("poisoned").rerank(ask(question=f"{POISON}?"))


def test_chunks_scored_once_are_not_read_again(load):
    reranker, memo = load(), {}
    few = ask(TEXTS[:4], memo=memo)
    first = reranker.rerank(few)
    assert first.tokens_read > 0 and len(memo) == 3
    again = reranker.rerank(few)
    assert again.tokens_read == first.tokens_read  # what is kept leaves no mark on a trace
    assert np.array_equal(again.raw, first.raw, equal_nan=True)
    assert np.array_equal(again.truncated, first.truncated)
    before = list(memo)
    seen = watch(reranker)
    more = reranker.rerank(ask(memo=memo))
    assert sum(pairs for pairs, _ in seen) == len(memo) - len(before) == len(LEGIBLE) - 3
    fresh = reranker.rerank(ask())
    assert more.tokens_read == fresh.tokens_read
    assert np.allclose(more.raw, fresh.raw, atol=1e-5, equal_nan=True)


def test_tokens_read_are_those_that_the_model_gets(load):
    reranker = load()
    seen = watch(reranker)
    assert reranker.rerank(ask()).tokens_read == sum(tokens for _, tokens in seen)


def test_work_stops_between_batches_and_keeps_what_it_has(load):
    reranker, memo, asked = load(), {}, iter([False, True])
    reranker.batch_size = 2
    with pytest.raises(Cancelled):
        reranker.rerank(ask(memo=memo, cancelled=lambda: next(asked)))
    # The longest go first.
    assert sorted(memo) == ["d:000001", "d:000006"]


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta"])
@given(st.integers(0, 90), st.integers(1, 90))
def test_what_is_cut_is_what_the_tokenizer_cuts(kind, folders, question, chunk):
    flag = load_piecewise_once(f"flag:{folders[kind]}")
    cross = load_piecewise_once(str(folders[kind]))
    for reranker, cut, asked in (
        (cross, "longest_first", question),
        (flag, "only_second", min(question, flag.max_length * 3 // 4)),
    ):
        pair = reranker._tokenizer(
            "fee " * asked, "tax " * chunk, truncation=cut, max_length=reranker.max_length
        )
        sides = pair.sequence_ids(0)
        assert reranker._fit(question, chunk) == (sides.count(0), sides.count(1))


def load_piecewise_once(model: str, _held: dict = {}):  # noqa: B006
    if model not in _held:
        _held[model] = load_piecewise(model)
    return _held[model]


def test_what_was_cut_is_counted_for_each_chunk(load):
    reranker = load("bert")
    answer = reranker.rerank(ask())
    room = reranker.max_length - 3 - len(QUESTION.split()) - 1
    assert answer.truncated.tolist() == [0, 0, 0, 0, 0, 0, 100 - room, 0]
    long = reranker.rerank(ask(question="fee " * 80))
    assert any("at the question's end were not read" in w for w in long.warnings)
    assert np.isfinite(long.raw[LEGIBLE]).all()


@pytest.mark.parametrize("kind, positions", [("bert", 64), ("xlm-roberta", 62)])
def test_every_position_is_used_and_none_beyond(load, kind, positions):
    reranker = load(kind)
    assert reranker.max_length == positions
    assert np.isfinite(reranker.rerank(ask(("tax " * 500,))).raw).all()


def starve(reranker, most: int) -> list[int]:
    """Lets the model fail for want of memory, truly, on more than ``most`` pairs at once."""
    import torch

    sizes = []

    def read(ids):
        sizes.append(len(ids))
        if len(ids) > most:
            torch.empty(1 << 60, dtype=torch.uint8)

    at_each_pass(reranker, read)
    return sizes


def test_where_memory_ends_batches_are_halved(load):
    plenty = load().rerank(ask()).raw
    reranker = load()
    sizes = starve(reranker, 2)
    assert np.allclose(reranker.rerank(ask()).raw, plenty, atol=1e-5, equal_nan=True)
    assert sizes == [6, 3, 1, 1, 1, 1, 1, 1]


def test_one_chunk_too_many_says_what_to_do(load):
    reranker = load()
    starve(reranker, 0)
    with pytest.raises(ModelError, match=r"ran out of memory on one chunk\. .*smaller"):
        reranker.rerank(ask())


def test_what_fails_inside_comes_out_as_it_is(load):
    reranker = load()

    def fail(ids):
        raise RuntimeError("the kernel is not made for this")

    at_each_pass(reranker, fail)
    with pytest.raises(ModelError, match="failed \\(the kernel is not made for this\\)"):
        reranker.rerank(ask())


def test_each_batch_is_forwarded_once(load):
    reranker = load()
    reranker.batch_size = 4
    seen = watch(reranker)
    reranker.rerank(ask())
    assert [pairs for pairs, _ in seen] == [4, 2]


def test_several_labels_are_refused(load):
    with pytest.raises(ModelError, match="has 3 labels"):
        load("labels")


def test_an_encoder_is_no_reranker(load, folders, tmp_path):
    """The libraries would give it a random head and score with that."""
    for path in folders["bert"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}))
    with pytest.raises(ModelError, match="is a BertModel"):
        load(str(tmp_path))


def test_damaged_weights_are_a_message(load, folders, tmp_path):
    for path in folders["bert"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes()[:3000])
    with pytest.raises(ModelError, match="could not be loaded"):
        load(str(tmp_path))


def test_an_instruction_saved_with_the_model_counts(folders):
    reranker = load_piecewise(str(folders["bert"]))
    before = reranker.rerank(ask()).tokens_read
    reranker._model.prompts, reranker._model.default_prompt_name = {"q": "fee tax "}, "q"
    seen = watch(reranker)
    assert before < reranker.rerank(ask()).tokens_read == sum(tokens for _, tokens in seen)


def test_transformers_too_new_for_flag_embedding_names_the_pin(folders, monkeypatch):
    import FlagEmbedding  # noqa: F401  so that every module of it is put back afterwards

    for name in [m for m in sys.modules if m.partition(".")[0] == "FlagEmbedding"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "transformers.modeling_attn_mask_utils", None)
    unavailable = load_piecewise(f"flag:{folders['bert']}")
    with pytest.raises(ModelError) as caught:
        unavailable.rerank(ask())
    assert "FlagEmbedding: does not import on transformers" in str(caught.value)
    assert "pip install 'transformers>=5,<5.24'" in str(caught.value)


def run(reranker):
    return run_in("bge_rerank", {"piecewise": reranker})


def run_in(mode: str, rerankers: dict, **more):
    """A trace over the texts, by the given rerankers; ``more`` are knobs."""
    world = index([document("\n\n".join(t for t in TEXTS if t.strip()))], Settings(chunk_tokens=16))
    settings = Settings(chunk_tokens=16, relevance_threshold=0.0, **more)
    return Pipeline(HashingEncoder(), rerankers).run(world, QUESTION, settings, mode)


def test_a_trace_by_a_cross_encoder(load):
    reranker = load()
    trace = run(reranker)
    record = next(s for s in trace.stages if s.name == "rerank_1")
    assert not record.degraded and record.model == reranker.name
    assert trace.models["rerank_1"] == reranker.fingerprint
    scores = [e.scores["rerank_1"] for e in record.entries]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) > 1
    raw = [e.scores["rerank_1_raw"] for e in record.entries]
    assert np.allclose(scores, sigmoid(np.array(raw)))


@pytest.mark.parametrize("prefix", LIBRARIES.values())
def test_a_model_that_cannot_be_had_degrades_with_its_reason(prefix, tmp_path):
    missing = tmp_path / "nowhere"
    trace = run(load_piecewise(f"{prefix}{missing}"))
    record = next(s for s in trace.stages if s.name == "rerank_1")
    assert f"{missing}: there is no such folder" in record.degraded
    assert not any("rerank_1" in e.scores for e in record.entries)
    assert trace.models.get("rerank_1") is None


@pytest.mark.integration
def test_a_profile_with_a_piecewise_model(folders):
    _, rerankers = load_profile("embedded", piecewise=f"flag:{folders['bert']}")
    assert rerankers["piecewise"].name == "bert (FlagReranker)"
    assert set(rerankers) == {"piecewise", "listwise", "context"}


@pytest.mark.integration
def test_the_command_line_takes_a_model(folders, tmp_path, capsys):
    from core.cli import main

    page = tmp_path / "terms.md"
    page.write_text("# Terms\n\nThe deposit is a fee.\n\nThe refund is waived.\n")
    words = ["trace", "--docs", str(page), "--question", QUESTION, "--json", "--strict"]
    words += ["--cache", str(tmp_path / "cache")]

    def rerank(*more: str) -> tuple[int, dict, str]:
        code = main([*words, *more])
        out = capsys.readouterr()
        stages = json.loads(out.out)["stages"]
        return code, next(s for s in stages if s["name"] == "rerank_1"), out.err

    code, stage, _ = rerank("--mode", "bge_rerank", "--piecewise", str(folders["xlm-roberta"]))
    assert (code, stage["model"]) == (0, "xlm (CrossEncoder)")
    code, stage, said = rerank("--mode", "bge_rerank", "--piecewise", "nobody/nothing")
    assert code == 3 and "is not on this machine" in stage["degraded"]
    assert "is not on this machine" in said
    code, stage, said = rerank("--piecewise", "nobody/nothing")
    assert code == 0 and "bge_rerank does" in said


def test_a_score_read_once_is_found_on_disk_by_the_next_run(load, tmp_path):
    from core.index.scores import ScoreCache

    def trace(reranker, texts):
        world = index([document(texts)], Settings(chunk_tokens=16))
        pipeline = Pipeline(HashingEncoder(), {"piecewise": reranker}, scores=ScoreCache(tmp_path))
        knobs = Settings(chunk_tokens=16, relevance_threshold=0.0)
        return pipeline.run(world, QUESTION, knobs, "bge_rerank")

    text = "\n\n".join(t for t in TEXTS if t.strip())
    first = trace(load(), text)
    reranker = load()
    seen = watch(reranker)
    again = trace(reranker, text)
    assert seen == []
    assert again.without_timings() == first.without_timings()
    # The text decides, not the document that it stands in.
    trace(reranker, f"{text}\n\nA vessel more.")
    assert sum(pairs for pairs, _ in seen) <= 2


@pytest.mark.parametrize("seconds, degraded", [(0.02, True), (60.0, False)])
def test_a_time_limit_is_looked_at_between_batches(load, seconds, degraded):
    import time

    reranker = load()
    reranker.batch_size = 1
    at_each_pass(reranker, lambda ids: time.sleep(0.02))
    trace = run_in("bge_rerank", {"piecewise": reranker}, rerank_seconds=seconds)
    assert bool(trace.stage("rerank_1").degraded) == degraded
