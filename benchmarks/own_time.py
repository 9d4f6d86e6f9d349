"""The pipeline's own time beside the time in the models, in one run.

The sample documents are read, indexed and asked in every mode. The seconds spent inside the
encoder and the rerankers are set against all the rest, reading the files included. Chunks
that the piecewise rerank has read once are kept, as they are in use.

    python benchmarks/own_time.py [PATH ...]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "own_time.json"
SAMPLES = Path(__file__).parents[1] / "sample_docs"


class Clock:
    """Seconds inside any timed method; a call within a timed call counts once."""

    def __init__(self) -> None:
        self.seconds, self._depth = 0.0, 0

    def timed(self, inner: Any, *methods: str) -> Any:
        """``inner``, with these methods on the clock."""
        clock = self

        class Timed:
            def __getattr__(self, name: str) -> Any:
                value = getattr(inner, name)
                return clock.counted(value) if name in methods else value

        return Timed()

    def counted(self, work: Callable) -> Callable:
        def counting(*words: Any, **named: Any) -> Any:
            began = time.perf_counter()
            self._depth += 1
            try:
                return work(*words, **named)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.perf_counter() - began

        return counting


def own_time(paths: list[Path]) -> dict[str, dict[str, float]]:
    """Seconds in all, and in the models: to index, and a mode to trace all questions."""
    from core.models.profiles import load_profile
    from core.modes import MODES
    from core.pipeline import Pipeline
    from core.questions import load_questions
    from core.session import open_documents

    clock = Clock()
    encoder, rerankers = load_profile("embedded")
    encoder.encode_query("warm")
    encoder = clock.timed(encoder, "encode_query", "encode_spans", "encode_alone")
    rerankers = {kind: clock.timed(r, "rerank") for kind, r in rerankers.items()}
    # The rerankers hold the encoder as it was; their whole call is on the clock anyway.
    questions = [q.text for q in load_questions(SAMPLES / "questions.jsonl")]
    out: dict[str, dict[str, float]] = {}

    def measured(name: str, work: Callable[[], Any]) -> Any:
        clock.seconds, began = 0.0, time.perf_counter()
        result = work()
        total = time.perf_counter() - began
        out[name] = {
            "seconds": total,
            "in_models": clock.seconds,
            "own_share": 1 - clock.seconds / total,
        }
        return result

    def ask_all(pipeline: Pipeline, mode: str) -> None:
        for question in questions:
            pipeline.run(corpus.index, question, mode=mode)

    with tempfile.TemporaryDirectory() as cache:
        corpus = measured("index", lambda: open_documents(paths, encoder=encoder, cache=cache))
        for mode in MODES:
            measured(mode, partial(ask_all, Pipeline(encoder, rerankers), mode))
    whole = {k: sum(row[k] for row in out.values()) for k in ("seconds", "in_models")}
    out["all"] = {**whole, "own_share": 1 - whole["in_models"] / whole["seconds"]}
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[SAMPLES])
    rows = own_time(parser.parse_args().paths)
    print("| work | seconds | in the models | own share |\n| --- | ---: | ---: | ---: |")
    for name, row in rows.items():
        print(
            f"| {name} | {row['seconds']:.2f} | {row['in_models']:.2f} | {row['own_share']:.0%} |"
        )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
