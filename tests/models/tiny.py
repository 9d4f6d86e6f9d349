"""Tiny random rerankers, made and saved by the real libraries: two layers, a word a token.

Their scores mean nothing and are the same on every machine that draws the same random
numbers; what a test can know of them is what the libraries do with them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.worlds import WORDS

VOCABULARY = sorted({w.casefold() for w in WORDS} | {".", "?", "what", "is", "the", "poison"})
SPECIAL = {"bert": ("[CLS]", "[PAD]", "[SEP]", "[UNK]"), "xlm-roberta": ("<s>", "<pad>", "</s>", "<unk>")}  # fmt: skip
POISON = "poison"
"""A word whose embedding is not a number where a model is made with ``poisoned``."""


def save_reranker(
    folder: Path,
    kind: str = "xlm-roberta",
    *,
    labels: int = 1,
    positions: int = 64,
    dtype: str = "float32",
    poisoned: bool = False,
    seed: int = 0,
) -> Path:
    """Saves a random cross-encoder and its tokenizer to ``folder``, and returns it.

    Args:
        kind: "bert" or "xlm-roberta".
        positions: rows of the position table; an XLM-R can use two fewer.
        poisoned: makes the embedding of :data:`POISON` NaN.
    """
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        XLMRobertaConfig,
        XLMRobertaForSequenceClassification,
    )

    tokenizer = _tokenizer(kind)
    config, model = {
        "bert": (BertConfig, BertForSequenceClassification),
        "xlm-roberta": (XLMRobertaConfig, XLMRobertaForSequenceClassification),
    }[kind]
    torch.manual_seed(seed)
    made = model(
        config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=positions,
            type_vocab_size=2 if kind == "bert" else 1,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.cls_token_id,
            eos_token_id=tokenizer.sep_token_id,
            num_labels=labels,
            # Wide enough that scores differ well above the noise of arithmetic.
            initializer_range=0.6,
        )
    )
    if poisoned:
        with torch.no_grad():
            table = made.get_input_embeddings().weight
            table[tokenizer.convert_tokens_to_ids(POISON)] = float("nan")
    made.to(getattr(torch, dtype)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_encoder(
    folder: Path,
    kind: str = "xlm-roberta",
    *,
    heads: bool = False,
    pooling: str = "",
    prompts: dict[str, str] | None = None,
    positions: int = 64,
    width: int = 16,
    dtype: str = "float32",
    poisoned: bool = False,
    seed: int = 0,
) -> Path:
    """Saves a random encoder and its tokenizer to ``folder``, and returns it.

    Args:
        heads: with BGE-M3's two heads, as its authors' library reads them.
        pooling: as a model of sentence-transformers with this pooling, by that library.
        prompts: what such a model was saved with.
        poisoned: makes the embedding of :data:`POISON` NaN.
    """
    import torch
    from transformers import BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

    tokenizer = _tokenizer(kind)
    config, model = {
        "bert": (BertConfig, BertModel),
        "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel),
    }[kind]
    torch.manual_seed(seed)
    made = model(
        config(
            vocab_size=len(tokenizer),
            hidden_size=width,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=positions,
            type_vocab_size=2 if kind == "bert" else 1,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.cls_token_id,
            eos_token_id=tokenizer.sep_token_id,
            initializer_range=0.6,
        )
    )
    if poisoned:
        with torch.no_grad():
            table = made.get_input_embeddings().weight
            table[tokenizer.convert_tokens_to_ids(POISON)] = float("nan")
    made.to(getattr(torch, dtype)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if heads:
        torch.save(torch.nn.Linear(width, width).state_dict(), folder / "colbert_linear.pt")
        torch.save(torch.nn.Linear(width, 1).state_dict(), folder / "sparse_linear.pt")
    if pooling:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

        plain = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        SentenceTransformer(
            modules=[plain[0], Pooling(width, pooling_mode=pooling), Normalize()],
            device="cpu",
            prompts=prompts,
        ).save(str(folder))
    return folder


def direct_logits(folder: Path, pairs: list[tuple[str, str]], **truncation) -> list[float]:
    """The logits of a plain forward pass, a pair at a time: no padding, no library of rerankers."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return [
            float(model(**tokenizer(q, p, return_tensors="pt", **truncation)).logits[0, 0])
            for q, p in pairs
        ]


def _tokenizer(kind: str):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    cls, pad, sep, unk = SPECIAL[kind]
    words = {word: i for i, word in enumerate((cls, pad, sep, unk, *VOCABULARY))}
    core = Tokenizer(models.WordLevel(words, unk_token=unk))
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    between = f"{sep} {sep}" if kind == "xlm-roberta" else sep
    second = 0 if kind == "xlm-roberta" else 1
    core.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {between} $B:{second} {sep}:{second}",
        special_tokens=[(cls, words[cls]), (sep, words[sep])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        cls_token=cls,
        pad_token=pad,
        sep_token=sep,
        unk_token=unk,
        bos_token=cls,
        eos_token=sep,
        model_input_names=["input_ids", "attention_mask"]
        + ([] if kind == "xlm-roberta" else ["token_type_ids"]),
    )


class Room:
    """A module that runs out of memory on more than ``most`` rows; ``sizes`` of what it read."""

    def __init__(self, module: Any, most: int) -> None:
        self.most, self.sizes = most, []
        module.register_forward_pre_hook(self._read, with_kwargs=True)

    def _read(self, module: Any, args: Any, named: Any) -> None:
        import torch

        self.sizes.append(len(named["input_ids"]))
        if self.sizes[-1] > self.most:
            torch.empty(1 << 60, dtype=torch.uint8)
