"""Recall of evidence by mode on a labelled set: the README's table, and its chart.

Each question is asked of its own document, with default settings. Odd and even questions are
given apart too, so that what was tuned on one half can be seen on the other.

    python benchmarks/recall.py FOLDER     (corpora/ and questions.csv)
    python benchmarks/recall.py --saved RUN.json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
from recall_chart import chart_svg

HERE = Path(__file__).parent
RESULTS, README = HERE / "results" / "recall.json", HERE.parent / "README.md"
CHART = HERE.parent / "docs" / "recall.svg"
BLOCK = re.compile(r"(<!-- recall: begin [^>]*-->\n).*?(<!-- recall: end -->)", re.DOTALL)


def measured(folder: Path, workers: int):
    """The evaluation of the set in a folder."""
    from core.evaluate import RANKED, YARDSTICK, evaluate
    from core.evaluate.workers import parallel, reopened
    from core.index.cache import default_root
    from core.model_arguments import add_model_arguments
    from core.questions import load_questions
    from core.session import embedded_pipeline, open_documents

    pipeline = embedded_pipeline()
    corpus = open_documents([folder / "corpora"], YARDSTICK, pipeline.encoder)
    words = argparse.ArgumentParser()
    add_model_arguments(words)
    opener = partial(reopened, options=words.parse_args([]), modes=RANKED, cache=default_root())
    return evaluate(
        pipeline,
        corpus.index,
        load_questions(folder / "questions.csv"),
        scope="document",
        through=partial(parallel, opener=opener, workers=workers) if workers > 1 else None,
        progress=_said,
    )


def _said(done: int, total: int, question: str) -> None:
    if done % 20 == 0 or done == total:
        print(f"{done} of {total} questions", file=sys.stderr, flush=True)


def chart(evaluation, summary) -> dict:
    """What a chart of the figures needs: shares in [0, 1], seconds a question."""
    ids = [a.id for a in evaluation.common]
    budgets = [str(b) for b in evaluation.budgets]

    def half(mode: str, b: str, first: int) -> float:
        rows = evaluation.by_mode[mode]
        return float(np.mean([rows[i].recall[b] for i in ids[first::2]]))

    return {
        "questions": summary.questions,
        "scope": evaluation.scope,
        "seconds": evaluation.seconds,
        "settings": dict(evaluation.settings),
        "models": dict(evaluation.models),
        "modes": {
            m: {
                b: {
                    "recall": f.recall[b].mean,
                    "low": f.recall[b].low,
                    "high": f.recall[b].high,
                    "odd": half(m, b, 0),
                    "even": half(m, b, 1),
                    "first_stage": f.before[b].mean,
                    "in_prompt": f.assembled[b].mean,
                    "complete": f.complete[b].mean,
                    "best": m in summary.as_good(int(b)),
                    "lost": dict(f.lost[b]),
                }
                for b in budgets
            }
            | {"median_seconds": f.latency["all"].median, "p95_seconds": f.latency["all"].p95}
            for m, f in summary.modes.items()
        },
        "differences": [
            [d.budget, d.mode, d.against, d.figure.mean, d.figure.low, d.figure.high]
            for d in summary.differences
        ],
    }


def table(evaluation, summary) -> str:
    """The README's: recall with its interval, and the seconds of a question."""
    head = ["mode", *(f"{b:,} tokens" for b in evaluation.budgets), "a question"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for mode, f in summary.modes.items():
        cells = []
        for b in evaluation.budgets:
            r = f.recall[str(b)]
            shown = f"{r.mean:.1%}".replace("%", "")
            shown = f"**{shown}**" if mode in summary.as_good(b) else shown
            cells.append(f"{shown} ({r.low * 100:.1f}–{r.high * 100:.1f})")
        lines.append([f"`{mode}`", *cells, f"{f.latency['all'].median * 1000:,.0f} ms"])
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    said = (
        f"Recall in % over {summary.questions} questions on five documents, each question of its own "
        "document, with the embedded model and default settings but for those two; in brackets the 95 % interval "
        "(bootstrap over questions). Bold: the best mode of a column, and those whose paired "
        "difference from it is inside its interval. The time is the median on one core."
    )
    picture = "![Recall by mode at three token budgets, with intervals](docs/recall.svg)"
    took = f"The whole run took {evaluation.seconds:,.0f} seconds."
    return f"{picture}\n\n{said} {took}\n\n{rows}\n"


def main() -> None:
    from core.evaluate import load_evaluation, save_evaluation, summarise

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="without it nothing is measured")
    parser.add_argument("--saved", type=Path, help="a run that chunkscope eval --save wrote")
    parser.add_argument("--save", type=Path, help="keep the run")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.folder is None and options.saved is None:  # among the others, in `make bench`
        print("skipped: it needs a question set. Name the folder that holds it.")
        return
    if options.saved:
        evaluation = load_evaluation(options.saved)
    elif (options.folder / "questions.csv").is_file():
        evaluation = measured(options.folder, options.workers)
    else:
        raise SystemExit(f"{options.folder}: has no questions.csv. Name the folder of the set.")
    if options.save:
        save_evaluation(options.save, evaluation)
    summary = summarise(evaluation)
    made = table(evaluation, summary)
    print(made)
    RESULTS.parent.mkdir(exist_ok=True)
    drawn = chart(evaluation, summary)
    RESULTS.write_text(json.dumps(drawn, indent=1) + "\n")
    CHART.write_text(chart_svg(drawn), encoding="utf-8")
    readme = README.read_text(encoding="utf-8")
    README.write_text(BLOCK.sub(lambda m: m[1] + made + m[2], readme), encoding="utf-8")


if __name__ == "__main__":
    main()
