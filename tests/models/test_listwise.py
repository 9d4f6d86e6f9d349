"""Models with code of their own: it runs after consent alone, and its answers are joined by index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled, ModelError
from core.models.consent import Consent, agreed, parse_consents, revision_of
from core.models.listwise import RemoteListwise
from core.models.token_relevance import TokenRelevance
from tests.models.remote import direct_scores, save_remote, token_logits
from tests.models.test_piecewise import ask, run_in
from tests.models.tiny import Room, save_encoder, save_reranker

QUESTION = "What is the refund?"
TEXTS = (
    "Harbour pilot vessel.",
    "refund deposit " * 4,
    "booking not except",
    "fee",
    "the tax rate",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return save_remote(tmp_path_factory.mktemp("remote") / "ranker")


def trusted(folder: Path) -> tuple[Consent, ...]:
    return parse_consents([f"{folder}@{revision_of(folder)}"])


@pytest.fixture(scope="module")
def loaded(folder) -> RemoteListwise:
    return RemoteListwise.load(str(folder), trust=trusted(folder))


def test_code_does_not_run_without_consent_and_the_message_says_how(tmp_path):
    mark = tmp_path / "it ran"
    folder = save_remote(tmp_path / "unknown", mark=str(mark))
    for kind in (RemoteListwise, TokenRelevance):
        with pytest.raises(ModelError) as caught:
            kind.load(str(folder))
        assert f"--trust-remote-code {folder}@{revision_of(folder)}" in str(caught.value)
        assert "ranking.Ranker" in str(caught.value)
    assert not mark.exists()
    RemoteListwise.load(str(folder), trust=trusted(folder))
    assert mark.exists()


def test_consent_is_for_one_revision(tmp_path):
    folder = save_remote(tmp_path / "changing")
    before = trusted(folder)
    assert agreed(str(folder), folder, before)
    with (folder / "ranking.py").open("a") as code:
        code.write("\n# changed\n")
    with pytest.raises(ModelError, match="brings code of its own"):
        RemoteListwise.load(str(folder), trust=before)
    other = [Consent("somebody/else", revision_of(folder))]
    with pytest.raises(ModelError, match="brings code of its own"):
        agreed(str(folder), folder, other)


@pytest.mark.parametrize("text", ["model", "model@", "model@main", "model@abc", "@" + "a" * 11])
def test_consent_names_a_revision(text):
    with pytest.raises(ModelError, match="to which revision"):
        parse_consents([text])


def test_consent_may_shorten_the_revision(folder):
    revision = revision_of(folder)
    assert agreed(str(folder), folder, [Consent(str(folder), revision[:12])])


def test_code_that_is_elsewhere_is_refused(tmp_path):
    folder = save_remote(tmp_path / "elsewhere")
    config = (folder / "config.json").read_text().replace("ranking.Ranker", "other/repo--r.Ranker")
    (folder / "config.json").write_text(config)
    with pytest.raises(ModelError, match="not in its own folder but in other/repo"):
        RemoteListwise.load(str(folder), trust=trusted(folder))


def test_a_snapshot_of_the_hub_is_named_by_its_commit(tmp_path):
    commit = "0123456789abcdef" * 2 + "01234567"
    folder = save_remote(tmp_path / "snapshots" / commit)
    assert revision_of(folder) == commit
    assert agreed("owner/model", folder, [Consent("owner/model", commit)])


def test_modules_of_sentence_transformers_from_elsewhere_are_code_too(tmp_path):
    folder = save_encoder(tmp_path / "st", "bert", pooling="mean")
    assert not agreed(str(folder), folder, ())
    modules = (folder / "modules.json").read_text()
    changed = modules.replace("sentence_transformers.base.modules.transformer.", "custom_st.")
    assert changed != modules
    (folder / "modules.json").write_text(changed)
    with pytest.raises(ModelError, match="custom_st"):
        agreed(str(folder), folder, ())


def test_a_model_without_code_is_not_listwise(tmp_path):
    with pytest.raises(ModelError, match="brings no code"):
        RemoteListwise.load(str(save_reranker(tmp_path / "plain")))


def test_scores_are_those_of_a_plain_forward_pass_whatever_the_order(loaded, folder):
    order = np.array([3, 0, 4, 1, 2])
    answer = loaded.rerank(replace(ask(TEXTS), retrieval_order=order))
    expected = direct_scores(folder, QUESTION, [TEXTS[i] for i in order])
    assert np.abs(answer.raw[order] - expected).max() < 1e-5
    assert np.ptp(expected) > 0.1
    assert answer.scores.min() == 0 and answer.scores.max() == 1
    assert np.array_equal(np.argsort(answer.scores), np.argsort(answer.raw))
    other = loaded.rerank(replace(ask(TEXTS), retrieval_order=np.arange(5)))
    assert not np.allclose(other.raw, answer.raw)
    assert "in another order they get other scores" in answer.how and answer.relevance is None


def test_blank_chunks_are_not_sent_and_long_ones_are_counted(loaded):
    answer = loaded.rerank(ask(("fee", " ", "tax " * 50)))
    assert np.isnan(answer.raw).tolist() == [False, True, False]
    assert answer.truncated.tolist() == [0, 0, 10]
    assert answer.tokens_read == 5 + 1 + 40


def test_a_list_read_once_is_not_read_again_and_leaves_no_mark(loaded):
    memo: dict[str, float] = {}
    first = loaded.rerank(ask(TEXTS, memo=memo))
    calls, real = [], loaded._model.rerank
    loaded._model.rerank = lambda *words, **more: calls.append(1) or real(*words, **more)
    try:
        again = loaded.rerank(ask(TEXTS, memo=memo))
        assert not calls
        loaded.rerank(ask(TEXTS[:3], memo=memo))
        assert calls == [1]  # another list
    finally:
        del loaded._model.rerank
    assert np.array_equal(again.raw, first.raw) and again.tokens_read == first.tokens_read


@pytest.mark.parametrize(
    "expression, message",
    [
        ("out + out[:1]", "document 0 comes twice"),
        ("[out[0] | {'index': 7}]", "index 7 of 3 documents"),
        ("[{'relevance_score': 1.0}]", "names no index"),
        ("[{'index': 0}]", "has no relevance_score"),
        ("None", "cannot be read"),
        ("[]", "gave no number for any chunk"),
        ("[r | {'relevance_score': float('nan')} for r in out]", "gave no number for any chunk"),
        ("1 / 0", "its rerank failed"),
    ],
)
def test_answers_that_make_no_sense_are_failures_of_the_model(expression, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        answering(tmp_path / "odd", expression).rerank(ask(TEXTS[:3]))


def answering(folder: Path, expression: str) -> RemoteListwise:
    """A model whose rerank gives ``expression`` of ``out``, three scores in a strange order."""
    method = f"""
    def rerank(self, query, documents):
        scores = (0.5, float("nan"), 0.5)
        out = [{{"index": i, "relevance_score": scores[i % 3]}} for i in range(len(documents))]
        return {expression}
    """
    save_remote(folder, method)
    return RemoteListwise.load(str(folder), trust=trusted(folder))


def test_nan_ties_and_missing_scores(tmp_path):
    model = answering(tmp_path / "ties", "out[:0:-1]")
    answer = model.rerank(ask(TEXTS[:3]))
    assert np.array_equal(answer.raw, [np.nan, np.nan, 0.5], equal_nan=True)
    assert answer.warnings == ("The model named no score for 2 chunks: they stand last.",)
    for texts in ((), (" ",)):
        assert len(model.rerank(ask(texts)).scores) == len(texts)


def test_where_memory_ends_the_list_is_parted_and_the_page_says_so(tmp_path):
    method = """
    def rerank(self, query, documents):
        if len(documents) > 2:
            torch.empty(1 << 60, dtype=torch.uint8)
        return [{"index": i, "score": len(d)} for i, d in enumerate(documents)]
    """
    folder = save_remote(tmp_path / "small", method)
    model = RemoteListwise.load(str(folder), trust=trusted(folder))
    memo: dict[str, float] = {}
    for _ in range(2):  # what was read in groups is not taken for what was read together
        answer = model.rerank(ask(TEXTS, memo=memo))
        assert answer.raw.tolist() == [len(t) for t in TEXTS]
        assert "read in 3 groups" in answer.warnings[0] and not memo
    with pytest.raises(Cancelled):
        model.rerank(ask(TEXTS, cancelled=lambda: True))


def test_a_trace_by_a_listwise_model(loaded):
    trace = run_in("jina_rerank", {"listwise": loaded})
    record = trace.stage("rerank_1")
    assert not record.degraded and record.model == "ranker (listwise)"
    raw = [e.scores["rerank_1_raw"] for e in record.entries]
    assert raw == sorted(raw, reverse=True) and len(set(raw)) > 1


# Token relevance.


@pytest.fixture(scope="module")
def provence(folder) -> TokenRelevance:
    return TokenRelevance.load(str(folder), trust=trusted(folder))


def plain_relevance(folder: Path, texts) -> list[np.ndarray]:
    """The relevance of each text's own tokens where all fit one pass."""
    logits = np.array(token_logits(folder, QUESTION, "\n".join(texts)))
    begin = 2 + 5  # [CLS], five words, [SEP]
    odds = logits[begin:-1, 1] - logits[begin:-1, 0]
    sizes = [len(t.replace(".", " .").split()) for t in texts]
    assert sum(sizes) == len(odds)
    return np.split(1 / (1 + np.exp(-odds)), np.cumsum(sizes)[:-1])


def test_a_chunk_scores_the_mean_of_its_own_tokens(provence, folder):
    answer = provence.rerank(ask(TEXTS))
    expected = plain_relevance(folder, TEXTS)
    assert np.abs(answer.raw - [e.mean() for e in expected]).max() < 1e-5
    assert np.abs(answer.relevance - [e.max() for e in expected]).max() < 1e-5
    assert np.ptp(answer.raw) > 0.01 and "in 1 passes" in answer.how


def test_a_head_for_tokens_is_read_directly(tmp_path):
    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    save_encoder(tmp_path, "bert")
    torch.manual_seed(1)
    AutoModelForTokenClassification.from_pretrained(tmp_path, num_labels=1).save_pretrained(
        tmp_path
    )
    answer = TokenRelevance.load(str(tmp_path)).rerank(ask(TEXTS))
    model = AutoModelForTokenClassification.from_pretrained(tmp_path).eval()
    read = AutoTokenizer.from_pretrained(tmp_path)(QUESTION, "\n".join(TEXTS), return_tensors="pt")
    with torch.inference_mode():
        odds = model(**read).logits[0, 7:-1, 0].numpy()
    sizes = [len(t.replace(".", " .").split()) for t in TEXTS]
    expected = [p.mean() for p in np.split(1 / (1 + np.exp(-odds)), np.cumsum(sizes)[:-1])]
    assert np.abs(answer.raw - expected).max() < 1e-5


def test_long_lists_are_read_in_overlapping_passes(provence):
    texts = tuple(f"{'fee tax ' * 7}{w}" for w in ("refund", "pilot", "vessel", "booking") * 5)
    memo: dict[str, float] = {}
    answer = provence.rerank(ask(texts, memo=memo))
    assert np.isfinite(answer.raw).all() and (answer.relevance >= answer.raw).all()
    assert answer.tokens_read > 20 * 15
    again = provence.rerank(ask(texts, memo=memo))
    assert np.array_equal(again.raw, answer.raw) and again.tokens_read == answer.tokens_read
    asked = iter([False, True])
    with pytest.raises(Cancelled):
        provence._at_once = 64
        provence.rerank(ask(texts, cancelled=lambda: next(asked)))


def test_nothing_blanks_and_long_questions(provence):
    assert len(provence.rerank(ask(())).scores) == 0
    answer = provence.rerank(ask(("fee", " ", "tax")))
    assert np.isnan(answer.raw).tolist() == [False, True, False]
    long = provence.rerank(ask(question="fee " * 80))
    assert "tokens at the question's end were not read" in long.warnings[0]
    assert np.isfinite(long.raw).any()


def test_other_models_are_refused(tmp_path):
    with pytest.raises(ModelError, match="which scores no tokens"):
        TokenRelevance.load(str(save_encoder(tmp_path, "bert")))


def test_memory_is_halved_and_then_the_stage_says_so(provence, folder):
    model = TokenRelevance.load(str(folder), trust=trusted(folder))
    texts = tuple(f"{'fee tax ' * 7}{w}" for w in ("refund", "pilot") * 9)
    plenty = model.rerank(ask(texts)).raw
    room = Room(model._model.bert.embeddings, most=2)
    assert np.allclose(model.rerank(ask(texts)).raw, plenty, atol=1e-5)
    assert room.sizes[0] > 2 and max(room.sizes[3:]) <= 2
    room.most = 0
    trace = run_in("context_rerank", {"context": model})
    assert "ran out of memory on" in trace.stage("rerank_1").degraded
