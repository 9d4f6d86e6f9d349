"""Piecewise reranking by ``sentence_transformers.CrossEncoder``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import ModelError
from core.models.consent import Consent, agreed
from core.models.folder import architecture, content_hash, model_folder
from core.models.pairs import MAX_LENGTH, PairReranker, loading, short_name, window


class CrossEncoderReranker(PairReranker):
    """A cross-encoder with one label, in float32 on every device."""

    library = "CrossEncoder"

    @classmethod
    def load(
        cls,
        name: str,
        *,
        download: bool = False,
        max_length: int = MAX_LENGTH,
        trust: Sequence[Consent] = (),
    ) -> CrossEncoderReranker:
        """Loads a model from a folder or, by its name, from the hub's cache.

        Args:
            download: whether the hub may be asked for what is not on this machine.
            max_length: tokens of a pair; fewer are read where the model ends sooner.
            trust: models whose own code may run.

        Raises:
            ModelError: the model cannot be had, is no cross-encoder with one label, or brings
                code to whose revision nobody in ``trust`` agreed.
        """
        folder = model_folder(name, download=download)
        _check(folder, name)
        code = agreed(name, folder, trust)
        with loading(name):
            import torch
            from sentence_transformers import CrossEncoder

            device = "cuda" if torch.cuda.is_available() else "cpu"
            model = CrossEncoder(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=code,
                # Without it a checkpoint saved in half precision stays in it, on a CPU too.
                model_kwargs={"dtype": torch.float32},
                # The default for one label is a sigmoid already.
                activation_fn=torch.nn.Identity(),
            )
            if model.num_labels != 1:
                raise ModelError(
                    name, f"has {model.num_labels} labels", "A reranker has one: take another."
                )
            model.max_seq_length = window(model, model.tokenizer, max_length)
        return cls(model, short_name(name, folder), content_hash(folder), device)

    def __init__(self, model: Any, name: str, content: str, device: str) -> None:
        length = model.max_seq_length
        super().__init__(
            name=f"{name} (CrossEncoder)",
            fingerprint=f"cross-encoder:{content}:{length}:float32",
            tokenizer=model.tokenizer,
            max_length=length,
            runs_on=f"float32 on {device}",
        )
        self._model = model

    def _logits(self, pairs: list[tuple[str, str]]) -> Sequence[float]:
        return self._model.predict(pairs, batch_size=len(pairs), show_progress_bar=False).tolist()

    def _as_read(self, question: str) -> str:
        """Some models were saved with an instruction, which the library puts before the question."""
        prompts, default = self._model.prompts or {}, self._model.default_prompt_name
        return (prompts.get(default) or "") + question if default else question

    def _fit(self, question: int, chunk: int) -> tuple[int, int]:
        """The library cuts the longer of the two until they are equal, then both."""
        room = max(0, self.max_length - self._marks)
        if question + chunk <= room:
            return question, chunk
        short, long = sorted((question, chunk))
        if short > room - short:
            short, long = room // 2, room - room // 2
        else:
            long = room - short
        return (short, long) if question <= chunk else (long, short)


def _check(folder: Path, name: str) -> None:
    """That the weights hold a scoring head: where they do not, the library makes a random one."""
    kind = architecture(folder)
    if kind.endswith("ForSequenceClassification"):
        return
    if (folder / "modules.json").is_file() and not kind.endswith("ForCausalLM"):
        return
    raise ModelError(
        name,
        f"is a {kind or 'model of unknown kind'}, not a cross-encoder",
        "Take one whose config.json names a …ForSequenceClassification.",
    )
