"""The difference of two prompts, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

SAME, ONLY_A, ONLY_B, CHANGED = "same", "a", "b", "changed"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of either prompt, or one that stands in the other's place. ``kind`` is same,
    changed, or the side that alone has it."""

    kind: str
    a: str = ""
    b: str = ""


def line_diff(a: str, b: str) -> tuple[Line, ...]:
    """All lines of both texts in their order. Each of ``a``'s lines comes once, as do ``b``'s."""
    return tuple(_lines(a.split("\n") if a else [], b.split("\n") if b else []))


def _lines(a: list[str], b: list[str]) -> Iterator[Line]:
    # Empty lines, and those that a long prompt repeats often, are matched beside others only:
    # to try each with each would take minutes.
    matcher = SequenceMatcher(lambda line: not line.strip(), a, b)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            yield from (Line(SAME, line, line) for line in a[a0:a1])
            continue
        for one, two in zip_longest(a[a0:a1], b[b0:b1]):
            if one is None:
                yield Line(ONLY_B, b=two)
            elif two is None:
                yield Line(ONLY_A, a=one)
            else:
                yield Line(CHANGED, one, two)
