"""Context reranking by the relevance of tokens, as Provence's kind of model gives it.

The candidates, each once and in document order, are one continuous text, which is read together
with the question in overlapping passes of the model's window; a chunk's score is the mean of its
own tokens' relevance (Chirkova et al. 2025, "Provence: efficient and robust context pruning").
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import Cancelled, ModelError
from core.models.bert import import_torch
from core.models.consent import Consent, agreed
from core.models.device import device_named
from core.models.folder import architecture, content_hash, model_folder
from core.models.frame import frame_of
from core.models.memory import free_memory, out_of_memory
from core.models.pairs import loading, short_name, window
from core.models.protocols import Reranking, RerankRequest
from core.models.windows import joined_texts, plan, token_ranges
from core.models.wordpieces import Subwords

LONGEST = 8192
"""Tokens of a pass, question included, at most."""

AT_ONCE = 4096
"""Tokens of a batch."""


class TokenRelevance:
    """A model that says of each token how likely it is to help answer the question.

    It has a head for tokens (``…ForTokenClassification`` with one label, or two of which the
    second means relevant), or code of its own whose output holds ``compression_logits``, as
    Provence's does. Score and raw score are the mean over a chunk's tokens. Its relevance is
    that of its most relevant token: no less likely is it that something in the chunk helps.
    """

    @classmethod
    def load(
        cls, name: str, *, download: bool = False, trust: Sequence[Consent] = ()
    ) -> TokenRelevance:
        """Loads a model from a folder or, by its name, from the hub's cache.

        Raises:
            ModelError: the model cannot be had, is of another kind, or brings code to whose
                revision nobody in ``trust`` agreed.
        """
        folder = model_folder(name, download=download)
        kind = architecture(folder)
        code = agreed(name, folder, trust)
        if not code and not kind.endswith("ForTokenClassification"):
            raise ModelError(
                name,
                f"is a {kind or 'model of unknown kind'}, which scores no tokens",
                "Take one whose config.json names a …ForTokenClassification, or Provence.",
            )
        with loading(name):
            torch = import_torch()
            from transformers import AutoModel, AutoModelForTokenClassification, AutoTokenizer

            heads = kind.endswith("ForTokenClassification")
            model = (AutoModelForTokenClassification if heads else AutoModel).from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=code, dtype=torch.float32
            )
            device = device_named()
            model.eval().to(device)
            tokenizer = AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=code
            )
            return cls(model, tokenizer, short_name(name, folder), folder, device)

    def __init__(self, model: Any, tokenizer: Any, title: str, folder: Path, device: str) -> None:
        self._model, self._device = model, device
        self._pieces = Subwords.of(tokenizer, title)
        self._frame = frame_of(tokenizer, pair=True)
        self._typed = "token_type_ids" in tokenizer.model_input_names
        self._length = window(model, tokenizer, LONGEST)
        self._at_once = AT_ONCE
        self._busy = threading.Lock()
        self.name = f"{title} (token relevance)"
        self.fingerprint = f"tokens:{content_hash(folder)}:{self._length}:{device}"

    def lasting(self, request: RerankRequest) -> dict[str, str]:
        """A score rests on all that was read with the chunk."""
        mean, most = self._names(request)
        return {name: name for name in (*mean, *most)}

    def _names(self, request: RerankRequest) -> tuple[list[str], list[str]]:
        whole = hashlib.blake2b(digest_size=16)
        for chunk in request.chunks:
            packed = chunk.text.encode("utf-8", "surrogatepass")
            whole.update(len(packed).to_bytes(8, "little") + packed)
        names = [f"text {whole.hexdigest()}:{i}" for i in range(len(request.chunks))]
        return names, [f"{name}:most" for name in names]

    def rerank(self, request: RerankRequest) -> Reranking:
        """Scores each chunk by its tokens.

        Raises:
            ModelError: the model failed, gave no number at all, or one pass does not fit memory.
            Cancelled: the person stopped the work.
        """
        text, spans = joined_texts([c.text for c in request.chunks])
        ids, starts = self._pieces.read(text)
        first, last = token_ranges(starts, spans)
        asked = self._pieces.read_each([request.question])[0]
        room = self._length - self._frame.size
        question = asked[: room // 2]
        reach = room - len(question)
        windows = plan(len(ids), reach, reach // 4)
        mean, most = self._names(request)
        filled = np.flatnonzero(last > first)
        if any(mean[i] not in request.memo or most[i] not in request.memo for i in filled):
            with self._busy:
                tokens = self._read(question, ids, windows, request)
            for i in filled:
                own = tokens[first[i] : last[i]]
                request.memo[mean[i]], request.memo[most[i]] = float(own.mean()), float(own.max())
        raw, best = np.full(len(spans), np.nan), np.full(len(spans), np.nan)
        raw[filled] = [request.memo[mean[i]] for i in filled]
        best[filled] = [request.memo[most[i]] for i in filled]
        if len(filled) and np.isnan(raw).all():
            raise ModelError(
                self.name, "gave no number for any chunk", "Its weights may be damaged."
            )
        cut = len(asked) - len(question)
        return Reranking(
            scores=raw,
            raw=raw,
            relevance=best,
            tokens_read=sum(w.end - w.start + len(question) + self._frame.size for w in windows),
            truncated=np.zeros(len(spans), dtype=np.int64),
            how="the candidates were read in document order, as one text and together with the "
            f"question, in {len(windows)} passes of at most {self._length:,} tokens; a chunk's "
            "score is the mean of its tokens' relevance, its relevance that of the best of them",
            warnings=(f"{cut} tokens at the question's end were not read.",) if cut else (),
        )

    def _read(self, question, ids, windows, request: RerankRequest) -> np.ndarray:
        """float64 [t]: the relevance of each token of the text."""
        out, waiting = np.zeros(len(ids)), list(windows)
        while waiting:
            if request.cancelled and request.cancelled():
                raise Cancelled
            length = waiting[0].end - waiting[0].start + len(question) + self._frame.size
            batch = waiting[: max(1, self._at_once // length)]
            rows = [self._frame.pair(question, ids[w.start : w.end]) for w in batch]
            read = self._tried(rows)
            if read is None:
                if len(batch) == 1:
                    raise ModelError(
                        self.name,
                        f"ran out of memory on {length:,} tokens",
                        "Close other programs, or take a smaller model.",
                    )
                self._at_once = len(batch) // 2 * length
                free_memory()
                continue
            for w, (_, _, begin), relevance in zip(batch, rows, read, strict=True):
                inside = slice(begin + w.keep_start - w.start, begin + w.keep_end - w.start)
                out[w.keep_start : w.keep_end] = relevance[inside]
            waiting = waiting[len(batch) :]
        return out

    def _tried(self, rows: list[tuple[np.ndarray, np.ndarray, int]]) -> np.ndarray | None:
        """Relevance float64 [b, l] of rows of one length; None where memory did not suffice."""
        torch = import_torch()
        ids = torch.from_numpy(np.stack([r[0] for r in rows])).to(self._device)
        asked = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if self._typed:
            asked["token_type_ids"] = torch.from_numpy(np.stack([r[1] for r in rows])).to(
                self._device
            )
        try:
            with torch.inference_mode():
                logits = _token_logits(self._model(**asked)).float().cpu().numpy()
        except Exception as error:
            if out_of_memory(error):
                return None
            said = str(error).strip() or type(error).__name__
            raise ModelError(self.name, f"could not read the candidates ({said})") from error
        return _relevance(logits.astype(np.float64), ids.shape, self.name)


def _token_logits(output: Any) -> Any:
    """What the model says of each token, under the name it has with Provence or transformers."""
    for name in ("compression_logits", "logits"):
        found = getattr(output, name, None)
        if found is not None:
            return found
    raise ValueError("its output holds neither compression_logits nor logits")


def _relevance(logits: np.ndarray, shape: Sequence[int], model: str) -> np.ndarray:
    """Probabilities [b, l] from logits [b, l], [b, l, 1] or [b, l, 2]."""
    if logits.ndim == 3 and logits.shape[2] == 1:
        logits = logits[:, :, 0]
    if logits.ndim == 3 and logits.shape[2] == 2:
        logits = logits[:, :, 1] - logits[:, :, 0]  # softmax over two, the second means relevant
    if logits.shape != tuple(shape):
        raise ModelError(
            model,
            f"gave numbers of the shape {logits.shape} for {shape[0]} rows of {shape[1]} tokens",
            "Take a model with one label a token, or two.",
        )
    with np.errstate(invalid="ignore"):
        return np.exp(-np.logaddexp(0.0, -logits))
