"""Every piece of evidence that a mode misses gets a verdict and what brings it back, timed.

On a labelled set (a folder with ``questions.csv`` and ``corpora/``), each question asked of its
own document, beside the time of a first run of the pipeline.

    python benchmarks/diagnosis.py FOLDER [--sample 60] [--mode no_rerank] [--budget 1000]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.diagnosis import Target, propose, target_of_evidence, verdict
from core.diagnosis.proposals import UNFINISHED
from core.index.index import Index
from core.pipeline import Pipeline
from core.questions import load_questions, locate
from core.settings import Settings
from core.trace import Trace

RESULTS = Path(__file__).parent / "results" / "diagnosis.json"


def missed(
    folder: Path, pipeline: Pipeline, settings: Settings, mode: str
) -> Iterator[tuple[Index, Trace, Target, float]]:
    """Each piece of evidence that is not in its question's prompt, and seconds of the first run."""
    from core.session import open_documents

    by_document: dict[str, list[Any]] = {}
    for question in load_questions(folder / "questions.csv"):
        by_document.setdefault(question.document, []).append(question)
    for name, questions in sorted(by_document.items()):
        corpus = open_documents([folder / "corpora" / f"{name}.md"], settings, pipeline.encoder)
        documents = [f.document for f in corpus.files if f.document is not None]
        for question in questions:
            began = time.perf_counter()
            trace = pipeline.run(corpus.index, question.text, settings, mode)
            first = time.perf_counter() - began
            for evidence in locate(question, documents):
                target = target_of_evidence(corpus.index, evidence)
                if not target.reached(trace.selected):
                    yield corpus.index, trace, target, first


def diagnosed(pipeline: Pipeline, index: Index, trace: Trace, target: Target) -> dict[str, Any]:
    """One piece: where it was lost, what brings it back, and seconds for each."""
    began = time.perf_counter()
    said = verdict(trace, index, target)
    judged = time.perf_counter()
    found = propose(pipeline, index, trace, target)
    ended = time.perf_counter()
    if not found.proposals:
        outcome = "none" if found.complete else "none in time"
    else:
        outcome = "one knob" if len(found.proposals[0].changes) == 1 else "two knobs"
    return {
        "chunks": len(index.chunk_ids),
        "stage": said.stage,
        "outcome": outcome,
        "complete": found.complete,
        "knobs_complete": bool(found.tried) and all(t.outcome != UNFINISHED for t in found.tried),
        "proposals": len(found.proposals),
        "exact": sum(p.exact for p in found.proposals),
        "first": "+".join(sorted(found.proposals[0].changes)) if found.proposals else "",
        "runs": sum(t.runs for t in found.tried),
        "verdict_s": judged - began,
        "proposals_s": ended - judged,
    }


def summary(rows: list[dict[str, Any]], first_runs: list[float]) -> dict[str, Any]:
    """Shares, and seconds at the median and the 95th percentile."""

    def seconds(values: list[float]) -> dict[str, float]:
        ordered = sorted(values)
        return {
            "median_s": statistics.median(ordered),
            "p95_s": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        }

    def shares(key: str) -> dict[str, float]:
        return {k: n / len(rows) for k, n in Counter(r[key] for r in rows).most_common()}

    large = [r for r in rows if r["chunks"] >= 1_000]
    return {
        "pieces": len(rows),
        "verdict": seconds([r["verdict_s"] for r in rows]),
        "proposals": seconds([r["proposals_s"] for r in rows]),
        "proposals_over_1000_chunks": seconds([r["proposals_s"] for r in large]) if large else {},
        "first_run": seconds(first_runs),
        "lost_at": shares("stage"),
        "outcome": shares("outcome"),
        "every_knob_in_full": sum(r["knobs_complete"] for r in rows) / len(rows),
        "searched_in_full": sum(r["complete"] for r in rows) / len(rows),
        "smallest_proved": sum(r["exact"] for r in rows)
        / max(1, sum(r["proposals"] for r in rows)),
        "smallest_change": shares("first"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="questions.csv and corpora/")
    parser.add_argument("--sample", type=int, default=0, help="how many pieces, evenly taken")
    parser.add_argument("--mode", default="no_rerank")
    parser.add_argument("--budget", type=int, default=1_000)
    options = parser.parse_args()
    if options.folder is None:
        print("No folder was given: nothing to diagnose.")
        return
    from core.session import embedded_pipeline

    pipeline = embedded_pipeline()
    settings = Settings(evidence_budget=options.budget)
    pieces = list(missed(options.folder, pipeline, settings, options.mode))
    if options.sample and options.sample < len(pieces):
        step = len(pieces) / options.sample
        pieces = [pieces[int(i * step)] for i in range(options.sample)]
    rows, firsts = [], []
    for index, trace, target, first in pieces:
        rows.append(diagnosed(pipeline, index, trace, target))
        firsts.append(first)
    result = {"mode": options.mode, "budget": options.budget, **summary(rows, firsts)}
    print(json.dumps(result, indent=1))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
