"""Fits ``core/models/projection.npy``, which shrinks token states to 128 numbers.

    python tools/fit_projection.py PATH…

PATHs are folders or files: Markdown, reStructuredText, plain text, the METADATA of
installed packages (their READMEs) and Python files, of which the docstrings are read. The
file in the repository was fitted on the ``site-packages`` folder of an environment with
all of this project's dependencies, and on the standard library: descriptions, manuals
and licences of some hundred packages in English prose.

The states are scaled to unit length. Their uncentred principal components are taken and
each is divided by the fourth root of its variance, which keeps the few strongest, common
to all text, from drowning the rest. A fixed random rotation then spreads what is left
evenly over the numbers, so that eight bits serve each of them equally well.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.models.embedder import EmbeddedEncoder
from core.models.projection import DIMENSIONS, FITTED, unit_rows

PROSE = {".md", ".rst", ".txt"}
FLATTENING = 0.25
"""The power of a component's variance that is taken out: 0 is plain PCA, ½ makes it white.
Of 0, ⅛ and ¼ (on the odd-numbered of 472 questions) the last served context scores best."""

LONGEST = 12_000
"""Characters read of one file, so that no single one sets the tone."""


def texts(paths: Sequence[Path]) -> Iterator[str]:
    """The prose in ``paths``, in a fixed random order."""
    files = sorted(
        file
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*"))
        if file.is_file() and (file.suffix in PROSE | {".py"} or file.name == "METADATA")
    )
    random.Random(0).shuffle(files)
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        text = docstrings(text) if file.suffix == ".py" else text
        if mostly_words(text):
            yield text[:LONGEST]


def docstrings(source: str) -> str:
    """The docstrings of a Python file, one after another."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (ast.get_docstring(n) for n in ast.walk(tree) if isinstance(n, kinds))
    return "\n\n".join(d for d in found if d)


def mostly_words(text: str) -> bool:
    """Whether ``text`` is long enough, and prose rather than a table or a list of names."""
    letters = sum(c.isalpha() or c == " " for c in text[:LONGEST])
    return len(text) > 1_000 and letters > 0.8 * min(len(text), LONGEST)


def fit(moments: np.ndarray, dimensions: int = DIMENSIONS) -> tuple[np.ndarray, float]:
    """The projection, float32 [d, dimensions], and the share of the variance that it sees.

    ``moments`` is the sum of the outer products of the states, float64 [d, d].
    """
    values, vectors = np.linalg.eigh(moments)
    top, strength = vectors[:, ::-1][:, :dimensions], values[::-1][:dimensions]
    # The sign of an eigenvector is arbitrary; fixed here, so that a refit gives the same file.
    top = top * np.sign(top[np.abs(top).argmax(axis=0), np.arange(dimensions)])
    top = top * (strength[0] / strength) ** FLATTENING
    gaussian = np.random.Generator(np.random.PCG64(0)).standard_normal((dimensions, dimensions))
    rotation, _ = np.linalg.qr(gaussian)
    return (top @ rotation).astype(np.float32), float(
        values[::-1][:dimensions].sum() / values.sum()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--tokens", type=int, default=400_000, help="how many to read")
    parser.add_argument("--out", type=Path, default=FITTED)
    chosen = parser.parse_args()
    encoder = EmbeddedEncoder.load("float32")
    moments, read, files = np.zeros((encoder.dimensions,) * 2), 0, 0
    for text in texts(chosen.paths):
        for rows in encoder.token_states(text):
            unit = unit_rows(rows).astype(np.float64)
            moments += unit.T @ unit
            read += len(rows)
        files += 1
        if read >= chosen.tokens:
            break
    projection, kept = fit(moments)
    np.save(chosen.out, projection)
    print(f"{read} tokens of {files} texts; {DIMENSIONS} dimensions see {kept:.1%} of the variance")


if __name__ == "__main__":
    main()
