"""Scores on disk: what a slow model said of a question and a text, kept across runs.

One SQLite file, which several processes may share. It holds hashes and numbers, no text. What
cannot be read or written costs time and nothing else, so no trouble with it is ever reported,
and a file that is damaged is thrown away.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from core.index.cache import default_root

FILE = "scores.sqlite"

LIMIT = 1_000_000
"""Scores kept at most, some 50 bytes each; past it, a tenth goes, the least lately used first."""

PATIENCE = 2.0
"""Seconds to wait for another process that is writing."""

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_DAY = 86_400
_AT_ONCE = 500
_TABLE = """
CREATE TABLE IF NOT EXISTS scores (
    key BLOB PRIMARY KEY, score REAL NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID
"""

Answer = TypeVar("Answer")


class ScoreCache:
    """Scores by model, question and text. Safe to share between threads and processes."""

    def __init__(self, root: Path | None = None, limit: int = LIMIT) -> None:
        self.path = (Path(root) if root is not None else default_root()) / FILE
        self.limit = limit

    def get(self, model: str, question: str, texts: Mapping[str, str]) -> dict[str, float]:
        """The scores that are held, under the names of ``texts``.

        Args:
            model: the fingerprint of what gives the scores.
            texts: by a name of the caller's own, the text scored (or whatever else decides).
        """
        keys = {name: _key(model, question, text) for name, text in texts.items()}
        if not keys or not self.path.is_file():
            return {}

        def read(database: sqlite3.Connection) -> dict[bytes, tuple[float, int]]:
            held: dict[bytes, tuple[float, int]] = {}
            wanted = list(set(keys.values()))
            for at in range(0, len(wanted), _AT_ONCE):
                part = wanted[at : at + _AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, score, used FROM scores WHERE key IN ({marks})"
                held |= {bytes(k): (s, used) for k, s, used in database.execute(query, part)}
            today = _today()
            stale = [(today, k) for k, (_, used) in held.items() if used < today]
            if stale:
                database.executemany("UPDATE scores SET used = ? WHERE key = ?", stale)
                database.commit()
            return held

        held = self._tried(read, {})
        return {name: held[key][0] for name, key in keys.items() if key in held}

    def put(
        self, model: str, question: str, texts: Mapping[str, str], scores: Mapping[str, float]
    ) -> None:
        """Keeps the finite ones of ``scores``, by the names of ``texts``."""
        today = _today()
        rows = [
            (_key(model, question, texts[name]), float(score), today)
            for name, score in scores.items()
            if name in texts and math.isfinite(score)
        ]
        if not rows:
            return

        def write(database: sqlite3.Connection) -> None:
            database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?)", rows)
            count = database.execute("SELECT COUNT(*) FROM scores").fetchone()[0]
            if count > self.limit:
                excess = count - self.limit + self.limit // 10
                database.execute(
                    "DELETE FROM scores WHERE key IN (SELECT key FROM scores ORDER BY used LIMIT ?)",
                    (excess,),
                )
            database.commit()

        self._tried(write, None)

    def _tried(self, act: Callable[[sqlite3.Connection], Answer], otherwise: Answer) -> Answer:
        try:
            with self._open() as database:
                return act(database)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                self._throw_away()
            return otherwise  # or it is busy, read-only, full
        except OSError:
            return otherwise

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as database:
            # A crash may cost the last scores, and the file where the machine loses power.
            database.execute("PRAGMA synchronous = OFF")
            database.execute(_TABLE)
            yield database

    def _throw_away(self) -> None:
        for path in (self.path, self.path.with_name(f"{FILE}-journal")):
            try:
                path.unlink(missing_ok=True)
            except OSError:
                pass  # held open on Windows; tried again next time


def _key(model: str, question: str, text: str) -> bytes:
    whole = hashlib.blake2b(digest_size=16)
    for part in (model, question, text):
        packed = part.encode("utf-8", "surrogatepass")
        whole.update(len(packed).to_bytes(8, "little") + packed)
    return whole.digest()


def _today() -> int:
    return int(time.time() // _DAY)
