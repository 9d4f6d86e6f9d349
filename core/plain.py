"""Frozen records to JSON's own types and back, as their annotations say, without loss."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")


def plain(value: Any) -> Any:
    """A record as JSON's own types: bytes become base64, tuples lists."""
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(part) for name, part in zip(value._fields, value, strict=True)}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if hasattr(value, "item"):  # a number of numpy's, which not every process has loaded
        return value.item()
    return value


def parse(text: str) -> Any:
    """The JSON in ``text``.

    Raises:
        ValueError: not JSON, nested past all use, with a number that JSON does not have, or with
            half a surrogate pair, which is no text and could not be shown.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


_NAMES = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}
"""What a person calls the types of JSON."""


@cache
def _hints(record: type) -> Mapping[str, Any]:
    return typing.get_type_hints(record)


def build(wanted: Any, value: Any) -> Any:
    """``value`` from JSON as the type that an annotation asks for.

    Raises:
        TypeError, ValueError: it is of another type, or lacks a part that has no default.
    """
    if wanted is Any:
        return value
    if dataclasses.is_dataclass(wanted) or hasattr(wanted, "_fields"):
        if not isinstance(value, dict):
            raise TypeError(f"{wanted.__name__} is not an object")
        known = _hints(wanted)
        return wanted(**{k: _part(known[k], v, k) for k, v in value.items() if k in known})
    origin = typing.get_origin(wanted)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        return build(next(a for a in typing.get_args(wanted) if a is not type(None)), value)
    if origin is tuple:
        if not isinstance(value, list):
            raise TypeError(f"{_short(value)} is not a list")
        of = typing.get_args(wanted)[0]
        return tuple(_part(of, v, i) for i, v in enumerate(value))
    if origin is not None:
        if not isinstance(value, dict):
            raise TypeError(f"{_short(value)} is not an object")
        of = typing.get_args(wanted)[1]
        return {k: _part(of, v, k) for k, v in value.items()}
    if wanted is bytes and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if wanted is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{_short(value)} is too large") from None
    if type(value) is not wanted:
        raise TypeError(f"{_short(value)} is not {_NAMES.get(wanted, wanted.__name__)}")
    return value


class _Misplaced(ValueError):
    """What is wrong with a value, and where in the whole it stands, innermost first."""

    def __init__(self, problem: str) -> None:
        self.problem, self.path = problem, []
        super().__init__(problem)

    def __str__(self) -> str:
        steps = "".join(f"[{p}]" if isinstance(p, int) else f".{p:.40}" for p in self.path[::-1])
        return f"{steps.lstrip('.')}: {self.problem}"


def _part(wanted: Any, value: Any, place: str | int) -> Any:
    """:func:`build` of a part, whose place stands in its errors."""
    try:
        return build(wanted, value)
    except _Misplaced as error:
        error.path.append(place)
        raise
    except (TypeError, ValueError) as error:
        misplaced = _Misplaced(str(error))
        misplaced.path.append(place)
        raise misplaced from None


def _short(value: Any) -> str:
    """A value as an error shows it: its beginning, since it may be a whole file."""
    try:
        shown = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        shown = "a number"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
