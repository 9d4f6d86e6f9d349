"""BGE-M3 as an encoder: dense vectors, lexical weights and a vector a token, in one pass.

Chen et al. 2024, "M3-Embedding", read by ``FlagEmbedding.BGEM3FlagModel``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import ModelError
from core.models.bert import import_torch
from core.models.catalog import DEFAULTS, M3
from core.models.device import device_named, library_versions
from core.models.flag import flag_class
from core.models.folder import content_hash, model_folder
from core.models.frame import frame_of
from core.models.pairs import loading, short_name, window
from core.models.reading import Numbers, ReadingEncoder, Row
from core.models.wordpieces import Subwords

DEFAULT = DEFAULTS[M3]

LONGEST = 8192
"""Tokens of a pass, at most."""

HEADS = ("colbert_linear.pt", "sparse_linear.pt")

VERSION = 1
"""Raise whenever the same text would come out as other numbers."""


def has_heads(folder: Path) -> bool:
    """Whether a model's folder holds BGE-M3's two heads."""
    return all((folder / head).is_file() for head in HEADS)


class BgeM3Encoder(ReadingEncoder):
    """BGE-M3, float32 on a CPU, float16 on a GPU.

    Token vectors and lexical weights are read in document context, up to 8,192 tokens a pass.
    The dense vector is the state of a row's first token, which speaks for the whole row, so
    each chunk is read once more by itself for it, as the model was trained.
    """

    in_context = False
    learns_weights = True

    @classmethod
    def load(cls, name: str = DEFAULT, *, download: bool = False) -> BgeM3Encoder:
        """Loads the model from a folder or, by its name, from the hub's cache.

        Raises:
            ModelError: the model cannot be had, lacks one of its heads, or the library does not
                work with the installed transformers.
        """
        folder = model_folder(name, download=download)
        if missing := [head for head in HEADS if not (folder / head).is_file()]:
            # The library would put random numbers in their place, without a word.
            raise ModelError(
                name,
                f"its folder lacks {' and '.join(missing)}",
                "Fetch the whole of BGE-M3, or name the model without m3: before it.",
            )
        library = flag_class("BGEM3FlagModel")
        with loading(name):
            device = device_named()
            model = library(
                str(folder),
                use_fp16=device != "cpu",
                # One device, named: with several the library starts processes that never end.
                devices="cpu" if device == "cpu" else "cuda:0",
            )
            if device == "cpu":
                model.model.float()
            model.model.to(device).eval()
            return cls(model, short_name(name, folder), folder, device)

    def __init__(self, model: Any, title: str, folder: Path, device: str) -> None:
        self._model, self._device = model.model, device
        tokenizer = self._tokenizer = model.tokenizer
        length = window(self._model.model, tokenizer, LONGEST)
        self.dimensions = self.hidden = self._model.model.config.hidden_size
        self.width = self._model.colbert_linear.out_features
        frame = frame_of(tokenizer)
        pieces = Subwords.of(tokenizer, title)
        super().__init__(pieces, frame.before, frame.after, tokenizer.pad_token_id, length)
        self.name = f"{title} (BGEM3FlagModel)"
        precision = "float32" if device == "cpu" else "float16"
        parts = [VERSION, content_hash(folder), length, self.reach, self.overlap, precision]
        parts += [device, *library_versions("torch", "transformers", "FlagEmbedding")]
        self.fingerprint = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    def _unweighed(self) -> Sequence[int]:
        t = self._tokenizer
        ids = (t.cls_token_id, t.eos_token_id, t.pad_token_id, t.unk_token_id)
        return [i for i in ids if i is not None]

    def _numbers(self, ids: np.ndarray, real: np.ndarray, rows: Sequence[Row]) -> list[Numbers]:
        torch = import_torch()
        with torch.inference_mode():
            read = self._model(
                {
                    "input_ids": torch.from_numpy(ids).to(self._device),
                    "attention_mask": torch.from_numpy(real.astype(np.int64)).to(self._device),
                },
                return_dense=True,
                return_sparse=True,
                return_colbert_vecs=True,
            )
            dense, sparse, many = (
                read[name].float().cpu().numpy()
                for name in ("dense_vecs", "sparse_vecs", "colbert_vecs")
            )
        return [
            Numbers(
                # The library leaves the first token out here.
                states=many[i, row.first - 1 : row.last - 1],
                hidden=None,
                vector=dense[i],
                weights=sparse[i, row.first : row.last, 0],
            )
            for i, row in enumerate(rows)
        ]
