"""Sources: a name, its bytes and what is known beside them.

A folder's ``chunkscope.toml`` says who may read its files::

    [documents."handbook.pdf"]
    tenant = "northwind"
    roles = ["staff"]
    labels = ["internal"]
    date = 2026-03-01
    priority = 1
    title = "Staff handbook"

Keys are paths relative to that folder. The folders above count too, so that what a file's
access is does not depend on the path by which it was given; a link has the access of the file
behind it. Where two folders' files name the same document, the nearer one wins, key by key. A
table of access that cannot be trusted hides: a broken file fails every document below it, and
an entry that names no file is reported, because the file it meant to restrict would otherwise
be open to everyone.
"""

from __future__ import annotations

import os
import posixpath
import stat
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import DocumentError

SUFFIXES = (".pdf", ".md", ".markdown", ".txt", ".text", ".rst")
SIDECAR = "chunkscope.toml"

LARGEST_MB = 512
"""A larger file is not read at all: no document is, and it would take the memory of the rest."""


@dataclass(frozen=True)
class Source:
    """Bytes to read. ``name`` is what people see, and unique among the sources given.

    ``metadata`` may hold ``tenant, roles, labels, date, priority, title`` and overrides what
    the file says of itself. ``path`` is where the file is, "" for one that is on no disk. With
    ``error`` set, the source could not be read at all.
    """

    name: str
    data: bytes = field(repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    password: str | None = field(default=None, repr=False)
    error: DocumentError | None = None
    path: str = ""


def sources_from_paths(paths: Iterable[str | Path]) -> list[Source]:
    """The files named, and those inside the folders named, as sources sorted by name.

    A folder is searched to the bottom for ``SUFFIXES``; hidden files and folders are
    skipped, and names are relative to it. A file named itself is taken whatever its suffix,
    under its file name. A file given twice is one source, named from the widest of the folders.
    A name that two files share gets its parent folder in front. What cannot be read becomes a
    source with ``error`` set; nothing is raised.
    """
    found: dict[Path, Source] = {}
    complaints: dict[str, Source] = {}
    sidecars = _Sidecars()
    given_paths = [(given, Path(os.path.expanduser(given))) for given in paths]
    for given, path in sorted(given_paths, key=_widest_first):
        if os.path.isdir(path):
            files, failed_folders = _files_in(path)
            for failed in failed_folders:
                complaints.setdefault(failed.name, failed)
            for file in files:
                key = _real(file)
                if key not in found:
                    name = file.relative_to(path).as_posix()
                    found[key] = _read(file, name, sidecars)
            for failed in sidecars.complaints(path):
                complaints.setdefault(failed.name, failed)
        elif os.path.isfile(path):
            found.setdefault(_real(path), _read(path, path.name, sidecars))
        else:
            error = DocumentError(str(given), "no such file or folder", "Check the path.")
            complaints.setdefault(str(given), Source(str(given), b"", error=error))
    sources = _distinct(found) + list(complaints.values())
    return sorted(map(_in_text, sources), key=lambda source: source.name)


def _in_text(source: Source) -> Source:
    """A file name may hold bytes that are no UTF-8: they are spelled out, and stay distinct."""

    def text(name: str) -> str:
        return os.fsencode(name).decode("utf-8", "backslashreplace")

    error = source.error
    if error is not None:
        error = type(error)(text(error.culprit), text(error.problem), error.remedy)
    return replace(source, name=text(source.name), error=error)


def _real(path: Path) -> Path:
    """Where a path leads. Unlike ``Path.resolve`` it does not mind a link to itself."""
    return Path(os.path.realpath(path))


def _widest_first(given: tuple[str | Path, Path]) -> tuple[bool, int, str]:
    """Folders before files and, of folders, those nearer the top first: in whatever order they
    were given, a file that is in several of them is met first from the same one."""
    path = given[1]
    return not os.path.isdir(path), len(_real(path).parts), str(path)


def _files_in(folder: Path) -> tuple[list[Path], list[Source]]:
    """The files to read, and one failed source for each folder that cannot be looked into."""
    files: list[Path] = []
    failed: list[Source] = []

    def complain(error: OSError) -> None:
        where = Path(error.filename or folder)
        name = where.relative_to(folder).as_posix() if where != folder else str(folder)
        reason = error.strerror or type(error).__name__
        problem = f"the folder cannot be read ({reason}), and no file in it was"
        about = DocumentError(name, problem, "Check its permissions.")
        failed.append(Source(name, b"", error=about))

    for parent, folders, names in os.walk(folder, onerror=complain):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES:
                files.append(Path(parent, name))
    return files, failed


def _read(file: Path, name: str, sidecars: _Sidecars) -> Source:
    try:
        metadata = sidecars.metadata(file)
        about = file.stat()
        if not stat.S_ISREG(about.st_mode):  # a pipe, say: reading it might never end
            raise DocumentError(name, "is not a regular file", "Remove it, or put a file there.")
        if about.st_size > LARGEST_MB * 2**20:
            problem = f"has {about.st_size // 2**20:,} MB, over the limit of {LARGEST_MB:,} MB"
            raise DocumentError(name, problem, "Split the file.")
        return Source(name, file.read_bytes(), metadata, path=str(file.absolute()))
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

    def metadata(self, file: Path) -> dict[str, Any]:
        """What the sidecars from the topmost folder down to the file's own say of ``file``.

        Raises DocumentError where one of them cannot be read.
        """
        merged: dict[str, Any] = {}
        for place in dict.fromkeys((_real(file), file.absolute())):
            for folder in reversed(place.parents):
                entry = self._table(folder).get(place.relative_to(folder).as_posix(), {})
                if not isinstance(entry, Mapping):
                    problem = f"its entry in {SIDECAR} is not a table"
                    raise DocumentError(file.name, problem, f'Write [documents."{file.name}"].')
                merged.update(entry)
        return merged

    def complaints(self, root: Path) -> list[Source]:
        """One failed source for each entry under ``root`` that names no file."""
        failed, root = [], root.absolute()
        for folder, table in self._tables.items():
            if isinstance(table, DocumentError) or not folder.is_relative_to(root):
                continue
            for entry in table:
                if not _names_a_file(folder, entry):
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


def _names_a_file(folder: Path, entry: str) -> bool:
    """Whether an entry is a file's path in the one spelling that is looked up."""
    plain = posixpath.normpath(entry) == entry and not entry.startswith(("/", "../"))
    return plain and os.path.isfile(folder / entry)


def _load_sidecar(path: Path) -> Mapping[str, Any] | DocumentError:
    if not os.path.lexists(path):
        return {}
    remedy = "Until it is put right, the files that it may restrict are not read."
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        return DocumentError(SIDECAR, f"{path.name} beside it cannot be read: {error}", remedy)
    documents = content.pop("documents", {})
    if content or not isinstance(documents, Mapping):
        strange = ", ".join(sorted(content)) or "documents"
        problem = f"{path.name} beside it holds what is not an entry of a document ({strange})"
        return DocumentError(SIDECAR, problem, remedy)
    return documents
