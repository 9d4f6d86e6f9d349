"""Encoders through sentence-transformers and FlagEmbedding, on tiny random models."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled, ModelError
from core.models.bge_m3 import BgeM3Encoder
from core.models.maxsim import maxsim
from core.models.projection import fixed_projection, unit_rows
from core.models.reading import ReadingEncoder
from core.models.sentence_encoder import SentenceEncoder
from core.models.states import SpanStates
from tests.models.tiny import POISON, VOCABULARY, Room, save_encoder, save_reranker

WORDS = [w for w in VOCABULARY if w.isalpha()]


def prose(words: int, seed: int = 0) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, size=words).tolist())


def cut(text: str, size: int) -> list[tuple[int, int]]:
    """Spans of whole words, of at least ``size`` characters."""
    spans, at = [], 0
    while at < len(text):
        end = text.find(" ", at + size)
        end = len(text) if end < 0 else end + 1
        spans.append((at, end))
        at = end
    return spans


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("encoders")
    return {
        "m3": save_encoder(base / "m3", heads=True),
        "m3-half": save_encoder(base / "m3-half", heads=True, dtype="float16"),
        "mean": save_encoder(base / "mean", "bert", pooling="mean"),
        "cls": save_encoder(base / "cls", pooling="cls"),
        "plain": save_encoder(base / "plain", "bert"),
        "prompts": save_encoder(
            base / "prompts",
            "bert",
            pooling="mean",
            prompts={"query": "what is: ", "document": "the: "},
        ),
    }


@pytest.fixture(scope="module")
def loaded(folders) -> dict[str, ReadingEncoder]:
    return {
        name: (BgeM3Encoder if name.startswith("m3") else SentenceEncoder).load(str(folder))
        for name, folder in folders.items()
    }


@pytest.fixture(params=["m3", "mean", "cls"])
def encoder(request, loaded) -> ReadingEncoder:
    return loaded[request.param]


def plain_forward(folder: Path, text: str, around: bool = True):
    """The hidden states [l, d] of a text by transformers alone, and its token ids."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    asked = tokenizer(text, return_tensors="pt", truncation=True, max_length=62)
    with torch.inference_mode():
        states = model(**asked).last_hidden_state[0]
    return states, asked["input_ids"][0].tolist()


def m3_heads(folder: Path, states):
    import torch

    heads = {
        name: torch.load(folder / f"{name}_linear.pt", weights_only=True)
        for name in ("colbert", "sparse")
    }
    with torch.inference_mode():
        many = torch.nn.functional.linear(
            states, **{k: v.float() for k, v in heads["colbert"].items()}
        )
        weights = torch.relu(
            torch.nn.functional.linear(states, **{k: v.float() for k, v in heads["sparse"].items()})
        )[:, 0]
    return unit_rows(many.numpy()), weights.numpy()


def near(one, other, by: float = 1e-5) -> bool:
    return bool(np.abs(np.asarray(one) - np.asarray(other)).max(initial=0.0) < by)


QUESTION = "What is the refund deposit?"


@pytest.mark.parametrize("name", ["m3", "m3-half"])
def test_bge_m3_is_its_formulas_on_a_plain_forward_pass(name, loaded, folders):
    states, ids = plain_forward(folders[name], QUESTION)
    many, weights = m3_heads(folders[name], states)
    query = loaded[name].encode_query(QUESTION)
    assert near(query.vector, unit_rows(states[:1].numpy())[0])
    assert near(query.tokens, many[1:-1])
    learnt = {}
    for token, weight in zip(ids[1:-1], weights[1:-1], strict=True):
        if weight > 0 and token > 3:
            learnt[token] = max(learnt.get(token, 0.0), float(weight))
    assert learnt and query.sparse.ids.tolist() == sorted(learnt)
    assert near(query.sparse.weights, [learnt[i] for i in sorted(learnt)])


def test_bge_m3_says_what_its_library_says(loaded, folders):
    from FlagEmbedding import BGEM3FlagModel

    library = BGEM3FlagModel(str(folders["m3"]), use_fp16=False, devices="cpu")
    texts = [prose(20, seed) for seed in range(3)]
    given = library.encode(
        texts, max_length=62, return_dense=True, return_sparse=True, return_colbert_vecs=True
    )
    alone = loaded["m3"].encode_alone(texts)
    assert near(alone.vectors, given["dense_vecs"])
    for i, lexical in enumerate(given["lexical_weights"]):
        own = slice(alone.sparse.offsets[i], alone.sparse.offsets[i + 1])
        held = dict(zip(alone.sparse.ids[own].tolist(), alone.sparse.weights[own], strict=True))
        assert held.keys() == {int(k) for k in lexical}
        assert near([held[int(k)] for k in lexical], list(lexical.values()))
        # Kept in eight bits a number; the library keeps the last special token too.
        assert near(unit_rows(alone.tokens_of(i)), given["colbert_vecs"][i][:-1], 0.02)


@pytest.mark.parametrize("name", ["mean", "cls", "plain"])
def test_a_question_has_the_vector_that_its_library_gives_it(name, loaded, folders):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(folders[name]), device="cpu", local_files_only=True)
    query = loaded[name].encode_query(QUESTION)
    assert near(query.vector, unit_rows(library.encode_query([QUESTION]))[0])
    tokens = library.encode(QUESTION, output_value="token_embeddings")
    assert near(query.tokens, unit_rows(tokens.numpy()[1:-1]))
    texts = [prose(9, 1), prose(30, 2), "fee"]
    assert near(loaded[name].encode_alone(texts).vectors, unit_rows(library.encode_document(texts)))


def test_prompts_that_a_model_was_saved_with_are_read_and_are_no_part_of_the_text(loaded, folders):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(folders["prompts"]), device="cpu", local_files_only=True)
    encoder = loaded["prompts"]
    query = encoder.encode_query(QUESTION)
    assert near(query.vector, unit_rows(library.encode_query([QUESTION]))[0])
    assert not near(query.vector, loaded["mean"].encode_query(QUESTION).vector)
    assert len(query.tokens) == len(query.pieces) == 6
    assert query.starts[0] == 0 and query.starts[-1] == len(QUESTION)
    assert query.starts.tolist() == loaded["mean"].encode_query(QUESTION).starts.tolist()
    text = prose(9)
    assert near(encoder.encode_alone([text]).vectors, unit_rows(library.encode_document([text])))
    assert len(encoder.encode_spans(text, [(0, len(text))]).states) == 9


def test_a_chunks_vector_is_the_mean_of_its_own_tokens_where_the_model_means_them(loaded, folders):
    text = prose(40)
    spans = cut(text, 60)
    states, _ = plain_forward(folders["mean"], text)
    words = np.cumsum([0, *(len(text[a:b].split()) for a, b in spans)])
    means = [states[1 + a : 1 + b].numpy().mean(axis=0) for a, b in itertools.pairwise(words)]
    read = loaded["mean"].encode_spans(text, spans)
    assert near(read.vectors, unit_rows(np.array(means)))


@pytest.mark.parametrize("name", ["m3", "cls"])
def test_a_chunks_vector_is_read_alone_where_one_token_speaks_for_the_row(name, loaded):
    text = prose(300)
    spans = cut(text, 90)
    read = loaded[name].encode_spans(text, spans)
    alone = loaded[name].encode_alone([text[a:b] for a, b in spans])
    assert np.array_equal(read.vectors, alone.vectors)
    assert not np.array_equal(read.states[:60], alone.states[:60])


def test_states_are_read_in_context_and_windows_cover_long_texts(encoder):
    text = prose(1000)
    spans = cut(text, 100)
    read = encoder.encode_spans(text, spans)
    assert read.offsets[-1] == len(read.states) == 1000
    assert np.diff(read.offsets).tolist() == [len(text[a:b].split()) for a, b in spans]
    assert (np.abs(read.states).max(axis=1) == 127).all()
    assert np.allclose(np.linalg.norm(read.vectors, axis=1), 1.0, atol=1e-5)
    alone = encoder.encode_alone([text[a:b] for a, b in spans])
    assert not np.array_equal(read.states, alone.states)


def test_a_text_has_the_same_numbers_whatever_is_read_beside_it(encoder):
    texts = [prose(n, n) for n in (3, 50, 17, 3, 60, 8, 9, 10, 11, 12, 13, 14)]
    together = encoder.encode_alone(texts)
    for i in (0, 1, 4, 11):
        alone = encoder.encode_alone([texts[i]])
        assert np.array_equal(alone.states, together.tokens_of(i))
        assert np.array_equal(alone.vectors[0], together.vectors[i])
    text = prose(200)
    spans = cut(text, 80)
    some = encoder.encode_spans(text, spans[::2])
    every = encoder.encode_spans(text, spans)
    assert np.array_equal(
        some.states, np.concatenate([every.tokens_of(i) for i in range(0, len(spans), 2)])
    )


def test_empty_things(encoder):
    nothing = encoder.encode_query("")
    assert not nothing.vector.any() and nothing.tokens.shape == (0, encoder.width)
    none = encoder.encode_spans("", [])
    assert len(none) == 0 and len(none.states) == 0
    blank = encoder.encode_spans("fee   tax", [(0, 3), (4, 5), (6, 9)])
    assert blank.offsets.tolist() == [0, 1, 1, 2]
    assert not blank.vectors[1].any() and blank.vectors[0].any()
    assert len(encoder.encode_alone([])) == 0
    assert not encoder.encode_alone([""]).vectors.any()


def test_what_is_past_the_window_is_cut_and_counted(encoder):
    query = encoder.encode_query(prose(100))
    assert query.truncated == 100 - encoder.window == 100 - len(query.tokens)
    alone = encoder.encode_alone([prose(100), prose(5)])
    assert alone.truncated.tolist() == [100 - encoder.window, 0]


def test_work_can_be_stopped_and_tells_how_far_it_is(encoder):
    text = prose(1500)
    spans, heard = cut(text, 200), []
    encoder.encode_spans(text, spans, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1][0] == heard[-1][1] and heard == sorted(heard)
    asked = iter([False, True])
    with pytest.raises(Cancelled):
        encoder.encode_spans(text, spans, cancelled=lambda: next(asked))


def torch_model(encoder):
    model = encoder._model
    return model.model if isinstance(encoder, BgeM3Encoder) else model[0].auto_model


@pytest.mark.parametrize("name", ["m3", "mean"])
def test_where_memory_ends_batches_are_halved_and_one_row_too_many_is_an_error(name, folders):
    kind = BgeM3Encoder if name == "m3" else SentenceEncoder
    encoder, text = kind.load(str(folders[name])), prose(1000)
    spans = cut(text, 100)
    plenty = encoder.encode_spans(text, spans)
    room = Room(torch_model(encoder).embeddings, most=3)
    again = encoder.encode_spans(text, spans)
    assert room.sizes[:3] == [8, 4, 2] and max(room.sizes[3:]) <= 3
    assert maxsim(unit_rows(plenty.tokens_of(0)), again.states, again.offsets)[0] > 0.999
    room.most = 0
    with pytest.raises(ModelError, match="ran out of memory on .* tokens"):
        encoder.encode_query(QUESTION)


def test_half_precision_is_never_used_on_a_cpu(loaded, folders, tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    half = SentenceEncoder.load(str(save_encoder(tmp_path, "bert", dtype="float16")))
    for encoder in (half, loaded["m3-half"]):
        assert {p.dtype for p in torch_model(encoder).parameters()} == {torch.float32}


@pytest.mark.parametrize("lost", ["colbert_linear.pt", "sparse_linear.pt"])
def test_a_head_that_is_missing_is_not_made_up(lost, folders, tmp_path):
    for path in folders["m3"].iterdir():
        if path.name != lost:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(ModelError, match=f"lacks {lost}"):
        BgeM3Encoder.load(str(tmp_path))


def test_a_cross_encoder_is_no_encoder(tmp_path):
    with pytest.raises(ModelError, match="scores pairs"):
        SentenceEncoder.load(str(save_reranker(tmp_path, "bert")))


def test_fingerprints_follow_weights_heads_and_settings(folders, loaded, tmp_path):
    seen = {e.fingerprint for e in loaded.values()}
    assert len(seen) == len(loaded)
    for path in folders["m3"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert BgeM3Encoder.load(str(tmp_path)).fingerprint == loaded["m3"].fingerprint
    other = save_encoder(tmp_path / "other", heads=True, seed=7)
    (tmp_path / "sparse_linear.pt").write_bytes((other / "sparse_linear.pt").read_bytes())
    assert BgeM3Encoder.load(str(tmp_path)).fingerprint != loaded["m3"].fingerprint
    config = json.loads((folders["mean"] / "config_sentence_transformers.json").read_text())
    assert "prompts" in config


def test_states_of_unknown_kind_keep_all_numbers_up_to_1024():
    assert fixed_projection(384) is None and fixed_projection(1024) is None
    wide = fixed_projection(1536)
    assert wide.shape == (1536, 1024)
    assert np.allclose(wide.T @ wide, np.eye(1024), atol=1e-5)


@pytest.mark.parametrize("kind", ["m3", "mean"])
@pytest.mark.filterwarnings("error")
def test_numbers_that_are_none_match_nothing_and_reach_no_other_chunk(kind, tmp_path):
    """Chunks far from the one at fault are read in other passes, or alone."""
    if kind == "m3":
        encoder = BgeM3Encoder.load(str(save_encoder(tmp_path, heads=True, poisoned=True)))
    else:
        made = save_encoder(tmp_path, "bert", pooling="mean", poisoned=True)
        encoder = SentenceEncoder.load(str(made))
    clean = " ".join(w for w in prose(400).split() if w != POISON)
    text = f"{POISON} {clean}"
    spans = cut(text, 100)
    read = encoder.encode_spans(text, spans)
    assert np.isnan(read.vectors[0]).any() and not read.tokens_of(0).any()
    assert np.isfinite(read.vectors[10:]).all() and read.states[200:].any(axis=1).all()
    raw = maxsim(encoder.encode_query(QUESTION).tokens, read.states, read.offsets)
    assert np.isfinite(raw).all() and raw[0] == 0


def equal(one: SpanStates, other: SpanStates) -> bool:
    return all(
        np.array_equal(getattr(one, n), getattr(other, n))
        for n in ("vectors", "states", "offsets", "truncated")
    )


@pytest.mark.parametrize("name", ["m3", "mean"])
def test_an_index_keeps_and_finds_what_the_encoder_gave(name, loaded, tmp_path):
    from core.index.build import build_index
    from core.index.cache import ArrayCache
    from core.settings import Settings
    from tests.worlds import document

    encoder, made = loaded[name], document(prose(400))
    settings = Settings(chunk_tokens=32)
    fresh = build_index([made], settings, encoder, cache=ArrayCache(tmp_path))
    kept = build_index([made], settings, encoder, cache=ArrayCache(tmp_path))
    one, other = fresh.parts[0].states, kept.parts[0].states
    assert equal(one, other)
    assert isinstance(other.states, np.memmap)
    if name == "m3":
        for field in ("ids", "weights", "offsets"):
            assert np.array_equal(getattr(one.sparse, field), getattr(other.sparse, field))
    else:
        assert other.sparse is None
