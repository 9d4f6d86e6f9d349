"""Arrays on disk under a content hash, mapped into memory when they are asked for again.

An entry is a folder with one ``.npy`` file an array and a list of what it holds. It is
written beside the others and renamed into place when it is whole and on the disk, so a
crash leaves nothing that could be taken for an entry. Entries that were not used for the
longest time go when the folder passes its limit.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import socket
import sys
import time
import uuid
import zlib
from collections.abc import Mapping
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

GIB = 2**30

_log = logging.getLogger(__name__)
_KEY = re.compile(r"[0-9a-zA-Z_-]{1,200}")
_CONTENTS = "contents.json"
_STALE_SECONDS = 24 * 3600


def default_root() -> Path:
    """``CHUNKSCOPE_CACHE``, or ``chunkscope`` in the platform's folder for caches."""
    if chosen := os.environ.get("CHUNKSCOPE_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "chunkscope"


class ArrayCache:
    """Named arrays by key. Threads and processes may share one folder.

    A folder that cannot be written to, or a full disk, costs the cache and nothing else:
    entries are then missing, ``warning`` says why, and it is logged once.
    """

    def __init__(self, root: Path | None = None, limit_bytes: int = 4 * GIB) -> None:
        """``limit_bytes`` bounds the arrays on disk; one entry alone may pass it, and goes
        with the next."""
        base = Path(root) if root is not None else default_root()
        self.entries, self._unfinished = base / "arrays", base / "unfinished"
        self.limit_bytes = limit_bytes
        self.warning = ""
        self._lock = RLock()
        self._trusted: set[tuple[str, int]] = set()
        self._bytes: int | None = None  # as far as this process knows

    def get(self, key: str) -> Mapping[str, np.ndarray] | None:
        """The arrays of ``key``, mapped read-only, or None. A damaged entry is removed.

        What an entry holds is compared with its checksums once a process.
        """
        folder = self._folder(key)
        try:
            contents = json.loads((folder / _CONTENTS).read_text(encoding="utf-8"))
            made = (folder / _CONTENTS).stat().st_ino
            arrays = {
                name: _open(folder / f"{name}.npy", about, (key, made) not in self._trusted)
                for name, about in contents["arrays"].items()
            }
        except FileNotFoundError:
            if not (folder / _CONTENTS).exists() and not folder.exists():
                return None
            self._remove(folder)
            return None
        except PermissionError as error:
            self._warn(error)
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError):
            self._remove(folder)
            return None
        self._trusted.add((key, made))
        try:
            os.utime(folder)  # when it was last used
        except OSError:
            pass  # someone else's folder, or one just evicted: what is mapped stays readable
        return arrays

    def put(
        self, key: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any] | None = None
    ) -> bool:
        """Keeps ``arrays`` under ``key``, with ``meta`` (plain JSON) for people. True if kept.

        Where the key is there already, the entry stays as it is.
        """
        folder = self._folder(key)
        draft = self._unfinished / f"{socket.gethostname()}.{os.getpid()}.{uuid.uuid4().hex}"
        try:
            self._begin()
            draft.mkdir()
            listed = {name: _write(draft / f"{name}.npy", a) for name, a in arrays.items()}
            contents = json.dumps({"arrays": listed, "meta": dict(meta or {})}, indent=1)
            _write_text(draft / _CONTENTS, contents)
            _sync_folder(draft)
            size = _size(draft)
            if not _rename(draft, folder):
                return True
            _sync_folder(self.entries)
        except OSError as error:
            self._warn(error)
            return False
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        with self._lock:
            self._bytes = None if self._bytes is None else self._bytes + size
            if self._bytes is None or self._bytes > self.limit_bytes:
                self._bytes = self._evict(keep=folder)
        return True

    def _folder(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} cannot be a key: letters, digits, _ and - only")
        return self.entries / key

    def _begin(self) -> None:
        """Makes the folders, and clears away what crashed writers left, once a process."""
        if self._bytes is None or not self._unfinished.is_dir():
            self.entries.mkdir(parents=True, exist_ok=True)
            self._unfinished.mkdir(parents=True, exist_ok=True)
            for draft in self._unfinished.iterdir():
                if _abandoned(draft):
                    shutil.rmtree(draft, ignore_errors=True)

    def _evict(self, keep: Path) -> int:
        """Removes what was used longest ago until the rest is within the limit; the bytes left."""
        entries = []
        for folder in self.entries.iterdir():
            try:
                entries.append((folder.stat().st_mtime_ns, _size(folder), folder))
            except OSError:
                continue  # another process was faster
        total = sum(size for _, size, _ in entries)
        for _, size, folder in sorted(entries, key=lambda e: (e[0], e[2].name)):
            if total <= self.limit_bytes:
                break
            if folder != keep:
                self._remove(folder)
                total -= size
        return total

    def _remove(self, folder: Path) -> None:
        """Takes an entry away whole, so that nobody meets half of it. Open maps stay readable."""
        draft = self._unfinished / f"{socket.gethostname()}.{os.getpid()}.{uuid.uuid4().hex}"
        try:
            self._unfinished.mkdir(parents=True, exist_ok=True)
            os.rename(folder, draft)
        except FileNotFoundError:
            return
        except OSError as error:
            self._warn(error)
            return
        shutil.rmtree(draft, ignore_errors=True)
        with self._lock:
            self._bytes = None

    def _warn(self, error: OSError) -> None:
        if not self.warning:
            self.warning = (
                f"{self.entries.parent}: nothing can be kept there ({error.strerror or error}). "
                "Documents are read anew each time; set CHUNKSCOPE_CACHE to a writable folder "
                "with free space."
            )
            _log.warning("%s", self.warning)


def _write(path: Path, array: np.ndarray) -> dict[str, int]:
    """Writes one array to the disk; its size and checksum."""
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "crc32": _checksum(path)}


def _open(path: Path, about: Mapping[str, int], check: bool) -> np.ndarray:
    """One array, mapped. ``ValueError`` where the file is not what was written."""
    if path.stat().st_size != about["bytes"] or (check and _checksum(path) != about["crc32"]):
        raise ValueError(f"{path.name} is damaged")
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value


def _write_text(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Makes names in ``folder`` outlast a power cut, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _rename(draft: Path, folder: Path) -> bool:
    """Puts a finished entry in place; False where another writer was first."""
    try:
        os.rename(draft, folder)
    except OSError:
        if folder.is_dir():
            return False
        raise
    return True


def _abandoned(draft: Path) -> bool:
    """Whether the process that was writing ``draft`` is gone."""
    host, _, rest = draft.name.rpartition(".")[0].rpartition(".")
    try:
        if time.time() - draft.stat().st_mtime > _STALE_SECONDS:
            return True
        if host != socket.gethostname() or os.name != "posix":
            return False
        os.kill(int(rest), 0)
    except (ProcessLookupError, ValueError):
        return True
    except OSError:
        return False
    return False


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())
