"""How many numbers of a token state are worth keeping, for an encoder with no fitted projection.

The states of all-MiniLM-L6-v2, read as any model of sentence-transformers is, as they are and
through fixed random orthonormal columns: recall of evidence within 1,000 tokens where MaxSim
alone orders all chunks, and bytes a token.

    python benchmarks/state_width.py FOLDER     (corpora/*.md and questions.csv)
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

RESULTS = Path(__file__).parent / "results" / "state_width.json"
CORPORA = ("chatlogs", "state_of_the_union", "wikitexts")
BUDGET = 1000


def columns(width: int, kept: int) -> np.ndarray:
    """Fixed random orthonormal columns, float32 [width, kept]; the identity for all of them."""
    if kept >= width:
        return np.eye(width, dtype=np.float32)
    gaussian = np.random.Generator(np.random.PCG64(0)).standard_normal((width, kept))
    return np.linalg.qr(gaussian)[0].astype(np.float32)


def recalls(folder: Path, widths: list[int]) -> dict[int, list[float]]:
    """For each width, the recall of each question."""
    from core.evaluate import covered, within_budget
    from core.index.build import build_index
    from core.ingest import ingest, sources_from_paths
    from core.models.embedder import package_folder
    from core.models.maxsim import maxsim
    from core.models.projection import quantise
    from core.models.sentence_encoder import SentenceEncoder
    from core.questions import load_questions, locate
    from core.ranking import descending
    from core.settings import Settings

    encoder = SentenceEncoder.load(str(package_folder()))
    files = ingest(sources_from_paths([folder / "corpora" / f"{n}.md" for n in CORPORA]))
    out: dict[int, list[float]] = {w: [] for w in widths}
    for file in files:
        index = build_index([file.document], Settings(), encoder)
        states = index.states(range(len(index.chunks)))
        small = {w: quantise(states.states.astype(np.float32) @ columns(encoder.width, w)) for w in widths}  # fmt: skip
        for question in load_questions(folder / "questions.csv"):
            if Path(file.name).stem != question.document:
                continue
            tokens = encoder.encode_query(question.text).tokens
            evidence = locate(question, [file.document])
            for w in widths:
                raw = maxsim(tokens @ columns(encoder.width, w), small[w], states.offsets)
                best = (index.chunks[i] for i in descending(raw))
                recall = covered(evidence, within_budget(best, BUDGET))
                if recall is not None:
                    out[w].append(recall)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    found = recalls(folder, [384, 256, 128, 64])
    results = {
        "questions": len(found[384]),
        "corpora": CORPORA,
        "recall": {w: round(float(np.mean(r)), 4) for w, r in found.items()},
    }
    whole = np.array(found[384])
    for w, r in found.items():
        lost = whole - np.array(r)
        error = lost.std(ddof=1) / len(lost) ** 0.5
        print(
            f"{w:4} numbers a token: recall {np.mean(r):.3f}, {lost.mean():+.4f} ± {error:.4f} lost"
        )
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
