"""Which part may import which, and how much a module may hold."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = sorted((ROOT / "core").rglob("*.py"))
DASHBOARD = sorted((ROOT / "dashboard").rglob("*.py"))

HEAVY = {
    "FlagEmbedding", "accelerate", "datasets", "onnxruntime", "pymupdf", "sentence_transformers",
    "sklearn", "torch", "transformers",
}  # fmt: skip
"""Slow or large to import: inside functions only."""

DRAWING = {"streamlit", "plotly"}
LONGEST = 350
"""Lines. A file past 300 usually holds two ideas; past this, it has to be cut."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(tree: ast.AST, *, everywhere: bool) -> Iterator[str]:
    """Top-level names of the imported packages; those inside functions only if ``everywhere``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
        elif everywhere or not (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        ):
            yield from imports(node, everywhere=everywhere)


def imported(path: Path, *, everywhere: bool) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return set(imports(tree, everywhere=everywhere))


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that are in memory once ``statement`` has run."""
    code = f"{statement}\nimport sys; print(*{{m.partition('.')[0] for m in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


def test_core_draws_nothing() -> None:
    offenders = {
        name_of(path): found
        for path in CORE
        if (found := imported(path, everywhere=True) & {*DRAWING, "dashboard"})
    }
    assert not offenders


def test_heavy_packages_are_imported_inside_functions() -> None:
    offenders = {
        name_of(path): found
        for path in CORE + DASHBOARD
        if (found := imported(path, everywhere=False) & HEAVY)
    }
    assert not offenders


def test_figures_and_tables_know_nothing_of_streamlit() -> None:
    pure = [p for p in DASHBOARD if {"figures", "tables", "palette.py"} & {*p.parts}]
    assert pure
    offenders = [name_of(p) for p in pure if "streamlit" in imported(p, everywhere=True)]
    assert not offenders


def test_importing_core_loads_nothing_heavy() -> None:
    loaded = loaded_by("import core, core.cli, core.pipeline, core.session, core.trace")
    assert not loaded & (HEAVY | DRAWING)


def test_a_module_holds_one_idea() -> None:
    lengths = {name_of(p): len(p.read_text("utf-8").splitlines()) for p in CORE + DASHBOARD}
    assert not {name: lines for name, lines in lengths.items() if lines > LONGEST}


def test_a_forbidden_import_would_be_seen() -> None:
    tree = ast.parse(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import torch\n"
        "try:\n    import plotly.io\nexcept ImportError:\n    pass\n"
        "def late():\n    from streamlit import web\n"
    )
    assert set(imports(tree, everywhere=False)) == {"typing", "plotly"}
    assert set(imports(tree, everywhere=True)) == {"typing", "torch", "plotly", "streamlit"}
