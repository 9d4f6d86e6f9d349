"""Where ``eval`` writes its files: looked at before a run, and no end of one where it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.errors import EvaluationError
from core.evaluate.files import probe, save_evaluation, write_whole
from core.evaluate.records import Evaluation

Complain = Callable[[str], None]


def check(flag: str, path: str) -> None:
    """Sees to it now, and not when hours of work are done, that a file can be written.

    Raises:
        EvaluationError: the path is empty, a folder or no ordinary file, or its folder is not
            there or takes no file.
    """
    if not path:
        raise EvaluationError(flag, "names no file", "Name one, or leave the flag out.")
    here = Path(path)
    named, folder = f"{flag} {path}", here.parent
    try:
        if here.is_dir():
            raise EvaluationError(named, "is a folder", "Name a file in it.")
        if here.exists() and not here.is_file():
            raise EvaluationError(named, "is no ordinary file", "Name one that may be replaced.")
        if not folder.is_dir():
            raise EvaluationError(
                named,
                f"is in {folder}, a folder that does not exist",
                "Make the folder first, or name another.",
            )
        probe(here)
    except OSError as error:
        raise EvaluationError(
            named,
            f"cannot be written in the folder {folder} ({error.strerror or error})",
            "Allow writing there, or name another file.",
        ) from None


def write(path: str, content: str, complain: Complain) -> bool:
    """Writes a file and answers whether it could: what failed is said, and ends nothing."""
    try:
        write_whole(Path(path), content)
    except OSError as error:
        complain(f"{path}: cannot be written ({error.strerror or error})")
        return False
    return True


class Saver:
    """Saves an evaluation, time and again, and says where it cannot: a full disk is no end.

    ``path`` None saves nothing; it is set so where a saved run is not to be written over.
    """

    def __init__(self, path: str | None, complain: Complain) -> None:
        self.path = path
        self._complain = complain

    def __call__(self, evaluation: Evaluation) -> bool:
        """Whether nothing was lost: saved, or not to be saved."""
        if self.path is None:
            return True
        try:
            save_evaluation(self.path, evaluation)
        except OSError as error:
            self._complain(f"{self.path}: cannot be saved ({error.strerror or error})")
            return False
        return True
