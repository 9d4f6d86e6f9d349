"""What the embedded model's numbers in bfloat16 cost in recall, beside float32.

A CPU that computes in bfloat16 reads documents faster in it, and Chunkscope uses it there.
Both formats index the same documents from nothing and answer the same questions; recall is
compared question by question, with its interval.

    python benchmarks/number_format.py FOLDER     (corpora/ and questions.csv)
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "number_format.json"
MODES = ("no_rerank", "rerank_extend_rerank")


def measured(folder: Path, dtype: str) -> tuple[Any, dict[str, float], np.ndarray]:
    """The evaluation in one number format, its seconds, and the vectors of all chunks."""
    os.environ["CHUNKSCOPE_DTYPE"] = dtype
    from core.evaluate import YARDSTICK, evaluate
    from core.questions import load_questions
    from core.session import embedded_pipeline, open_documents

    pipeline = embedded_pipeline()
    pipeline.encoder.encode_query("The first reading is not measured.")
    with tempfile.TemporaryDirectory() as empty:
        # Read beforehand, so that the seconds are those of the model alone.
        paths = [folder / "corpora"]
        open_documents(paths, YARDSTICK, None, cache=Path(empty))
        began = time.perf_counter()
        index = open_documents(paths, YARDSTICK, pipeline.encoder, cache=Path(empty)).index
        indexing = time.perf_counter() - began
        questions = load_questions(folder / "questions.csv")
        evaluation = evaluate(pipeline, index, questions, MODES, scope="document")
        vectors = np.array(index.vectors, dtype=np.float32)
    return evaluation, {"indexing_seconds": indexing, "asking_seconds": evaluation.seconds}, vectors


def agreement(folder: Path) -> dict[str, Any]:
    """Recall in both formats as shares in [0, 1], and how near the vectors are."""
    from core.evaluate import compare, summarise

    exact, exact_seconds, truth = measured(folder, "float32")
    quick, quick_seconds, vectors = measured(folder, "bfloat16")
    cosines = (truth * vectors).sum(axis=1)
    recall = {
        name: {m: {b: f.recall[b].mean for b in f.recall} for m, f in summarise(e).modes.items()}
        for name, e in (("float32", exact), ("bfloat16", quick))
    }
    return {
        "cosine_mean": float(cosines.mean()),
        "cosine_min": float(cosines.min()),
        "seconds": {"float32": exact_seconds, "bfloat16": quick_seconds},
        "recall": recall,
        "differences": [
            [line.mode, line.budget, line.figure.mean, line.figure.low, line.figure.high]
            for line in compare(quick, exact).lines
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="without it nothing is measured")
    options = parser.parse_args()
    if options.folder is None:  # among the others, in `make bench`
        print("skipped: it needs a question set. Name the folder that holds it.")
        return
    from core.models.bert import choose_dtype

    if choose_dtype() == "float32":
        print("skipped: this CPU does not compute in bfloat16, so Chunkscope does not either.")
        return
    found = agreement(options.folder)
    print(f"cosine of a chunk's two vectors: {found['cosine_mean']:.5f}", end=" ")
    print(f"on average, {found['cosine_min']:.5f} at least\n")
    print("| mode | tokens | float32 | bfloat16 | difference, points |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for mode, budget, mean, low, high in found["differences"]:
        exact, quick = (found["recall"][f][mode][str(budget)] for f in ("float32", "bfloat16"))
        shown = f"{100 * mean:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"
        print(f"| {mode} | {budget:,} | {exact:.1%} | {quick:.1%} | {shown} |")
    for name, seconds in found["seconds"].items():
        print(f"\n{name}: indexing {seconds['indexing_seconds']:.1f} s", end="")
    print()
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
