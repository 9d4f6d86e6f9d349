"""The boundary to whatever reads text: small protocols, so that a test can pass a tiny model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from core.models.states import QueryStates, SpanStates
from core.records import Chunk
from core.settings import Settings


@dataclass(frozen=True)
class RerankRequest:
    """What a reranker may read. All arrays are aligned with ``chunks``.

    Attributes:
        query: the question as the encoder read it, or None where it did not.
        chunks: the candidates, in document order.
        retrieval_order: int[n], positions in ``chunks``, best first before this rerank.
        bm25: float64[n], raw. dense: float64[n] cosines, or None without an encoder.
        coverage: float64[n] in [0, 1], the share of the question's IDF mass that the chunk holds.
        token_weights: float64[t], at least 0: what each token of ``query`` weighs by its rarity
            among the chunks, or None: all weigh the same.
        states: reads the chunks' token states as the index holds them (read in document
            context), or None without an encoder.
        memo: raw scores, or what they are made of, for this question and reranker, kept between
            runs, by chunk id or by a name that says more.
        settings: the run's knobs; those of the group ``rerank`` are meant for rerankers.
        cancelled: asked between batches. May raise, which ends the work.
    """

    question: str
    query: QueryStates | None
    chunks: Sequence[Chunk]
    retrieval_order: np.ndarray
    bm25: np.ndarray
    dense: np.ndarray | None
    coverage: np.ndarray
    states: Callable[[Sequence[int]], SpanStates] | None
    settings: Settings
    memo: MutableMapping[str, Any] = field(default_factory=dict)
    cancelled: Callable[[], bool] | None = None
    token_weights: np.ndarray | None = None


@dataclass(frozen=True)
class Reranking:
    """A reranker's answer, each array aligned with the request's chunks.

    Attributes:
        scores: float64[n] in [0, 1]: what orders.
        raw: float64[n]: the model's own number.
        relevance: float64[n] in [0, 1]: a probability that means the same for every question.
        parts: component scores by name, float64[n] each.
        tokens_read: how many tokens the answer rests on, whether read now or kept from
            before: what a cache held must leave no mark.
        truncated: int[n]: tokens of each chunk that the model did not read.
        how: one sentence on what was done, shown in the trace.
        warnings: sentences for a person.
    """

    scores: np.ndarray
    raw: np.ndarray
    relevance: np.ndarray | None = None
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)
    tokens_read: int = 0
    truncated: np.ndarray | None = None
    how: str = ""
    warnings: tuple[str, ...] = ()


class Reranker(Protocol):
    """Scores chunks for a question. ``fingerprint`` changes whenever its numbers could."""

    name: str
    fingerprint: str

    def rerank(self, request: RerankRequest) -> Reranking:
        """Raises ModelError where the model cannot do it; the stage then degrades."""


@runtime_checkable
class Lasting(Protocol):
    """A reranker so slow that its raw scores are kept on disk."""

    def lasting(self, request: RerankRequest) -> Mapping[str, str]:
        """For each name in the memo, what decides its score beside the model and the question:
        the chunk's text, or a hash of all that was read with it."""
