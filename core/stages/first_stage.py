"""Stage 2, first stage: BM25 and dense scores for the whole corpus, fused, cut at ``candidate_k``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.errors import Cancelled, EmptyIndexError
from core.index.analyse import analyse_query
from core.index.rarity import coverage, token_weights
from core.models.states import QueryStates
from core.ranking import descending, min_max, ranks, reciprocal_rank_fusion, weighted_sum
from core.records import Candidate
from core.settings import Settings
from core.stages.base import Query, Run, State, entry, number
from core.trace import KEPT, StageRecord


@dataclass(frozen=True)
class Asked:
    """The whole corpus scored for a question, before anything is cut.

    ``how`` says how its scores came about, ``degraded`` why there are no dense ones.
    """

    query: Query
    how: str
    degraded: str


def first_stage(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Scores every visible chunk and keeps the best.

    Raises:
        EmptyIndexError: where there is no chunk to score.
    """
    index, asked = run.index, ask(settings, run)
    query, how = asked.query, asked.how
    rows, warnings = taken(query, settings, run)
    k = wanted_of(settings, run)
    if run.mode.first_stage != "whole" and k > len(query.fused):
        how += f"; all {len(query.fused)} chunks taken, fewer than the {k} asked for"
    if query.states is not None and query.states.truncated:
        warnings += (
            f"The question is longer than the model reads: {query.states.truncated} tokens cut.",
        )
    ranked = run.mode.first_stage != "whole"
    candidates = tuple(
        Candidate(
            chunk_id=index.chunk_ids[row],
            score=float(query.fused[row]) if ranked else None,
            scores=_scores(query, row) if ranked else {},
        )
        for row in rows
    )
    record = StageRecord(
        name="first_stage",
        settings=settings.of_groups("first_stage"),
        model=run.encoder.name if query.dense is not None and run.encoder else "",
        how=how if ranked else "nothing is ranked: documents go in whole, in reading order",
        entered=len(query.fused),
        passed=len(candidates),
        kept=tuple(c.chunk_id for c in candidates),
        entries=tuple(
            entry(c, KEPT, rank, scores={k: number(v) for k, v in c.scores.items()})
            for rank, c in enumerate(candidates, 1)
        ),
        warnings=warnings,
        degraded=asked.degraded,
        last_kept=candidates[-1].chunk_id if candidates else "",
        cut_score=number(candidates[-1].score) if candidates else None,
    )
    return replace(state, candidates=candidates, query=query), record


def ask(settings: Settings, run: Run) -> Asked:
    """Scores every visible chunk.

    Raises:
        EmptyIndexError: where there is no chunk to score.
    """
    index = run.index
    if not index.chunk_ids:
        raise EmptyIndexError(
            "the index is empty", "no readable document has text", "Add a document with text."
        )
    terms = tuple(analyse_query(run.question))
    bm25 = index.bm25.scores(terms, settings.k1, settings.b)
    query_states, dense, degraded = _dense(run)
    sparse = _sparse(run, query_states)
    fused, how = _fused(run.mode.first_stage, bm25, dense, sparse, settings)
    if "coverage" not in run.read:  # no knob changes it
        run.read["coverage"] = coverage(index.bm25, terms)
    query = Query(
        terms=terms,
        states=query_states,
        bm25=bm25,
        dense=dense,
        fused=fused,
        coverage=run.read["coverage"],
        sparse=sparse,
        token_weights=_weights(run, query_states),
    )
    return Asked(query, how, degraded)


def taken(query: Query, settings: Settings, run: Run) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows of the chunks that go on, best first (whole documents: in reading order), and what
    there is to say about it."""
    if run.mode.first_stage == "whole":
        return _whole(run, settings, query.bm25)
    rows = descending(query.fused)[: wanted_of(settings, run)]
    if run.mode.first_stage == "bm25" and not query.bm25.any():
        said = f"No chunk holds a term of the question: the first {len(rows)} chunks were taken."
        return rows, (said,)
    return rows, ()


def wanted_of(settings: Settings, run: Run) -> int:
    """How many chunks a ranking first stage takes."""
    return settings.top_k if run.mode.first_stage == "bm25" else settings.candidate_k


def _weights(run: Run, states: QueryStates | None) -> np.ndarray | None:
    """What each of the encoder's tokens of the question weighs, where it says where they stand."""
    if states is None or states.starts is None:
        return None
    key = f"token weights of {run.encoder.fingerprint}"
    if key not in run.read:
        run.read[key] = token_weights(run.index.bm25, run.question, states.starts)
    return run.read[key]


def _dense(run: Run):
    """The question's states, and its cosine with every chunk; or why there are none."""
    if run.mode.first_stage in ("bm25", "whole"):
        return None, None, ""
    if run.encoder is None or run.index.vectors is None:
        why = run.no_encoder if run.encoder is None else "no encoder read the documents"
        return None, None, f"{why.rstrip('.')}: BM25 alone ranks"
    if not run.index.read_by(run.encoder.fingerprint):
        # Their vectors have nothing to do with each other, even where they are of one length.
        return None, None, "another encoder read the documents (index them anew): BM25 alone ranks"
    try:
        if run.encoder.fingerprint not in run.read:
            states = run.encoder.encode_query(run.question)
            dense = (run.index.vectors @ states.vector).astype(np.float64)
            run.read[run.encoder.fingerprint] = states, dense
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001  whatever a model throws, the trace goes on
        return None, None, f"{run.encoder.name} failed ({error}): BM25 alone ranks"
    return *run.read[run.encoder.fingerprint], ""


def _sparse(run: Run, states: QueryStates | None) -> np.ndarray | None:
    """Scores by learnt lexical weights, where the encoder gives them."""
    if states is None or states.sparse is None or run.index.sparse is None:
        return None
    return run.index.sparse.scores(states.sparse)


def _fused(
    kind: str,
    bm25: np.ndarray,
    dense: np.ndarray | None,
    sparse: np.ndarray | None,
    settings: Settings,
):
    """One score a chunk, and a sentence on how it came about."""
    learnt = settings.fusion_sparse if sparse is not None else 0.0
    if dense is None or kind == "bm25" or settings.fusion == "bm25":
        return bm25, "BM25 alone"
    dense = np.nan_to_num(dense, nan=-1.0)
    if settings.fusion == "dense":
        return dense, "dense cosine alone"
    if settings.fusion == "weighted":
        share = settings.fusion_bm25
        parts = [(share, min_max(bm25)), (1 - share, min_max(dense))]
        how = f"{share:g} × BM25 + {1 - share:g} × dense"
        if learnt:
            parts.append((learnt, min_max(sparse)))
            how += f" + {learnt:g} × sparse"
        return weighted_sum(parts), f"{how}, each min-max over the corpus"
    by_dense = ranks(descending(dense))
    fused = reciprocal_rank_fusion([_matched(bm25), by_dense], settings.rrf_k)
    if not learnt:
        return fused, f"reciprocal rank fusion of BM25 and dense, k = {settings.rrf_k}"
    fused = fused + learnt * reciprocal_rank_fusion([_matched(sparse)], settings.rrf_k)
    return fused, (
        f"reciprocal rank fusion of BM25, dense and {learnt:g} × sparse, k = {settings.rrf_k}"
    )


def _matched(scores: np.ndarray) -> np.ndarray:
    """float64[n]: the rank of each chunk that shares a term with the question.

    One that shares none has no rank: ties at 0 must not be a reward for standing early in
    the corpus.
    """
    out = ranks(descending(scores)).astype(np.float64)
    out[scores <= 0] = np.inf
    return out


def _scores(query: Query, row: int) -> dict[str, float]:
    scores = {"bm25": float(query.bm25[row]), "fused": float(query.fused[row])}
    if query.dense is not None:
        scores["dense"] = float(query.dense[row])
    if query.sparse is not None:
        scores["sparse"] = float(query.sparse[row])
    return scores


def _whole(run: Run, settings: Settings, bm25: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows of the documents below the size limit; of larger ones the best by BM25."""
    rows, warnings = [], []
    for document, start, stop in run.index.document_rows():
        if len(document.text) < settings.full_document_limit:
            rows.extend(range(start, stop))
            continue
        best = descending(bm25[start:stop])[: settings.top_k]
        rows.extend(sorted(int(start + r) for r in best))
        warnings.append(
            f"{document.name} has {len(document.text):,} characters, over the limit of "
            f"{settings.full_document_limit:,}: its {len(best)} best chunks by BM25 were taken."
        )
    return np.array(rows, dtype=np.int64), tuple(warnings)
