"""Indexing against a bare loop over the same encoder, on the same text, in one run.

    python -m benchmarks.indexing [--docs FILE…]

Indexing is all that happens between a document's text and its arrays on disk: tokenising,
overlapping windows, the forward pass, means, projection, quantising, writing. The bare loop
is the forward pass alone, in the same number format, windows and batches, over tokens that
are ready. It reads each token once and indexing reads those in an overlap twice, so the speed
of both is counted in tokens that went through the encoder; the price of the overlap is given
beside it. CPU seconds are compared, as other work on the machine falls on both unevenly.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.chunking import chunk_document
from core.index.cache import ArrayCache
from core.index.dense import encode_document
from core.models.embedder import BATCH, EmbeddedEncoder
from core.models.windows import plan
from core.records import Chunk, Document, document_id
from core.tokens import wordpiece

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).parent / "results" / "indexing.json"


def samples() -> list[Path]:
    """The sample documents."""
    folder = ROOT / "sample_docs"
    return sorted(p for p in folder.iterdir() if p.suffix in (".pdf", ".md", ".txt"))


def text_of(path: Path) -> str:
    """A PDF's text as it lies, or a text file's."""
    if path.suffix.lower() != ".pdf":
        return path.read_text(encoding="utf-8")
    import pymupdf

    with pymupdf.open(path) as pdf:
        return "\n".join(page.get_text() for page in pdf)


def bare_loop(encoder: EmbeddedEncoder, ids: np.ndarray) -> int:
    """Forward passes over ``ids``, each token once; the tokens read."""
    size = encoder.reach
    rows = [ids[at : at + size] for at in range(0, len(ids) - size + 1, size)]
    for at in range(0, len(rows), BATCH):
        encoder.forward(rows[at : at + BATCH])
    return len(rows) * size


def indexing(
    encoder: EmbeddedEncoder, document: Document, chunks: Sequence[Chunk], folder: Path
) -> int:
    """Text to arrays on disk; their bytes."""
    cache = ArrayCache(folder)
    encode_document(document, chunks, encoder, cache)
    return sum(f.stat().st_size for f in cache.entries.rglob("*") if f.is_file())


def measure(paths: Sequence[Path], tokens: int, rounds: int) -> dict:
    """The figures of one run; seconds are medians over the rounds, which alternate."""
    encoder = EmbeddedEncoder.load()
    text = "\n\n".join(text_of(path) for path in paths)
    ids, starts = encoder.tokens(text)
    if len(ids) > tokens:
        text, ids = text[: starts[tokens]], ids[:tokens]
    document = Document(id=document_id(text), name="benchmark", title="", text=text)
    chunks = chunk_document(document, wordpiece())
    windows = plan(len(ids), encoder.reach, encoder.overlap)
    read = sum(w.end - w.start for w in windows)
    bare_loop(encoder, ids[: 4 * encoder.reach])
    ours, bare, wall, reopened, size, looped = [], [], [], [], 0, 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            begin, cpu = time.perf_counter(), time.process_time()
            size = indexing(encoder, document, chunks, Path(folder))
            wall.append(time.perf_counter() - begin)
            ours.append(time.process_time() - cpu)
            begin = time.perf_counter()
            indexing(encoder, document, chunks, Path(folder))
            reopened.append(time.perf_counter() - begin)
        cpu = time.process_time()
        looped = bare_loop(encoder, ids)
        bare.append(time.process_time() - cpu)
    speeds = [read / statistics.median(ours), looped / statistics.median(bare)]
    return {
        "documents": [path.name for path in paths],
        "model": encoder.name,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "tokens": len(ids),
        "chunks": len(chunks),
        "tokens_read_with_overlap": read,
        "megabytes": size / 1e6,
        "seconds_wall": statistics.median(wall),
        "seconds_cpu": statistics.median(ours),
        "seconds_reopened": statistics.median(reopened),
        "indexing_tokens_per_cpu_second": speeds[0],
        "bare_tokens_per_cpu_second": speeds[1],
        "ratio_overlap_aside": speeds[0] / speeds[1],
        "ratio_with_overlap": len(ids) / statistics.median(ours) / speeds[1],
    }


def table(result: dict) -> str:
    """The result as Markdown."""
    return "\n".join(
        [
            (
                f"{result['tokens']:,} tokens in {result['chunks']:,} chunks; {result['model']}; "
                f"{result['machine']}"
            ),
            "",
            "| | tokens read | CPU seconds | tokens a CPU second |",
            "| --- | ---: | ---: | ---: |",
            (
                f"| indexing | {result['tokens_read_with_overlap']:,} | {result['seconds_cpu']:.2f} | "
                f"{result['indexing_tokens_per_cpu_second']:,.0f} |"
            ),
            (
                f"| bare loop | {result['tokens']:,} | "
                f"{result['tokens'] / result['bare_tokens_per_cpu_second']:.2f} | "
                f"{result['bare_tokens_per_cpu_second']:,.0f} |"
            ),
            "",
            (
                f"Ratio, contextual overlap aside: {result['ratio_overlap_aside']:.2f} "
                f"({result['ratio_with_overlap']:.2f} with it). On disk {result['megabytes']:.1f} MB; "
                f"{result['seconds_wall']:.1f} s by the clock, "
                f"{1e3 * result['seconds_reopened']:.0f} ms to reopen."
            ),
        ]
    )


def main() -> None:
    """Measure, print the table, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", nargs="+", type=Path, help="PDF or text; else the samples")
    parser.add_argument("--tokens", type=int, default=200_000, help="read at most so many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the numbers are written")
    options = parser.parse_args()
    result = measure(options.docs or samples(), options.tokens, options.rounds)
    print(table(result))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
