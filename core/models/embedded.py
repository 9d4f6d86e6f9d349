"""The embedded model, or any other encoder, as three rerankers: piecewise, listwise, context.

All three score by late interaction: the mean, over the question's tokens, of the best
cosine with a token of the chunk (MaxSim; Khattab and Zaharia, SIGIR 2020), where rare tokens
weigh more by their IDF, so that a name counts for more than the words that ask for it. They
differ in what the chunk's tokens had read when their states were taken: the chunk alone, the
candidates in retrieval order, or the chunk's true surroundings.
"""

from __future__ import annotations

import hashlib
import threading

import numpy as np

from core.errors import ModelError
from core.models.encoder import Encoder
from core.models.maxsim import best_tokens, maxsim, mean_of_best
from core.models.protocols import Reranking, RerankRequest
from core.models.relevance import relevance
from core.models.windows import joined_texts
from core.ranking import min_max, neighbours, smoothed_by_neighbours, weighted_sum

VERSION = 2
"""Raise whenever the same states would come out as other scores."""

UNCALIBRATED = "Relevance is not calibrated for this encoder, so it gives none."


class _MaxSim:
    kind = ""

    def __init__(self, encoder: Encoder, calibrated: bool = True) -> None:
        """``calibrated`` says that the fits of relevance.py are for this encoder's numbers."""
        self.encoder = encoder
        self.name = f"{encoder.name}, MaxSim {self.kind}"
        self.fingerprint = f"{self.kind}-{VERSION}:{encoder.fingerprint}"
        self._calibrated = calibrated

    @property
    def _warnings(self) -> tuple[str, ...]:
        return () if self._calibrated else (UNCALIBRATED,)

    def _relevance(self, request: RerankRequest, raw: np.ndarray) -> np.ndarray | None:
        """None where no fit exists: cosines of another encoder mean something else."""
        return relevance(self.kind, request, raw) if self._calibrated else None

    def _query(self, request: RerankRequest) -> np.ndarray:
        if request.query is None or request.dense is None:
            raise ModelError(self.name, "the question was not encoded", "The first stage says why.")
        return request.query.tokens


class EmbeddedPiecewise(_MaxSim):
    """Each candidate read by itself. What it read is kept for later questions."""

    kind = "piecewise"

    def __init__(self, encoder: Encoder, calibrated: bool = True, kept: int = 4096) -> None:
        super().__init__(encoder, calibrated)
        self._kept = kept
        self._states: dict[str, tuple[np.ndarray, int]] = {}
        self._lock = threading.Lock()

    def rerank(self, request: RerankRequest) -> Reranking:
        query = self._query(request)
        held = self._read(request)
        states = [held[_key(c.text)] for c in request.chunks]
        offsets = np.cumsum([0, *(len(s) for s, _ in states)])
        tokens = np.concatenate([s for s, _ in states])
        raw = maxsim(query, tokens, offsets, request.token_weights).astype(np.float64)
        return Reranking(
            scores=min_max(raw),
            raw=raw,
            relevance=self._relevance(request, raw),
            warnings=self._warnings,
            parts={"coverage": request.coverage},
            tokens_read=int(offsets[-1]),
            truncated=np.array([t for _, t in states]),
            how="each candidate was read alone",
        )

    def _read(self, request: RerankRequest) -> dict[str, tuple[np.ndarray, int]]:
        """The states of the request's chunks, and how many tokens of each were not read.

        A dictionary of the request's own: another thread may let go of what is kept.
        """
        texts = {_key(c.text): c.text for c in request.chunks}
        with self._lock:
            held = {k: self._states[k] for k in texts if k in self._states}
        new = [k for k in texts if k not in held]
        if not new:
            return held
        spans = self.encoder.encode_alone([texts[k] for k in new], cancelled=request.cancelled)
        for i, key in enumerate(new):
            held[key] = (np.array(spans.tokens_of(i)), int(spans.truncated[i]))
        with self._lock:
            if len(self._states) + len(new) > self._kept:
                self._states = {}
            self._states.update(held)
        return held


class EmbeddedListwise(_MaxSim):
    """The candidates joined in retrieval order and read in overlapping passes."""

    kind = "listwise"

    def __init__(self, encoder: Encoder, calibrated: bool = True) -> None:
        super().__init__(encoder, calibrated)
        self._last: tuple[str, object] = ("", None)

    def rerank(self, request: RerankRequest) -> Reranking:
        query = self._query(request)
        texts = [request.chunks[i].text for i in request.retrieval_order]
        key = _key("\x00".join(texts))
        last = self._last  # read once: another thread may put its own in its place
        if last[0] != key:
            joined, spans = joined_texts(texts)
            last = (key, self.encoder.encode_spans(joined, spans, cancelled=request.cancelled))
            self._last = last
        states = last[1]
        weights = request.token_weights
        in_order = maxsim(query, states.states, states.offsets, weights).astype(np.float64)
        raw = np.empty_like(in_order)
        raw[request.retrieval_order] = in_order
        return Reranking(
            scores=min_max(raw),
            raw=raw,
            relevance=self._relevance(request, raw),
            warnings=self._warnings,
            parts={"coverage": request.coverage},
            tokens_read=int(states.offsets[-1]),
            how="the candidates were read together, in the order in which they were retrieved",
        )


class EmbeddedContext(_MaxSim):
    """Candidates in document order, their tokens read at indexing among their true neighbours.

    The score is the weighted mean of BM25 (logarithm), dense, contextual MaxSim and term
    coverage scores, each min-max over the candidates. The candidates' company enters twice: a
    word of the question may find its match in the chunk next door, which counts a little less,
    and each chunk gains a share of its neighbours' scores.
    """

    kind = "context"

    def rerank(self, request: RerankRequest) -> Reranking:
        knobs = request.settings
        places = [(c.document_id, c.ordinal) for c in request.chunks]
        best, weights = self._best(request), request.token_weights
        raw = mean_of_best(best, weights).astype(np.float64)
        joint = _with_neighbours(best, places, knobs.neighbour_words)
        near = mean_of_best(joint, weights).astype(np.float64)
        parts = {
            "bm25": min_max(np.log1p(request.bm25)),
            "dense": min_max(request.dense),
            "maxsim": min_max(near),
            "terms": min_max(request.coverage),
        }
        own = weighted_sum(
            [
                (knobs.weight_bm25, parts["bm25"]),
                (knobs.weight_dense, parts["dense"]),
                (knobs.weight_maxsim, parts["maxsim"]),
                (knobs.weight_terms, parts["terms"]),
            ]
        )
        joined = smoothed_by_neighbours(own, places, knobs.neighbour_share)
        added = {"near": near, "own": own, "neighbours": joined - own}
        return Reranking(
            scores=min_max(joined),
            raw=raw,
            relevance=self._relevance(request, raw),
            warnings=self._warnings,
            parts=parts | added | {"coverage": request.coverage},
            how="tokens were read once, at indexing, among their true neighbours in the "
            "document; the candidates' company enters through the neighbours' words and share",
        )

    def _best(self, request: RerankRequest) -> np.ndarray:
        """The best cosine of each question token in each chunk, float32 [t, n].

        Computed once a question and chunk: windows add chunks, not work.
        """
        query, memo = self._query(request), request.memo
        if request.states is None:
            raise ModelError(self.name, "the index holds no token states", "Index with an encoder.")
        new = [i for i, c in enumerate(request.chunks) if c.id not in memo]
        if new:
            states = request.states(new)
            found, _ = best_tokens(query, states.states, states.offsets)
            for i, column in zip(new, np.ascontiguousarray(found.T), strict=True):
                memo[request.chunks[i].id] = column
        return np.stack([memo[c.id] for c in request.chunks], axis=1)


def _with_neighbours(best: np.ndarray, places: list[tuple[str, int]], share: float) -> np.ndarray:
    """Best cosines [t, n], where those of the chunk before and after count at ``share``."""
    out = best
    for at in neighbours(places, (-1, 1)) if share else ():
        out = np.maximum(out, np.where(at >= 0, np.float32(share) * best[:, at], best))
    return out


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
