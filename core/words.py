"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """``1 chunk``, ``1,204 chunks``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def first_few(names: Sequence[str], most: int = 5) -> str:
    """``a, b, c``, and a mark where there are more than ``most``."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")
