"""BM25 scoring against bm25s and rank-bm25 on one synthetic corpus, in one run.

    python -m benchmarks.bm25 [--chunks 100000] [--queries 200] [--peer-queries 5]

The corpus follows Zipf's law, and needs no outside data. All three libraries score the same
terms (ours, from the analyser). bm25s's ``atire`` method has the term weight used here,
f(k1 + 1)/(f + …), and its ``lucene`` IDF is the one used here; its ``lucene`` weight lacks the
constant k1 + 1, so its scores are ours divided by that, and their order is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from core.index.analyse import analyse, analyse_query
from core.index.bm25 import BM25Index
from core.index.term_counts import TermStatistics, count_terms

K1, B = 1.5, 0.75
RESULTS = Path(__file__).parent / "results" / "bm25.json"


def synthetic_corpus(
    chunks: int, words: int = 100, vocabulary: int = 200_000, seed: int = 0
) -> tuple[list[str], np.ndarray]:
    """Chunk texts of about ``words`` words, and the words by rank; frequency falls as 1/rank."""
    random = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    spelled = {"".join(random.choice(letters, random.integers(3, 10))) for _ in range(vocabulary)}
    ranked = np.array(sorted(spelled))
    random.shuffle(ranked)
    share = 1.0 / np.arange(1, len(ranked) + 1)
    lengths = random.integers(words // 2, words * 3 // 2, size=chunks)
    drawn = ranked[random.choice(len(ranked), int(lengths.sum()), p=share / share.sum())]
    cuts = np.cumsum(lengths)[:-1]
    return [" ".join(piece) for piece in np.split(drawn, cuts)], ranked


def synthetic_queries(ranked: np.ndarray, count: int, seed: int = 1) -> list[list[str]]:
    """Questions of 3 to 12 words, from the very common to the rare (log-uniform in rank)."""
    random = np.random.default_rng(seed)
    ranks = [
        np.exp(random.uniform(0, np.log(len(ranked)), random.integers(3, 13))).astype(int) - 1
        for _ in range(count)
    ]
    return [analyse_query(" ".join(ranked[chosen])) for chosen in ranks]


def rank_bm25_peer(corpus: Sequence[Sequence[str]]):
    """rank-bm25's Okapi scorer with the IDF above 0 in place of its own."""
    from rank_bm25 import BM25Okapi

    class Okapi(BM25Okapi, TermStatistics):
        def _calc_idf(self, nd):
            TermStatistics._calc_idf(self, nd)

    return Okapi(corpus, k1=K1, b=B)


def timed(score: Callable[[list[str]], np.ndarray], queries: Sequence[list[str]]) -> list[float]:
    """Seconds of each query."""
    seconds = []
    for query in queries:
        start = time.perf_counter()
        score(query)
        seconds.append(time.perf_counter() - start)
    return seconds


def measure(chunks: int, queries: int, peer_queries: int) -> dict:
    """Run all three. Indexing is in seconds of CPU, scoring in seconds a query (medians)."""
    import bm25s

    texts, ranked = synthetic_corpus(chunks)
    asked = synthetic_queries(ranked, queries)

    start = time.process_time()
    parts = [count_terms(texts[at : at + 100]) for at in range(0, chunks, 100)]
    counted = time.process_time()
    index = BM25Index.merge(parts)
    merged = time.process_time()

    corpus = [analyse(text) for text in texts]
    peer_start = time.process_time()
    peer = bm25s.BM25(method="atire", idf_method="lucene", k1=K1, b=B)
    peer.index(corpus, show_progress=False)
    peer_indexed = time.process_time() - peer_start
    exact = bm25s.BM25(method="atire", idf_method="lucene", k1=K1, b=B, dtype="float64")
    exact.index(corpus, show_progress=False)
    okapi = rank_bm25_peer(corpus)

    def ours(query: list[str]) -> np.ndarray:
        return index.scores(query, K1, B)

    few = asked[:peer_queries]
    difference = max(np.abs(ours(q) - exact.get_scores(q)).max() for q in asked)
    okapi_difference = max(np.abs(ours(q) - okapi.get_scores(q)).max() for q in few)

    # A new k1 computes what each term gives anew; that is what a dragged slider costs.
    fresh = timed(lambda query: index.scores(query, K1 + 0.1, B), asked)
    # Alternating rounds, so that a busy moment on the machine falls on both.
    mine, theirs = [], []
    for _ in range(5):
        mine.append(timed(ours, asked))
        theirs.append(timed(peer.get_scores, asked))
    ours_seconds = statistics.median(np.median(mine, axis=0))
    bm25s_seconds = statistics.median(np.median(theirs, axis=0))
    return {
        "chunks": chunks,
        "queries": queries,
        "entries": int(sum(len(part.indices) for part in parts)),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, numpy {np.__version__}",
        "analyse_and_count_seconds": counted - start,
        "merge_seconds": merged - counted,
        "bm25s_index_seconds": peer_indexed,
        "ours_seconds": ours_seconds,
        "ours_new_knob_seconds": statistics.median(fresh),
        "bm25s_seconds": bm25s_seconds,
        "rank_bm25_seconds": statistics.median(timed(okapi.get_scores, few)),
        "ours_total_seconds": float(np.median(mine, axis=0).sum()),
        "bm25s_total_seconds": float(np.median(theirs, axis=0).sum()),
        "ratio_ours_to_bm25s": ours_seconds / bm25s_seconds,
        "largest_difference_bm25s_float64": float(difference),
        "largest_difference_rank_bm25": float(okapi_difference),
    }


def table(result: dict) -> str:
    """The result as Markdown."""
    base = result["bm25s_seconds"]
    rows = [
        ("Chunkscope", result["ours_seconds"]),
        ("Chunkscope, first use of a (k1, b)", result["ours_new_knob_seconds"]),
        ("bm25s (numpy backend)", base),
        ("rank-bm25", result["rank_bm25_seconds"]),
    ]
    lines = [
        (
            f"{result['chunks']:,} chunks, {result['entries']:,} entries, {result['queries']} queries; "
            f"{result['machine']}"
        ),
        "",
        "| scorer | median ms a query | ratio to bm25s |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {1e3 * seconds:.2f} | {seconds / base:.2f} |" for name, seconds in rows),
        "",
        (
            f"All queries: {result['ours_total_seconds']:.3f} s against "
            f"{result['bm25s_total_seconds']:.3f} s for bm25s. Analysing and counting took "
            f"{result['analyse_and_count_seconds']:.1f} s, merging {result['merge_seconds']:.1f} s; "
            f"bm25s indexed the same terms in {result['bm25s_index_seconds']:.1f} s (CPU)."
        ),
        (
            f"Largest difference of a score: {result['largest_difference_bm25s_float64']:.1e} "
            f"(bm25s in float64, atire weight), {result['largest_difference_rank_bm25']:.1e} "
            "(rank-bm25 with this IDF)."
        ),
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--peer-queries", type=int, default=5, help="queries for rank-bm25")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the numbers are written")
    options = parser.parse_args()
    result = measure(options.chunks, options.queries, options.peer_queries)
    print(table(result))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
