"""A knob moved after the first rerank, against a full run, in one run.

Over made-up chunks with random states, so that any size can be measured: a full run asks
a new question; then one knob at a time moves, and only what depends on it runs again.

    python benchmarks/moved_knob.py [--chunks 10000] [--cores 1]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

from made_up import made_up_index

RESULTS = Path(__file__).parent / "results" / "moved_knob.json"

MODES = ("rerank_extend_rerank", "extend_rerank", "bge_rerank")

KNOBS: dict[str, list[Any]] = {
    "extend_threshold": [0.30 + 0.01 * i for i in range(1, 12)],
    "relevance_threshold": [0.11 + 0.01 * i for i in range(1, 12)],
    "dedup_threshold": [0.60 + 0.01 * i for i in range(1, 12)],
    "evidence_budget": [1_000 + 50 * i for i in range(1, 12)],
    "order": ["score", "source", "date"],
}


def moved_knob(chunks: int) -> dict[str, Any]:
    """Medians of each mode; see :func:`one_mode`."""
    from core.models.profiles import load_profile
    from core.pipeline import Pipeline

    index, questions = made_up_index(chunks)
    models = load_profile("embedded")
    rows = {mode: one_mode(Pipeline(*models), index, questions[:13], mode) for mode in MODES}
    return {"chunks": chunks, **rows}


def one_mode(pipeline: Any, index: Any, questions: list[str], mode: str) -> dict[str, Any]:
    """Median milliseconds of a full run, of each knob moved, and of each stage of a full run."""
    from core.settings import Settings

    base = Settings(relevance_threshold=0.0)

    def run(question: str, settings: Settings = base) -> tuple[Any, float]:
        began = time.perf_counter()
        trace = pipeline.run(index, question, settings, mode)
        return trace, (time.perf_counter() - began) * 1000

    for question in questions[:2]:  # what is loaded or compiled once is not measured
        run(question)
    full = [run(question) for question in questions[2:]]
    moved = {
        knob: statistics.median(
            run(questions[-1], base.changed(**{knob: value}))[1] for value in values
        )
        for knob, values in KNOBS.items()
    }
    whole = statistics.median(ms for _, ms in full)
    return {
        "full_ms": whole,
        "stages_ms": {
            s.name: statistics.median(t.stage(s.name).seconds for t, _ in full) * 1000
            for s in full[0][0].stages
        },
        "moved_ms": moved,
        "ratio": {knob: whole / ms for knob, ms in moved.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--cores", type=int, default=1)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    rows = moved_knob(options.chunks)
    print(f"{options.chunks:,} chunks, {options.cores} core(s)\n")
    print("| mode | full run, ms | knob | moved, ms | full : moved |")
    print("| --- | ---: | --- | ---: | ---: |")
    for mode in MODES:
        for knob, ms in rows[mode]["moved_ms"].items():
            full, ratio = rows[mode]["full_ms"], rows[mode]["ratio"][knob]
            print(f"| {mode} | {full:.1f} | {knob} | {ms:.1f} | {ratio:.1f} |")
    for mode in MODES:
        stages = ", ".join(f"{k} {v:.1f}" for k, v in rows[mode]["stages_ms"].items())
        print(f"\n{mode}, ms a stage of a full run: {stages}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
