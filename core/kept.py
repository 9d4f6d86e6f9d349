"""A small store of what was computed: the least recently used goes when it grows too heavy."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, at most ``limit`` heavy together. Safe to share between threads.

    Args:
        limit: the most that all values may weigh; the newest stays even if it alone is heavier.
        weigh: what a value weighs; 1 each where not given.
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int] = lambda value: 1) -> None:
        self._limit, self._weigh, self._weight = limit, weigh, 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def weight(self) -> int:
        """What all values weigh together."""
        return self._weight

    def get(self, key: Hashable) -> Value | None:
        """The value under ``key``, now the last to be let go; None where there is none."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Hashable, value: Value) -> Value:
        """Keeps ``value``, or what another thread kept first, and returns the one that is kept."""
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._weight += self._weigh(value)
            self._values.move_to_end(key)
            while self._weight > self._limit and len(self._values) > 1:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])
            return self._values[key]
