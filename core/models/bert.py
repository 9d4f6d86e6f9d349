"""The forward pass of a BERT encoder in torch, from a folder with weights.

Devlin et al. 2019, *BERT*, as in ``transformers.BertModel`` (which the tests hold it
against), without what reading text does not need. It loads in a third of the time,
since importing transformers takes longer than importing torch, and leaves no choice of
attention kernel to a version that we do not control.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import ModelError

if TYPE_CHECKING:
    import torch

DTYPES = ("auto", "float32", "bfloat16")


def import_torch() -> Any:
    """Torch, set so that its threads wait politely.

    Spinning threads make torch seven times slower as soon as another process wants the
    same cores (measured: 700 against 5,500 tokens/s). Only the first import can set it.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    return torch


def choose_dtype(wanted: str = "auto") -> str:
    """``float32`` or ``bfloat16``: for ``auto``, the latter where the CPU computes in it.

    Emulated, bfloat16 is slower than float32 and no nearer to the truth.
    ``ModelError`` for any other name.
    """
    if wanted not in DTYPES:
        raise ModelError(
            f"CHUNKSCOPE_DTYPE={wanted}",
            "no such number format",
            f"Set it to one of {', '.join(DTYPES)}.",
        )
    if wanted != "auto":
        return wanted
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "float32"
    supported = getattr(import_torch().cpu, "_is_avx512_bf16_supported", lambda: False)
    return "bfloat16" if supported() else "float32"


class Bert:
    """A BERT encoder with its weights in memory. Calls from several threads are safe."""

    def __init__(self, folder: Path, dtype: str) -> None:
        """Reads ``config.json`` and ``model.safetensors`` of ``folder``; OSError if absent."""
        torch = import_torch()
        from safetensors.torch import load_file

        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config.get("model_type") != "bert" or config.get("hidden_act", "gelu") != "gelu":
            raise ModelError(
                str(folder), "not a BERT encoder with GELU", "Choose a folder that holds one."
            )
        self.dimensions: int = config["hidden_size"]
        self.positions: int = config["max_position_embeddings"]
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        self._torch = torch
        weights = load_file(folder / "model.safetensors")
        prefix = "bert." if "bert.embeddings.word_embeddings.weight" in weights else ""
        kind = getattr(torch, dtype)

        def take(name: str) -> torch.Tensor:
            return weights[prefix + name].to(kind).contiguous()

        def pair(name: str) -> tuple[torch.Tensor, torch.Tensor]:
            return take(name + ".weight"), take(name + ".bias")

        self._words = take("embeddings.word_embeddings.weight")
        # Every text is of the first segment, so its embedding can join the positions'.
        self._places = (
            weights[prefix + "embeddings.position_embeddings.weight"]
            + weights[prefix + "embeddings.token_type_embeddings.weight"][0]
        ).to(kind)
        self._norm = pair("embeddings.LayerNorm")
        self._layers = []
        for i in range(config["num_hidden_layers"]):
            layer = f"encoder.layer.{i}."
            heads = [pair(f"{layer}attention.self.{n}") for n in ("query", "key", "value")]
            self._layers.append(
                (
                    tuple(torch.cat(part) for part in zip(*heads, strict=True)),
                    pair(layer + "attention.output.dense"),
                    pair(layer + "attention.output.LayerNorm"),
                    pair(layer + "intermediate.dense"),
                    pair(layer + "output.dense"),
                    pair(layer + "output.LayerNorm"),
                )
            )

    def __call__(self, ids: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Last hidden states, float32 [b, l, d], of token ids int64 [b, l].

        ``lengths`` int64 [b], where given, says how many tokens of each row are real.
        """
        torch, function = self._torch, self._torch.nn.functional
        batch, length = ids.shape
        with torch.inference_mode():
            mask = None
            if lengths is not None:
                mask = (torch.arange(length) < lengths[:, None])[:, None, None, :]
            size = (self.dimensions,)
            x = self._words[ids] + self._places[:length]
            x = function.layer_norm(x, size, *self._norm, self._epsilon)
            for qkv, mix, norm_1, widen, narrow, norm_2 in self._layers:
                heads = function.linear(x, *qkv).view(batch, length, 3, self._heads, -1)
                query, key, value = heads.permute(2, 0, 3, 1, 4)
                seen = function.scaled_dot_product_attention(query, key, value, attn_mask=mask)
                seen = seen.transpose(1, 2).reshape(batch, length, -1)
                x = function.layer_norm(
                    function.linear(seen, *mix) + x, size, *norm_1, self._epsilon
                )
                wide = function.gelu(function.linear(x, *widen))
                x = function.layer_norm(
                    function.linear(wide, *narrow) + x, size, *norm_2, self._epsilon
                )
            return x.float()
