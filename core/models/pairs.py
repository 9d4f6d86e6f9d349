"""What cross-encoders share: a question and a chunk are read as one text, which gets one logit.

Score and relevance are the same number, ``sigmoid(logit)``: these models are trained so that
it is a probability (Nogueira and Cho, "Passage Re-ranking with BERT", 2019), which means the
same for every question. A subclass says how its library scores pairs and how it cuts them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import Cancelled, ModelError
from core.models.memory import free_memory, out_of_memory
from core.models.protocols import Reranking, RerankRequest

MAX_LENGTH = 1024
"""Tokens a pair, if the model reads as many: what bge-reranker-v2-m3 is advised to be given."""

BATCH = 16
"""Pairs a forward pass."""

_LENGTHS_KEPT = 20_000


class PairReranker:
    """A reranker that reads each chunk alone, together with the question.

    Raw logits are kept in the request's memo, so that chunks scored once are not read again;
    NaN stays NaN, and chunks without text are not sent to the model and get NaN.
    A logit depends on the company in its batch by rounding alone, some 1e-6.

    Args:
        name: shown to the person.
        fingerprint: changes whenever the numbers could.
        tokenizer: the model's own, of transformers.
        max_length: tokens of question, chunk and separators together that the model reads.
        runs_on: device and precision, shown to the person.
    """

    library = ""

    def __init__(
        self, name: str, fingerprint: str, tokenizer: Any, max_length: int, runs_on: str
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.max_length = max_length
        self.batch_size = BATCH
        self._tokenizer = tokenizer
        self._runs_on = runs_on
        self._marks = tokenizer.num_special_tokens_to_add(pair=True)
        self._lengths: dict[str, int] = {}
        # Neither the tokenizer's truncation nor the kept forward pass may be shared by threads.
        self._lock = threading.Lock()

    def _logits(self, pairs: list[tuple[str, str]]) -> Sequence[float]:
        """One logit a pair, in order. Whatever the library raises may come out."""
        raise NotImplementedError

    def _fit(self, question: int, chunk: int) -> tuple[int, int]:
        """How many of the question's and of the chunk's tokens the library lets the model read."""
        raise NotImplementedError

    def _as_read(self, question: str) -> str:
        """The question as the library hands it to the tokenizer."""
        return question

    def rerank(self, request: RerankRequest) -> Reranking:
        """Scores each chunk.

        Raises:
            ModelError: the model failed, gave no number at all, or one pair does not fit memory.
            Cancelled: the person stopped the work; what was scored until then is kept.
        """
        with self._lock:
            return self._rerank(request)

    def lasting(self, request: RerankRequest) -> dict[str, str]:
        """A chunk's score rests on its own text."""
        return {c.id: c.text for c in request.chunks if c.text.strip()}

    def _rerank(self, request: RerankRequest) -> Reranking:
        texts = [c.text for c in request.chunks]
        asked = self._count([self._as_read(request.question)])[0]
        lengths = self._cached_counts(texts)
        fits = np.array([self._fit(asked, n) for n in lengths], dtype=np.int64).reshape(-1, 2)
        legible = np.array([bool(t.strip()) for t in texts], dtype=bool) & (lengths > 0)
        sizes = fits.sum(axis=1) + self._marks
        new = [i for i in np.flatnonzero(legible) if request.chunks[i].id not in request.memo]
        self._score(request, sorted(new, key=lambda i: -sizes[i]))
        raw = np.full(len(texts), np.nan)
        raw[legible] = [request.memo[request.chunks[i].id] for i in np.flatnonzero(legible)]
        if legible.any() and np.isnan(raw[legible]).all():
            raise ModelError(
                self.name,
                "gave no number for any chunk",
                "Its weights may be damaged: fetch them again.",
            )
        scores = sigmoid(raw)
        return Reranking(
            scores=scores,
            raw=raw,
            relevance=scores,
            tokens_read=int(sizes[legible].sum()),
            truncated=np.where(legible, lengths - fits[:, 1], 0),
            how=f"{self.library} read each candidate alone, together with the question "
            f"({self._runs_on}, at most {self.max_length:,} tokens a pair)",
            warnings=_warnings(int((~legible).sum()), asked - int(fits[:, 0].min(initial=asked))),
        )

    def _score(self, request: RerankRequest, waiting: list[int]) -> None:
        """Scores the chunks at ``waiting``, longest first, into the memo."""
        batch = self.batch_size
        while waiting:
            if request.cancelled and request.cancelled():
                raise Cancelled
            now = waiting[:batch]
            logits = self._tried([(request.question, request.chunks[i].text) for i in now])
            if logits is not None:
                if len(logits) != len(now):
                    raise ModelError(
                        self.name,
                        f"gave {len(logits)} numbers for {len(now)} chunks",
                        "Take another model.",
                    )
                for i, logit in zip(now, logits, strict=True):
                    request.memo[request.chunks[i].id] = float(logit)
                waiting = waiting[batch:]
            elif len(now) == 1:
                raise ModelError(
                    self.name,
                    "ran out of memory on one chunk",
                    "Close other programs, make chunks smaller, or take a smaller model.",
                )
            else:
                batch = len(now) // 2
                free_memory()

    def _tried(self, pairs: list[tuple[str, str]]) -> Sequence[float] | None:
        """The logits, or None where memory did not suffice: the caller then halves the batch.

        What the failed pass holds is only freed once its traceback is gone, that is, on return.
        """
        try:
            return self._logits(pairs)
        except Exception as error:
            if out_of_memory(error):
                return None
            said = str(error).strip() or type(error).__name__
            raise ModelError(self.name, f"{self.library} failed ({said})") from error

    def _cached_counts(self, texts: Sequence[str]) -> np.ndarray:
        """int64[n]: tokens of each text, counted once for as long as it is asked for."""
        new = [t for t in dict.fromkeys(texts) if t not in self._lengths]
        if len(self._lengths) + len(new) > _LENGTHS_KEPT:
            asked = set(texts)
            self._lengths = {t: n for t, n in self._lengths.items() if t in asked}
        self._lengths.update(zip(new, self._count(new), strict=True))
        return np.array([self._lengths[t] for t in texts], dtype=np.int64)

    def _count(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        # verbose=False: texts longer than the window are the point of counting.
        ids = self._tokenizer(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        )["input_ids"]
        return [len(i) for i in ids]


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Tells whatever a library throws while it loads a model as a :class:`ModelError`."""
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(name, f"could not be loaded ({said})", "Fetch its files again.") from error
    finally:
        if bars:
            logging.enable_progress_bar()


def short_name(name: str, folder: Path) -> str:
    """What to call a model on the page: a hub's name as it is, of a folder only the last part."""
    return folder.resolve().name if Path(name).expanduser().is_dir() else name


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """float64[n] in [0, 1]: ``1 / (1 + exp(-x))``, without overflow; NaN stays NaN."""
    with np.errstate(invalid="ignore"):
        return np.exp(-np.logaddexp(0.0, -np.asarray(logits, dtype=np.float64)))


def window(model: Any, tokenizer: Any, asked: int) -> int:
    """How many tokens of a pair can be read: at most ``asked``, fewer where the model ends sooner.

    RoBERTa's kind counts positions from behind its padding index, so that of 514 rows only
    512 can be used; ``max_position_embeddings`` does not tell, and one token more fails.
    """
    tables = [
        m.num_embeddings - (0 if m.padding_idx is None else m.padding_idx + 1)
        for name, m in model.named_modules()
        if name.rpartition(".")[2] == "position_embeddings" and hasattr(m, "num_embeddings")
    ]
    declared = getattr(model.config, "max_position_embeddings", None) or asked
    limits = tables or [declared if declared > 0 else asked]
    return int(min(asked, tokenizer.model_max_length, *limits))


def _warnings(blank: int, cut_question: int) -> tuple[str, ...]:
    out = []
    if blank:
        out.append(f"{blank} chunks without text were not sent to the model.")
    if cut_question:
        out.append(f"{cut_question} tokens at the question's end were not read.")
    return tuple(out)
