"""Listwise reranking by a model that brings its own ``rerank`` method, as jina-reranker-v3 does.

All candidates are read in one pass, in the order of retrieval, and see each other; another order
gives other scores (Wang et al. 2025, "jina-reranker-v3: last but not late interaction").
"""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import Cancelled, ModelError
from core.models.bert import import_torch
from core.models.consent import Consent, agreed, revision_of
from core.models.device import device_named
from core.models.folder import content_hash, model_folder
from core.models.memory import free_memory, out_of_memory
from core.models.pairs import loading, short_name
from core.models.protocols import Reranking, RerankRequest
from core.ranking import min_max

DEFAULT = "jinaai/jina-reranker-v3"

_SCORES = ("relevance_score", "score")


class RemoteListwise:
    """A model with a method ``rerank(query, documents)`` of its own, float32 on a CPU.

    The method returns a dictionary a document, with its ``index`` and ``relevance_score``, in
    whatever order: they are joined by index. Raw scores have no fixed meaning, so there is no
    relevance; ``scores`` are raw ones, min-max over the candidates.
    """

    @classmethod
    def load(
        cls, name: str = DEFAULT, *, download: bool = False, trust: Sequence[Consent] = ()
    ) -> RemoteListwise:
        """Loads a model from a folder or, by its name, from the hub's cache.

        Raises:
            ModelError: the model cannot be had, has no such method, or nobody in ``trust``
                agreed to run this revision of its code.
        """
        folder = model_folder(name, download=download)
        if not agreed(name, folder, trust):
            raise ModelError(
                name,
                "brings no code of its own, and so no listwise rerank",
                f"Take a model that does, such as {DEFAULT}.",
            )
        with loading(name):
            torch = import_torch()
            device = device_named()
            model = _loaded(folder, "float32" if device == "cpu" else "bfloat16").eval()
            model.to(torch.device(device))
        if not callable(getattr(model, "rerank", None)):
            raise ModelError(
                name, "its code has no method rerank", f"Take one that does, such as {DEFAULT}."
            )
        with loading(name):
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=True
            )
        return cls(model, tokenizer, short_name(name, folder), folder, device)

    def __init__(self, model: Any, tokenizer: Any, title: str, folder: Path, device: str) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._revision = revision_of(folder)
        self.name = f"{title} (listwise)"
        self.fingerprint = f"listwise:{content_hash(folder)}:{device}"
        known = inspect.signature(model.rerank).parameters
        self._takes_top = "top_n" in known
        longest = getattr(known.get("max_doc_length"), "default", None)
        self._longest = longest if isinstance(longest, int) else None
        self._busy = threading.Lock()

    def lasting(self, request: RerankRequest) -> dict[str, str]:
        """A score rests on the whole list and its order."""
        return {name: name for name in self._names(request)}

    def _names(self, request: RerankRequest) -> list[str]:
        """What each chunk's score is kept under, aligned with the chunks."""
        whole = hashlib.blake2b(digest_size=16)
        for i in request.retrieval_order:
            packed = request.chunks[i].text.encode("utf-8", "surrogatepass")
            whole.update(len(packed).to_bytes(8, "little") + packed)
        places = np.empty(len(request.chunks), dtype=np.int64)
        places[request.retrieval_order] = np.arange(len(places))
        return [f"list {whole.hexdigest()}:{place}" for place in places]

    def rerank(self, request: RerankRequest) -> Reranking:
        """Scores all chunks together.

        Raises:
            ModelError: the model failed, named a document that it was not given or one twice,
                gave no number at all, or one chunk alone does not fit memory.
            Cancelled: the person stopped the work before it began, or between two groups.
        """
        names, chunks = self._names(request), request.chunks
        order = [int(i) for i in request.retrieval_order if chunks[i].text.strip()]
        groups, scores = 1, request.memo
        if any(names[i] not in request.memo for i in order):
            with self._busy:
                given, groups = self._grouped(request, [chunks[i].text for i in order])
            scores = {names[i]: given.get(at, np.nan) for at, i in enumerate(order)}
            if groups == 1:  # in groups, they are not the scores of this list
                request.memo.update(scores)
        raw = np.full(len(chunks), np.nan)
        raw[order] = [scores[names[i]] for i in order]
        if order and np.isnan(raw).all():
            raise ModelError(
                self.name, "gave no number for any chunk", "Its weights may be damaged."
            )
        lengths = self._lengths([request.question, *(c.text for c in chunks)])
        read = np.minimum(lengths[1:], self._longest) if self._longest else lengths[1:]
        warnings = [_few(int(np.isnan(raw[order]).sum())), _apart(groups)]
        return Reranking(
            scores=min_max(raw),
            raw=raw,
            tokens_read=int(lengths[0] + read[order].sum()),
            truncated=lengths[1:] - read,
            how="all candidates were read together, in the order in which they were retrieved; in "
            f"another order they get other scores (the model's own code, {self._revision[:12]})",
            warnings=tuple(w for w in warnings if w),
        )

    def _grouped(self, request: RerankRequest, texts: list[str]) -> tuple[dict[int, float], int]:
        """Scores by position in ``texts``, and into how many groups they had to be parted."""
        if request.cancelled and request.cancelled():
            raise Cancelled
        given = self._tried(request.question, texts)
        if given is not None:
            return given, 1
        free_memory()
        if len(texts) == 1:
            raise ModelError(
                self.name,
                "ran out of memory on one chunk",
                "Close other programs, make chunks smaller, or take a smaller model.",
            )
        half = len(texts) // 2
        first, one = self._grouped(request, texts[:half])
        second, other = self._grouped(request, texts[half:])
        return first | {half + at: score for at, score in second.items()}, one + other

    def _tried(self, question: str, texts: list[str]) -> dict[int, float] | None:
        """The model's scores by position; None where memory did not suffice."""
        torch = import_torch()
        more = {"top_n": len(texts)} if self._takes_top else {}
        try:
            with torch.inference_mode():
                answer = self._model.rerank(question, texts, **more)
        except Exception as error:
            if out_of_memory(error):
                return None
            said = str(error).strip() or type(error).__name__
            raise ModelError(self.name, f"its rerank failed ({said})") from error
        try:
            return _by_index(answer, len(texts))
        except (TypeError, ValueError, LookupError) as error:
            raise ModelError(
                self.name, f"gave an answer that cannot be read ({error})", "Take another model."
            ) from error

    def _lengths(self, texts: Sequence[str]) -> np.ndarray:
        asked = self._tokenizer(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        )
        return np.array([len(ids) for ids in asked["input_ids"]], dtype=np.int64)


def _loaded(folder: Path, precision: str) -> Any:
    import torch
    from transformers import AutoModel

    asked = {
        "trust_remote_code": True,
        "local_files_only": True,
        "dtype": getattr(torch, precision),
    }
    try:
        return AutoModel.from_pretrained(str(folder), **asked)
    except Exception as first:  # noqa: BLE001  whatever code of its own throws
        # jina-reranker-v3 has no output layer of its own, and transformers 5 would tie one.
        try:
            return AutoModel.from_pretrained(str(folder), tie_word_embeddings=False, **asked)
        except Exception:  # noqa: BLE001  the first failure is the one to tell
            raise first from None


def _by_index(answer: Any, count: int) -> dict[int, float]:
    """Scores by the index that each result names."""
    given: dict[int, float] = {}
    for result in answer:
        if not isinstance(result, Mapping) or "index" not in result:
            raise ValueError("a result names no index")
        at = int(result["index"])
        if not 0 <= at < count:
            raise ValueError(f"index {at} of {count} documents")
        if at in given:
            raise ValueError(f"document {at} comes twice")
        key = next((k for k in _SCORES if k in result), None)
        if key is None:
            raise ValueError(f"a result has no {_SCORES[0]}")
        score = float(result[key])
        given[at] = score if np.isfinite(score) else float("nan")
    return given


def _few(missing: int) -> str:
    return f"The model named no score for {missing} chunks: they stand last." if missing else ""


def _apart(groups: int) -> str:
    if groups == 1:
        return ""
    return (
        f"Memory did not suffice for all candidates at once: they were read in {groups} groups, "
        "which did not see each other."
    )
