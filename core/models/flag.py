"""The classes of FlagEmbedding, or why there are none."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from core.errors import ModelError

PIN = "transformers>=5,<5.24"
"""The versions on which FlagEmbedding 1.4.2 imports."""


def flag_class(name: str) -> Any:
    """A class of FlagEmbedding by its name.

    Raises:
        ModelError: the library is not installed, or does not import on the installed transformers.
    """
    try:
        import FlagEmbedding
    except ModuleNotFoundError as error:
        if error.name == "FlagEmbedding":
            raise ModelError(
                "FlagEmbedding", "is not installed", "Run: pip install FlagEmbedding"
            ) from error
        raise _unfit(error) from error
    except ImportError as error:
        raise _unfit(error) from error
    return getattr(FlagEmbedding, name)


def why_unfit() -> str:
    """Why FlagEmbedding cannot work here, by the versions alone; empty where it should.

    Nothing is imported: this costs a millisecond where the import takes seconds.
    """
    try:
        version("FlagEmbedding")
        installed = version("transformers")
    except PackageNotFoundError as error:
        return f"{error.name} is not installed. Run: pip install {error.name}"
    numbers = installed.split(".")[:2]
    fits = all(n.isdigit() for n in numbers) and (5, 0) <= tuple(map(int, numbers)) < (5, 24)
    if fits:
        return ""
    return f"FlagEmbedding does not import on transformers {installed}. Run: pip install '{PIN}'"


def _unfit(error: ImportError) -> ModelError:
    return ModelError(
        "FlagEmbedding",
        f"does not import on transformers {version('transformers')} ({error})",
        f"Run: pip install '{PIN}'",
    )
