"""What an encoder hands back: vectors for retrieval, token states for late interaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Progress = Callable[[int, int], None]
"""Called with (tokens read, tokens in all) after each batch."""

Stop = Callable[[], bool]
"""Asked between batches; true ends the work with :class:`core.errors.Cancelled`."""


@dataclass(frozen=True, slots=True, eq=False)
class LexicalWeights:
    """A weight for each token that stretches of text hold, as BGE-M3 learns them.

    Those of stretch ``i`` are ``offsets[i]`` to ``offsets[i + 1]`` (int64 [n + 1]) of ``ids``,
    int32 [m], each once and ascending, and of ``weights``, float32 [m], above 0.
    """

    ids: np.ndarray
    weights: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class QueryStates:
    """A question as the encoder reads it.

    ``vector`` is float32 [d] of unit length, all zeros where the question holds no
    token. ``tokens`` is float32 [t, p], unit rows in the projected space, one for each
    of ``pieces`` (the tokenizer's spelling, the special tokens left out). ``truncated`` counts
    the tokens past the encoder's window, which were not read. ``sparse`` holds one stretch,
    the question; None where the encoder learns no lexical weights. ``starts`` is int64 [t + 1]:
    the characters at which the tokens begin, and the one at which the last ends; None where
    the encoder does not say.
    """

    vector: np.ndarray
    tokens: np.ndarray
    pieces: tuple[str, ...]
    truncated: int = 0
    sparse: LexicalWeights | None = None
    starts: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SpanStates:
    """Stretches of text as the encoder reads them.

    ``vectors`` is float32 [n, d], unit rows, zeros for a span without tokens. The token
    states of span ``i`` are the rows ``offsets[i]`` to ``offsets[i + 1]`` of ``states``,
    int8 [T, p], whose scale says nothing (a row stands for its direction). ``truncated``
    is int32 [n]: the tokens of each span that were not read. ``sparse`` holds the ``n`` spans,
    or is None where the encoder learns no lexical weights.
    """

    vectors: np.ndarray
    states: np.ndarray
    offsets: np.ndarray
    truncated: np.ndarray
    sparse: LexicalWeights | None = None

    def __len__(self) -> int:
        return len(self.vectors)

    def tokens_of(self, span: int) -> np.ndarray:
        """The token states of one span, int8 [t, p]."""
        return self.states[self.offsets[span] : self.offsets[span + 1]]
