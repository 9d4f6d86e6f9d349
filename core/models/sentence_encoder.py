"""Any model of sentence-transformers as an encoder: vectors, and states for late interaction."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import ModelError
from core.models.bert import import_torch
from core.models.consent import Consent, agreed
from core.models.device import device_named, library_versions
from core.models.folder import architecture, content_hash, model_folder
from core.models.frame import frame_of
from core.models.pairs import loading, short_name, window
from core.models.projection import fixed_projection
from core.models.reading import Numbers, ReadingEncoder, Row
from core.models.wordpieces import Subwords

VERSION = 1
"""Raise whenever the same text would come out as other numbers."""

LONGEST = 8192
"""Tokens of a pass, at most: attention over more would not fit most machines' memory."""

PASSAGE_PROMPTS = ("document", "passage", "corpus")


class SentenceEncoder(ReadingEncoder):
    """A model of sentence-transformers, float32 on every device.

    A question goes through the whole model. A chunk's vector is the mean of its own tokens'
    states through the modules behind the pooling, where the pooling is a mean; with any other
    pooling, each chunk goes through the whole model alone.
    """

    @classmethod
    def load(
        cls, name: str, *, download: bool = False, trust: Sequence[Consent] = ()
    ) -> SentenceEncoder:
        """Loads a model from a folder or, by its name, from the hub's cache.

        Raises:
            ModelError: the model cannot be had, is no encoder of text, or brings code to whose
                revision nobody in ``trust`` agreed.
        """
        folder = model_folder(name, download=download)
        kind = architecture(folder)
        if kind.endswith("ForSequenceClassification"):
            raise ModelError(
                name, f"is a {kind}, which scores pairs", "Name it as --piecewise instead."
            )
        code = agreed(name, folder, trust)
        with loading(name):
            torch = import_torch()
            from sentence_transformers import SentenceTransformer

            device = device_named()
            model = SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=code,
                # Without it a checkpoint saved in half precision stays in it, on a CPU too.
                model_kwargs={"dtype": torch.float32},
            ).eval()
            return cls(model, short_name(name, folder), folder, device)

    def __init__(self, model: Any, title: str, folder: Path, device: str) -> None:
        self._model, self._device = model, device
        self._modules = list(model)
        tokenizer = model.tokenizer
        pieces = Subwords.of(tokenizer, title)
        length = min(LONGEST, model.max_seq_length or LONGEST)
        length = window(self._modules[0].auto_model, tokenizer, length)
        pooling = self._modules[1] if len(self._modules) > 1 else None
        self._whole_prompt = getattr(pooling, "include_prompt", True)
        self.in_context = getattr(pooling, "pooling_mode", None) in ("mean", ("mean",))
        self.dimensions = model.get_embedding_dimension()
        self.hidden = getattr(pooling, "embedding_dimension", self.dimensions)
        self._projection = fixed_projection(self.hidden)
        self.width = self.hidden if self._projection is None else self._projection.shape[1]
        frame = frame_of(tokenizer)
        filler = tokenizer.pad_token_id or 0
        super().__init__(pieces, frame.before, frame.after, filler, length)
        vectors = "in context" if self.in_context else "each chunk alone"
        self.name = f"{title} (vectors: {vectors})"
        parts = [VERSION, content_hash(folder), length, self.reach, self.overlap, self.width]
        parts += [device, *library_versions("torch", "transformers", "sentence-transformers")]
        self.fingerprint = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    def _query_prompt(self) -> str:
        return self._prompt(("query",))

    def _document_prompt(self) -> str:
        return self._prompt(PASSAGE_PROMPTS)

    def _prompt(self, names: Sequence[str]) -> str:
        """What the model was saved with: the words that go ahead of a question or a passage."""
        prompts = self._model.prompts or {}
        given = [prompts[n] for n in names if prompts.get(n) is not None]
        return (given[0] if given else prompts.get(self._model.default_prompt_name)) or ""

    def _numbers(self, ids: np.ndarray, real: np.ndarray, rows: Sequence[Row]) -> list[Numbers]:
        torch = import_torch()
        with torch.inference_mode():
            features = {
                "input_ids": torch.from_numpy(ids).to(self._device),
                "attention_mask": torch.from_numpy(real.astype(np.int64)).to(self._device),
            }
            if not self._whole_prompt:
                features["prompt_length"] = rows[0].first
            features = self._modules[0](features)
            hidden = features["token_embeddings"].float().cpu().numpy()
            for module in self._modules[1:]:
                features = module(features)
            vectors = features["sentence_embedding"].float().cpu().numpy()
        out = []
        for i, row in enumerate(rows):
            own = hidden[i, row.first : row.last]
            small = own if self._projection is None else own @ self._projection
            out.append(Numbers(small, own if self.in_context else None, vectors[i]))
        return out

    def _pooled(self, means: np.ndarray) -> np.ndarray:
        torch = import_torch()
        with torch.inference_mode():
            features = {"sentence_embedding": torch.from_numpy(means).to(self._device)}
            for module in self._modules[2:]:
                features = module(features)
            return features["sentence_embedding"].float().cpu().numpy()
