"""What pages, offsets, ranks and scores of an import can be, and what is said of those that cannot.

What no rule reads is left alone: a page label such as "iv", a place in a recording such as "0:42".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from core.interchange.names import ENDS, PAGES, STARTS, whole_of

_NUMBER = re.compile(r"\s*[+\-−]?\d{1,20}(\.\d{1,20})?\s*")


class Fault(NamedTuple):
    """A key of a result's metadata, and what is wrong with its value."""

    key: str
    problem: str
    remedy: str


def faults(metadata: Mapping[str, Any], first_page: int = 1) -> Iterator[Fault]:
    """The pages and offsets of a result that cannot be. ``first_page`` is the least page, 0 or 1."""
    for key in ("page", *PAGES):
        value = metadata.get(key)
        least = 0 if key == "page_label" else first_page  # a book's own name of a page can be 0
        if _stands(value) and (_whole(value) is None or _whole(value) < least):
            yield Fault(
                key,
                f"is {value!r:.40}, which is no page",
                f"Write a whole number from {least}, or leave it out.",
            )
    ends = []
    for keys in (STARTS, ENDS):
        key = next((k for k in keys if _stands(metadata.get(k))), "")
        value = metadata.get(key)
        if key and _whole(value) is None:
            yield Fault(
                key,
                f"is {value!r:.40}, which is no place in a text",
                "Write it in characters, a whole number from 0, or leave it out.",
            )
        ends.append((key, _whole(value)))
    (start_key, start), (end_key, end) = ends
    if start is not None and end is not None and end < start:
        yield Fault(
            end_key,
            f"is {end}, and {start_key} is {start}",
            f"Let {end_key} be at least {start_key}, or leave both out.",
        )


def _stands(value: Any) -> bool:
    """Whether it is there and should be a number: all but text that is none, such as "iv"."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return value is not None


def _whole(value: Any) -> int | None:
    if isinstance(value, str):
        value = float(value.replace("−", "-"))
    return whole_of(value)


def no_number(text: str) -> str:
    """The place of the first NaN or infinity in a text that is JSON but for those; else empty."""
    odd = object()
    try:
        held = json.loads(
            text, parse_constant=lambda name: odd, parse_float=lambda d: odd if _huge(d) else 0.0
        )
        return next(_places(held, odd, ""), "")
    except (ValueError, RecursionError):
        return ""


def _huge(digits: str) -> bool:
    return float(digits) in (float("inf"), float("-inf"))


def _places(held: Any, wanted: object, at: str) -> Iterator[str]:
    if held is wanted:
        yield at or "the file"
    elif isinstance(held, dict):
        for key, value in held.items():
            yield from _places(value, wanted, f"{at}.{key:.60}" if at else f"{key:.60}")
    elif isinstance(held, list):
        for i, value in enumerate(held):
            yield from _places(value, wanted, f"{at}[{i}]")
