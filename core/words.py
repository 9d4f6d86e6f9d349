"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """``1 chunk``, ``1,204 chunks``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
