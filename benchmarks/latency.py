"""A question over 10,000 and over 100,000 chunks, beside bm25s and a bare matrix product.

Each question is new to the pipeline; the index is in memory and warm. The peers answer the
same questions over the same chunks: bm25s the words alone, one matrix product the dense
scores alone.

    python benchmarks/latency.py [--chunks 10000 100000] [--cores 2]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_up import made_up_index

RESULTS = Path(__file__).parent / "results" / "latency.json"
WARM, ASKED = 4, 25


def latency(chunks: int) -> dict[str, Any]:
    """Milliseconds a question (median and 95th percentile), by stage, and of each peer;
    megabytes of the index, and at the peak."""
    from core.models.profiles import load_profile
    from core.pipeline import Pipeline

    before = resident()
    index, questions = made_up_index(chunks)
    encoder, rerankers = load_profile("embedded")
    pipeline = Pipeline(encoder, rerankers)
    some = [q for q in questions if q.strip()][: WARM + ASKED]
    traces: list[Any] = []
    whole = timed(lambda q: traces.append(pipeline.run(index, q)), some)
    stages = {
        s.name: statistics.median(t.stage(s.name).seconds for t in traces[WARM:]) * 1000
        for s in traces[0].stages
    }
    states = [encoder.encode_query(q).vector for q in some]
    product = timed(lambda v: index.vectors @ v, states)
    held = resident()
    row = {
        "chunks": chunks,
        "median_ms": statistics.median(whole),
        "p95_ms": sorted(whole)[int(0.95 * len(whole))],
        "stages_ms": stages,
        "outside_stages_ms": statistics.median(whole) - sum(stages.values()),
        "matrix_product_ms": statistics.median(product),
        "index_mb": held - before,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    words = bm25s_ms([c.text for c in index.chunks], some)
    return row | ({"bm25s_ms": words} if words else {})


def bm25s_ms(texts: list[str], questions: list[str]) -> float | None:
    """The median of bm25s over the same words; None where it is not installed."""
    try:
        import bm25s
    except ImportError:
        return None
    peer = bm25s.BM25()
    peer.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    def ask(question: str) -> None:
        tokens = bm25s.tokenize(question, show_progress=False)
        peer.retrieve(tokens, k=50, show_progress=False)

    return statistics.median(timed(ask, questions))


def timed(work: Callable[[Any], Any], inputs: list[Any]) -> list[float]:
    """Milliseconds of each but the first few, which pay for what is loaded once."""
    taken = []
    for value in inputs:
        began = time.perf_counter()
        work(value)
        taken.append((time.perf_counter() - began) * 1000)
    return taken[WARM:]


def resident() -> float:
    """Megabytes that the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    rows = [latency(n) for n in options.chunks]
    print("| chunks | median, ms | p95, ms | bm25s, ms | matrix product, ms | index, MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for r in rows:
        print(
            f"| {r['chunks']:,} | {r['median_ms']:.0f} | {r['p95_ms']:.0f} "
            f"| {r.get('bm25s_ms', float('nan')):.1f} | {r['matrix_product_ms']:.1f} "
            f"| {r['index_mb']:,.0f} |"
        )
    for r in rows:
        parts = ", ".join(f"{k} {v:.1f}" for k, v in r["stages_ms"].items() if v >= 0.05)
        print(f"\n{r['chunks']:,} chunks, ms: {parts}, the rest {r['outside_stages_ms']:.1f}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
