"""Where models of other libraries run, and the releases that decide their last digits."""

from __future__ import annotations

from typing import Any


def device_named() -> str:
    """Where models of these libraries run: the GPU that torch finds, or the CPU."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def library_versions(*names: str) -> tuple[Any, ...]:
    """The installed releases of packages: other ones may give other last digits."""
    from importlib.metadata import version

    return tuple(version(name) for name in names)
