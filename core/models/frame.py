"""The special tokens that a tokenizer puts around one text or two, found by asking it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Frame:
    """Special tokens ``before``, ``between`` and ``after`` the texts (``between`` for pairs).

    ``types`` says whether the second text, and what follows it, is of type 1.
    """

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: bool = False

    @property
    def size(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)

    def pair(self, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Token ids and types int64 [l] of a pair, and where the second text begins."""
        head = [*self.before, *one.tolist(), *self.between]
        ids = np.array([*head, *two.tolist(), *self.after], dtype=np.int64)
        types = np.zeros(len(ids), dtype=np.int64)
        if self.types:
            types[len(head) :] = 1
        return ids, types, len(head)


def frame_of(tokenizer: Any, *, pair: bool = False) -> Frame:
    """What ``tokenizer``, a fast one of transformers, puts around a text, or around two."""
    asked = tokenizer("a", "a") if pair else tokenizer("a")
    ids, sides = asked["input_ids"], asked.sequence_ids(0)
    own = [i for i, side in enumerate(sides) if side is not None]
    between = [ids[i] for i in range(own[0], own[-1]) if sides[i] is None]
    types = asked.get("token_type_ids") or [0]
    return Frame(tuple(ids[: own[0]]), tuple(between), tuple(ids[own[-1] + 1 :]), any(types))
