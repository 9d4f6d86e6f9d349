"""Fits the relevance of the embedded rerankers, and shows how far it can be trusted.

Each question of a set is asked of the document that answers it and of each document that
does not. Odd questions fit, even ones are reported: the share of unanswerable questions
that end in insufficient evidence, of answerable ones refused, and a reliability curve. The
harder case is measured beside it: each question asked of its own document, from whose candidates
every chunk that holds evidence was taken out.

    python benchmarks/calibration.py FOLDER     (corpora/*.md and questions.csv)
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from reliability_chart import reliability_svg

RESULTS = Path(__file__).parent / "results" / "calibration.json"
CHART = Path(__file__).parents[1] / "docs" / "relevance.svg"
DISCOUNT = 0.5
"""How much of the chunk-level fit a chunk's own relevance is lowered by; 0 would give every
chunk of a question the same relevance, 1 would drop evidence of answerable questions."""


def gathered(folder: Path, most: int) -> list[tuple[int, bool, np.ndarray]]:
    """(question, answerable, float64[candidates, 4]: cosine, MaxSim, coverage, is evidence)."""
    from core.index.build import build_index
    from core.index.cache import ArrayCache
    from core.ingest import ingest, sources_from_paths
    from core.questions import load_questions
    from core.session import embedded_pipeline
    from core.settings import Settings

    pipeline, settings = embedded_pipeline(), Settings(relevance_threshold=0.0)
    files = ingest(sources_from_paths([folder / "corpora"]))
    cache = ArrayCache()
    indexes = {
        Path(f.name).stem: build_index([f.document], settings, pipeline.encoder, cache=cache)
        for f in files
    }
    rows = []
    for number, question in enumerate(load_questions(folder / "questions.csv")[:most], 1):
        spans = [(r.start, r.end) for r in question.references]
        for name, index in indexes.items():
            own = name == question.document
            trace = pipeline.run(index, question.text, settings, "context_rerank")
            first = {e.chunk_id: e.scores for e in trace.stage("first_stage").entries}
            matches = []
            for e in trace.stage("rerank_1").entries:
                chunk = index.chunk(e.chunk_id)
                evidence = own and any(s < chunk.end and chunk.start < t for s, t in spans)
                scores = e.scores
                matches.append(
                    (
                        first[e.chunk_id]["dense"],
                        scores["rerank_1_raw"],
                        scores["rerank_1_coverage"],
                        evidence,
                    )
                )
            rows.append((number, own, np.array(matches, dtype=np.float64)))
    return rows


def fitted(rows, columns: list[int]):
    """A :class:`~core.models.relevance.Calibration` from the odd questions."""
    from sklearn.linear_model import LogisticRegression

    from core.models.relevance import Calibration

    odd = [(own, m) for number, own, m in rows if number % 2]
    best = np.array([m[:, columns].max(axis=0) for _, m in odd])
    asked = LogisticRegression(C=10, max_iter=3000).fit(best, [own for own, _ in odd])
    every = np.vstack([m for _, m in odd])
    chunk = LogisticRegression(C=10, max_iter=3000).fit(every[:, columns], every[:, 3])
    answered, own = np.zeros(3), np.zeros(3)
    answered[columns], own[columns] = asked.coef_[0], DISCOUNT * chunk.coef_[0]
    return Calibration(
        round(float(asked.intercept_[0]), 3),
        tuple(np.round(answered, 3).tolist()),
        tuple(np.round(own, 3).tolist()),
    )


def report(rows, fit, threshold: float) -> dict:
    """What the fit does on the even questions, at a threshold, and its reliability curve."""
    from core.models.relevance import calibrated

    even = [
        (own, calibrated(fit, m[:, :3]), m[:, 3] > 0) for number, own, m in rows if number % 2 == 0
    ]
    best = np.array([relevance.max() for _, relevance, _ in even])
    own = np.array([o for o, _, _ in even])
    evidence = np.concatenate([r[e] for o, r, e in even if o])
    cut = [
        calibrated(fit, m[m[:, 3] == 0, :3]).max()
        for number, own, m in rows
        if number % 2 == 0 and own and (m[:, 3] == 0).any()
    ]
    edges = np.linspace(0, 1, 11)
    bins = np.clip(np.digitize(best, edges) - 1, 0, 9)
    return {
        "threshold": threshold,
        "caught": float((best[~own] < threshold).mean()),
        "refused": float((best[own] < threshold).mean()),
        "evidence_kept": float((evidence >= threshold).mean()),
        "caught_with_evidence_cut": float((np.array(cut) < threshold).mean()),
        "reliability": [
            {
                "predicted": float(best[bins == b].mean()),
                "answered": float(own[bins == b].mean()),
                "questions": int((bins == b).sum()),
            }
            for b in range(10)
            if (bins == b).any()
        ],
    }


def main() -> None:
    from core.models.relevance import IN_CONTEXT, OTHERWISE
    from core.settings import Settings

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="without it nothing is measured")
    parser.add_argument("--questions", type=int, default=10**9, help="only the first so many")
    options = parser.parse_args()
    if options.folder is None:  # among the others, in `make bench`
        print("skipped: it needs a question set. Name the folder that holds it.")
        return
    if not (options.folder / "questions.csv").is_file():
        raise SystemExit(f"{options.folder}: has no questions.csv. Name the folder of the set.")
    rows = gathered(options.folder, options.questions)
    threshold = Settings().relevance_threshold
    results = {}
    for name, columns, shipped in (
        ("context", [0, 1, 2], IN_CONTEXT),
        ("otherwise", [0, 2], OTHERWISE),
    ):
        fit = fitted(rows, columns)
        print(f"{name}: fitted here {fit}\n{' ' * len(name)}  shipped     {shipped}")
        results[name] = {"fitted": repr(fit), **report(rows, shipped, threshold)}
        row = results[name]
        print(
            f"  even questions at {threshold:g}: {row['caught']:.1%} of unanswerable ones caught, "
            f"{row['refused']:.1%} of answerable ones refused, "
            f"{row['evidence_kept']:.1%} of evidence chunks kept; of their own documents "
            f"without the evidence {row['caught_with_evidence_cut']:.1%} caught"
        )
        for point in row["reliability"]:
            print(
                f"    said {point['predicted']:.2f}, was {point['answered']:.2f} "
                f"({point['questions']} questions)"
            )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    CHART.write_text(reliability_svg(results["context"]), encoding="utf-8")


if __name__ == "__main__":
    main()
