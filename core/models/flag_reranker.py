"""Piecewise reranking by ``FlagEmbedding.FlagReranker``, made for BAAI's bge rerankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import ModelError
from core.models.catalog import DEFAULTS, FLAG
from core.models.flag import flag_class
from core.models.folder import architecture, content_hash, model_folder
from core.models.pairs import MAX_LENGTH, PairReranker, loading, short_name, window

DEFAULT = DEFAULTS[FLAG]


class FlagEmbeddingReranker(PairReranker):
    """A bge reranker: float32 on a CPU, float16 on a GPU."""

    library = "FlagReranker"

    @classmethod
    def load(
        cls, name: str = DEFAULT, *, download: bool = False, max_length: int = MAX_LENGTH
    ) -> FlagEmbeddingReranker:
        """Loads a model from a folder or, by its name, from the hub's cache.

        Args:
            download: whether the hub may be asked for what is not on this machine.
            max_length: tokens of a pair; fewer are read where the model ends sooner.

        Raises:
            ModelError: the model cannot be had or is of another kind, or the library does not
                work with the installed transformers.
        """
        folder = model_folder(name, download=download)
        kind = architecture(folder)
        if not kind.endswith("ForSequenceClassification"):
            raise ModelError(
                name,
                f"is a {kind or 'model of unknown kind'}, which FlagReranker does not read",
                f"Take an encoder with a scoring head, such as {DEFAULT}.",
            )
        library = flag_class("FlagReranker")
        with loading(name):
            import torch

            gpu = torch.cuda.is_available()
            # One device, named: with several the library starts processes that it never ends.
            model = library(str(folder), use_fp16=gpu, devices="cuda:0" if gpu else "cpu")
            if model.model.config.num_labels != 1:
                raise ModelError(
                    name,
                    f"has {model.model.config.num_labels} labels",
                    "A reranker has one: take another.",
                )
            if not gpu:
                # A checkpoint saved in half precision stays in it, whatever use_fp16 says.
                model.model.float()
            model.max_length = window(model.model, model.tokenizer, max_length)
        return cls(model, short_name(name, folder), content_hash(folder), gpu)

    def __init__(self, model: Any, name: str, content: str, gpu: bool) -> None:
        precision = "float16" if gpu else "float32"
        super().__init__(
            name=f"{name} (FlagReranker)",
            fingerprint=f"flag:{content}:{model.max_length}:{precision}",
            tokenizer=model.tokenizer,
            max_length=model.max_length,
            runs_on=f"{precision} on {'cuda' if gpu else 'cpu'}",
        )
        self._model = model
        self._once = model.model = _Once(model.model)

    def _logits(self, pairs: list[tuple[str, str]]) -> Sequence[float]:
        try:
            # A batch larger than the list also keeps the library's progress bars off.
            return self._model.compute_score(pairs, batch_size=len(pairs) + 1)
        except _ForwardError as error:
            raise error.why from None
        finally:
            self._once.forget()

    def _fit(self, question: int, chunk: int) -> tuple[int, int]:
        """The question gets at most three quarters of the window, the chunk what is left."""
        question = min(question, self.max_length * 3 // 4)
        return question, min(chunk, max(0, self.max_length - self._marks - question))


class _ForwardError(Exception):
    """Carries a RuntimeError past FlagReranker, which takes each for a lack of memory."""

    def __init__(self, why: RuntimeError) -> None:
        super().__init__(str(why))
        self.why = why


class _Once:
    """A model whose last answer is kept while FlagReranker works on one batch.

    To find a batch size that memory bears, FlagReranker forwards the first batch once more than
    needed, and on any RuntimeError tries ever smaller ones until none is left, which ends in
    an AttributeError. The batch size is chosen outside: here the second pass costs nothing
    and an error comes out as it is.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._last: tuple[dict[str, Any], Any] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __call__(self, *, return_dict: bool = True, **inputs: Any) -> Any:
        if self._last is None or not _same(self._last[0], inputs):
            try:
                self._last = inputs, self._model(**inputs, return_dict=return_dict)
            except RuntimeError as error:
                raise _ForwardError(error) from error
        return self._last[1]

    def forget(self) -> None:
        self._last = None


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    import torch

    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)
