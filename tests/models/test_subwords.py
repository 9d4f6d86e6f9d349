"""Tokens of SentencePiece's kind, which take the blank ahead of a word for part of it."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from core.errors import ModelError
from core.models.frame import frame_of
from core.models.windows import token_ranges
from core.models.wordpieces import Subwords
from tests.models import tiny


def metaspace() -> PreTrainedTokenizerFast:
    words = ["<unk>", "▁fee", "▁tax", "▁rate", "s", "▁", "query", "▁query", ":"]
    core = Tokenizer(models.Unigram([(w, -float(i)) for i, w in enumerate(words)], unk_id=0))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>")


def test_a_word_belongs_to_the_chunk_in_which_its_letters_stand():
    pieces, text = Subwords.of(metaspace(), "it"), "fees tax  rate"
    ids, starts = pieces.read(text)
    first, last = token_ranges(starts, [(0, 5), (5, 10), (10, 14)])
    held = [pieces.pieces(ids[a:b]) for a, b in zip(first, last, strict=True)]
    assert [p for p in held[0]] == ["▁fee", "s"]
    assert held[1][0] == "▁tax" and held[2][-1] == "▁rate"


def test_a_prompt_and_a_text_are_told_apart():
    pieces = Subwords.of(metaspace(), "it")
    prompt, own, starts = pieces.read_after("query: ", "fee tax")
    assert pieces.pieces(prompt) == ("▁query", ":")
    assert pieces.pieces(own) == ("▁fee", "▁tax")
    assert starts.tolist() == [0, 4]  # letters of the text itself, without prompt or blank
    assert [len(i) for i in pieces.read_after("", "fee tax")] == [0, 2, 2]


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta"])
def test_frames_are_what_the_tokenizer_puts_around_texts(kind):
    tokenizer = tiny._tokenizer(kind)
    pieces = Subwords.of(tokenizer, "it")
    one, two = pieces.read_each(["fee tax", "refund"])
    ids, types, begin = frame_of(tokenizer, pair=True).pair(one, two)
    asked = tokenizer("fee tax", "refund")
    assert ids.tolist() == asked["input_ids"]
    assert types.tolist() == (asked.get("token_type_ids") or [0] * len(ids))
    assert ids[begin : begin + 1].tolist() == two.tolist()
    single = frame_of(tokenizer)
    assert [*single.before, *one, *single.after] == tokenizer("fee tax")["input_ids"]


def test_a_slow_tokenizer_says_so():
    with pytest.raises(ModelError, match="does not say where"):
        Subwords.of(object(), "old")
