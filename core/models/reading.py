"""What encoders of other libraries share: how text becomes rows of tokens, and rows numbers.

A document is read once, in overlapping windows as long as the model reads, and a chunk's
tokens have read what stands around the chunk. Its vector is the mean of its own tokens'
states where the model was trained to mean them (late chunking, Günther et al. 2024). Where a
model sums a text up in one token (BGE-M3 does, in the first), that token speaks for the whole
row: there, each chunk is read once more by itself for its vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np

from core.errors import ModelError
from core.models.lexical import Weighed
from core.models.memory import free_memory, out_of_memory
from core.models.projection import quantise, unit_rows
from core.models.states import LexicalWeights, Progress, QueryStates, SpanStates, Stop
from core.models.windows import Window, read_by, token_ranges
from core.models.wordpieces import Subwords
from core.models.work import Work

AT_ONCE = 2048
"""Tokens of a batch, padding included: more are no faster on a CPU. A longer row is read alone."""

MOST_ROWS = 8

STEP = 32
"""Texts read by themselves are padded to a multiple of so many tokens."""

OVERLAP = 512
"""Tokens that neighbouring windows share, or a quarter of a window where that is less."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a model gave for one row, of the text's own ``t`` tokens.

    ``states`` is float32 [t, p], for late interaction; ``hidden`` float32 [t, d], of which a
    chunk's vector is the mean, or None where ``vector``, float32 [d], stands for the row;
    ``weights`` float32 [t], or None where the model learns none.
    """

    states: np.ndarray
    hidden: np.ndarray | None
    vector: np.ndarray
    weights: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids int64 [l]; those from ``first`` to ``last`` are the text's own."""

    ids: np.ndarray
    first: int
    last: int


class ReadingEncoder:
    """An :class:`core.models.encoder.Encoder` on any model that gives a state a token.

    The numbers of a text depend on nothing that is read beside it: rows of one batch have one
    length, which follows from the text, and so does their number. (Only where memory did not
    suffice are there fewer, and the last bits may differ.)

    A subclass fills in ``_numbers`` and sets the attributes below.
    """

    name: str
    fingerprint: str
    dimensions: int
    hidden: int
    """Numbers a hidden state has; vectors may have others."""
    width: int
    """Numbers a token state has for late interaction."""
    window: int
    in_context: bool
    """Whether a chunk's vector is the mean of the states that were read in context."""
    learns_weights = False

    def __init__(
        self,
        pieces: Subwords,
        before: Sequence[int],
        after: Sequence[int],
        filler: int,
        length: int,
    ) -> None:
        """``before`` and ``after`` are special tokens; ``length`` counts them too."""
        self._pieces, self._filler, self._length = pieces, filler, length
        self._before, self._after = list(before), list(after)
        self._prompt_ids, _, _ = pieces.read_after(self._document_prompt(), "a")
        self.window = length - len(self._before) - len(self._after)
        self.reach = self.window - len(self._prompt_ids)
        self.overlap = min(OVERLAP, self.reach // 4)
        self._at_once = AT_ONCE
        self._busy = Lock()

    def _numbers(self, ids: np.ndarray, real: np.ndarray, rows: Sequence[Row]) -> list[Numbers]:
        """Reads ``ids`` int64 [b, l], ``real`` bool [b, l] false on padding; the first
        ``len(rows)`` rows are asked for."""
        raise NotImplementedError

    def _pooled(self, means: np.ndarray) -> np.ndarray:
        """Means of states [n, d] as the model's vectors [n, dimensions]."""
        return means

    def _query_prompt(self) -> str:
        return ""

    def _document_prompt(self) -> str:
        return ""

    def encode_query(self, text: str) -> QueryStates:
        prompt, ids, starts = self._pieces.read_after(self._query_prompt(), text)
        kept = ids[: max(0, self.window - len(prompt))]
        if not len(kept):
            empty = np.zeros((0, self.width), dtype=np.float32)
            return QueryStates(np.zeros(self.dimensions, np.float32), empty, ())
        row = self._row(kept, prompt)
        read = self._read_rows([row], len(row.ids), whole=False)[0]
        return QueryStates(
            vector=unit_rows(read.vector[None])[0],
            tokens=unit_rows(read.states),
            pieces=self._pieces.pieces(kept),
            truncated=len(ids) - len(kept),
            sparse=self._weighed(kept, read.weights, [(0, len(kept))]),
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
        work = Work(sum(w.keep_end - w.keep_start for w in meeting), progress, cancelled)
        if not self.in_context:
            work.total += int((last - first).sum())
        means = np.zeros((len(spans), self.hidden), dtype=np.float32)
        states = np.zeros((len(ids), self.width), dtype=np.int8)
        weights = np.zeros(len(ids), dtype=np.float32)
        for window, read in self._read_windows(ids, list(meeting), work):
            kept = slice(window.keep_start, window.keep_end)
            inside = slice(window.keep_start - window.start, window.keep_end - window.start)
            states[kept] = _small(read.states[inside])
            if read.weights is not None:
                weights[kept] = read.weights[inside]
            if self.in_context:
                for span in meeting[window]:
                    low = max(window.keep_start, first[span]) - window.start
                    high = min(window.keep_end, last[span]) - window.start
                    means[span] += read.hidden[low:high].sum(axis=0)
        cut = np.zeros(len(spans), dtype=np.int32)
        if self.in_context:
            means /= np.maximum(1, last - first)[:, None]
            vectors = unit_rows(np.where((last > first)[:, None], self._pooled(means), 0.0))
        else:
            alone = self._alone([text[a:b] for a, b in spans], work)
            vectors, cut = alone.vectors, alone.truncated
        pieces = [states[a:b] for a, b in zip(first, last, strict=True)]
        return SpanStates(
            vectors=vectors,
            states=np.concatenate(pieces) if pieces else states[:0],
            offsets=np.cumsum([0, *(last - first)], dtype=np.int64),
            truncated=cut,
            sparse=self._weighed(ids, weights, list(zip(first, last, strict=True))),
        )

    def encode_alone(
        self,
        texts: Sequence[str],
        *,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> SpanStates:
        return self._alone(texts, Work(0, progress, cancelled))

    def _alone(self, texts: Sequence[str], work: Work) -> SpanStates:
        prompt = self._document_prompt()
        read = [self._pieces.read_after(prompt, t) for t in texts]
        lengths = np.array([len(own) for _, own, _ in read], dtype=np.int64)
        rows = [self._row(own[: max(0, self.window - len(p))], p) for p, own, _ in read]
        kept = np.array([r.last - r.first for r in rows], dtype=np.int64)
        work.total = max(work.total, int(kept.sum()))
        offsets = np.cumsum([0, *kept], dtype=np.int64)
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        states = np.zeros((offsets[-1], self.width), dtype=np.int8)
        weights = np.zeros(offsets[-1], dtype=np.float32)
        for group, length in self._groups(rows):
            work.check()
            for i, numbers in zip(
                group, self._read_rows([rows[i] for i in group], length), strict=True
            ):
                own = slice(offsets[i], offsets[i + 1])
                vectors[i] = numbers.vector
                states[own] = _small(numbers.states)
                if numbers.weights is not None:
                    weights[own] = numbers.weights
                work.did(int(kept[i]))
        ids = np.concatenate([r.ids[r.first : r.last] for r in rows] or [np.zeros(0, np.int64)])
        bounds = list(pairwise(offsets.tolist()))
        cut = (lengths - kept).astype(np.int32)
        sparse = self._weighed(ids, weights, bounds)
        return SpanStates(unit_rows(vectors), states, offsets, cut, sparse)

    def _row(self, own: np.ndarray, prompt: np.ndarray) -> Row:
        head = [*self._before, *prompt.tolist()]
        ids = np.array([*head, *own.tolist(), *self._after], dtype=np.int64)
        return Row(ids, len(head), len(head) + len(own))

    def _groups(self, rows: Sequence[Row]) -> list[tuple[list[int], int]]:
        """Rows with text to be read together, each group with the length it is padded to."""
        by_length: dict[int, list[int]] = {}
        for i, row in enumerate(rows):
            if row.last > row.first:
                padded = min(self._length, -(-len(row.ids) // STEP) * STEP)
                by_length.setdefault(padded, []).append(i)
        return [
            (members[at : at + self._rows(length)], length)
            for length, members in sorted(by_length.items())
            for at in range(0, len(members), self._rows(length))
        ]

    def _read_windows(
        self, ids: np.ndarray, windows: Sequence[Window], work: Work
    ) -> Iterator[tuple[Window, Numbers]]:
        """Each window with what the model gave for all of its tokens."""
        work.check()
        rows = [self._row(ids[w.start : w.end], self._prompt_ids) for w in windows]
        step = self._rows(len(rows[0].ids)) if rows else 1
        for at in range(0, len(rows), step):
            group = rows[at : at + step]
            read = self._read_rows(group, len(group[0].ids), whole=False)
            for window, numbers in zip(windows[at : at + step], read, strict=True):
                yield window, numbers
                work.did(window.keep_end - window.keep_start)
            work.check()

    def _read_rows(self, rows: Sequence[Row], length: int, *, whole: bool = True) -> list[Numbers]:
        """The model's numbers; in halves where memory does not suffice for all rows.

        With ``whole``, rows of padding fill the batch up to its full number of rows.
        """
        most = self._rows(length)
        if len(rows) > most:
            groups = (rows[at : at + most] for at in range(0, len(rows), most))
            return [n for group in groups for n in self._read_rows(group, length, whole=whole)]
        count = most if whole else len(rows)
        ids = np.full((count, length), self._filler, dtype=np.int64)
        real = np.zeros((count, length), dtype=bool)
        real[:, 0] = True
        for i, row in enumerate(rows):
            ids[i, : len(row.ids)] = row.ids
            real[i, : len(row.ids)] = True
        try:
            with self._busy:
                return self._numbers(ids, real, rows)
        except ModelError:
            raise
        except Exception as error:
            if not out_of_memory(error):
                said = str(error).strip() or type(error).__name__
                raise ModelError(self.name, f"could not read a text ({said})") from error
            if count == 1:
                raise ModelError(
                    self.name,
                    f"ran out of memory on {length:,} tokens",
                    "Close other programs, or take a smaller model.",
                ) from error
        self._at_once = count // 2 * length  # from here on
        free_memory()
        return self._read_rows(rows, length, whole=whole)

    def _rows(self, length: int) -> int:
        """How many rows of so many tokens are read at once."""
        return max(1, min(MOST_ROWS, self._at_once // max(1, length)))

    def _weighed(
        self, ids: np.ndarray, weights: np.ndarray | None, bounds: Sequence[tuple[int, int]]
    ) -> LexicalWeights | None:
        if not self.learns_weights or weights is None:
            return None
        return Weighed(ids, weights, self._unweighed()).of(bounds)

    def _unweighed(self) -> Sequence[int]:
        """Tokens whose weight says nothing: special and unknown ones."""
        return ()


def _small(states: np.ndarray) -> np.ndarray:
    """States in eight bits a number. What is no number matches nothing; in eight bits it would
    be some number."""
    return quantise(np.where(np.isfinite(states), states, 0.0))
