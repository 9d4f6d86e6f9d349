"""Sources: a name, its bytes and what is known beside them.

A folder's ``chunkscope.toml`` says who may read its files::

    [documents."handbook.pdf"]
    tenant = "northwind"
    roles = ["staff"]
    labels = ["internal"]
    date = 2026-03-01
    priority = 1
    title = "Staff handbook"

Keys are paths relative to that folder. Where two folders' files name the same document,
the nearer one wins, key by key. A table of access that cannot be trusted hides: a broken
file fails every document below it, and an entry that names no file is reported, because
the file it meant to restrict would otherwise be open to everyone.
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import DocumentError

SUFFIXES = (".pdf", ".md", ".markdown", ".txt", ".text", ".rst")
SIDECAR = "chunkscope.toml"


@dataclass(frozen=True)
class Source:
    """Bytes to read. ``name`` is what people see, and unique among the sources given.

    ``metadata`` may hold ``tenant, roles, labels, date, priority, title`` and overrides what
    the file says of itself. With ``error`` set, the source could not be read at all.
    """

    name: str
    data: bytes = field(repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    password: str | None = field(default=None, repr=False)
    error: DocumentError | None = None


def sources_from_paths(paths: Iterable[str | Path]) -> list[Source]:
    """The files named, and those inside the folders named, as sources sorted by name.

    A folder is searched to the bottom for ``SUFFIXES``; hidden files and folders are
    skipped, and names are relative to it. A file named itself is taken whatever its suffix,
    under its file name. A name that two files share gets its parent folder in front. What
    cannot be read becomes a source with ``error`` set; nothing is raised.
    """
    found: dict[Path, Source] = {}
    complaints: dict[str, Source] = {}
    sidecars = _Sidecars()
    for given in map(Path, paths):
        path = given.expanduser()
        if path.is_dir():
            for file in _files_in(path):
                key = file.resolve()
                if key not in found:
                    name = file.relative_to(path).as_posix()
                    found[key] = _read(file, name, sidecars, root=path)
            for failed in sidecars.complaints(path):
                complaints.setdefault(failed.name, failed)
        elif path.is_file():
            found.setdefault(path.resolve(), _read(path, path.name, sidecars, root=path.parent))
        else:
            error = DocumentError(str(given), "no such file or folder", "Check the path.")
            complaints.setdefault(str(given), Source(str(given), b"", error=error))
    sources = _distinct(found) + list(complaints.values())
    return sorted(sources, key=lambda source: source.name)


def _files_in(folder: Path) -> list[Path]:
    files = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES:
                files.append(Path(parent, name))
    return files


def _read(file: Path, name: str, sidecars: _Sidecars, root: Path) -> Source:
    try:
        metadata = sidecars.metadata(file, root)
        return Source(name, file.read_bytes(), metadata)
    except DocumentError as error:
        return Source(name, b"", error=_of(error, name))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        failed = DocumentError(name, f"cannot be read ({reason})", "Check its permissions.")
        return Source(name, b"", error=failed)


def _of(error: DocumentError, name: str) -> DocumentError:
    """The same complaint, of ``name``."""
    return type(error)(name, error.problem, error.remedy)


def _distinct(found: Mapping[Path, Source]) -> list[Source]:
    """Sources whose names differ: a shared name takes on as many parents as it needs."""
    names = {path: source.name for path, source in found.items()}
    while True:
        counts = Counter(names.values())
        clashing = [path for path, name in names.items() if counts[name] > 1]
        if not clashing:
            break
        # Ends, because whole paths differ: the last step up writes "/" in front.
        for path in clashing:
            depth = len(PurePosixPath(names[path]).parts) + 1
            names[path] = PurePosixPath(*path.parts[-depth:]).as_posix()
    return [replace(source, name=names[path]) for path, source in found.items()]


class _Sidecars:
    """The ``chunkscope.toml`` files met so far, each read once."""

    def __init__(self) -> None:
        self._tables: dict[Path, Mapping[str, Any] | DocumentError] = {}

    def metadata(self, file: Path, root: Path) -> dict[str, Any]:
        """What the sidecars from ``root`` down to the file's folder say of ``file``.

        Raises DocumentError where one of them cannot be read.
        """
        merged: dict[str, Any] = {}
        folders = [file.parent, *file.parent.parents]
        for folder in reversed(folders[: folders.index(root) + 1]):
            entry = self._table(folder).get(file.relative_to(folder).as_posix(), {})
            if not isinstance(entry, Mapping):
                problem = f"its entry in {SIDECAR} is not a table"
                raise DocumentError(file.name, problem, f'Write [documents."{file.name}"].')
            merged.update(entry)
        return merged

    def complaints(self, root: Path) -> list[Source]:
        """One failed source for each entry under ``root`` that names no file."""
        failed = []
        for folder, table in self._tables.items():
            if isinstance(table, DocumentError) or not folder.is_relative_to(root):
                continue
            for entry in table:
                if not (folder / entry).is_file():
                    name = (folder / SIDECAR).relative_to(root).as_posix()
                    problem = f'names "{entry}", which is not a file in its folder'
                    remedy = "Correct the name, so that its access applies."
                    error = DocumentError(name, problem, remedy)
                    failed.append(Source(f"{name}: {entry}", b"", error=error))
        return failed

    def _table(self, folder: Path) -> Mapping[str, Any]:
        if folder not in self._tables:
            self._tables[folder] = _load_sidecar(folder / SIDECAR)
        table = self._tables[folder]
        if isinstance(table, DocumentError):
            raise table
        return table


def _load_sidecar(path: Path) -> Mapping[str, Any] | DocumentError:
    if not path.is_file():
        return {}
    remedy = "Until it is put right, the files that it may restrict are not read."
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return DocumentError(SIDECAR, f"{path.name} beside it cannot be read: {error}", remedy)
    documents = content.pop("documents", {})
    if content or not isinstance(documents, Mapping):
        strange = ", ".join(sorted(content)) or "documents"
        problem = f"{path.name} beside it holds what is not an entry of a document ({strange})"
        return DocumentError(SIDECAR, problem, remedy)
    return documents
