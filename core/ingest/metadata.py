"""What is said about a document: who may read it, its date, priority and title.

It comes from front matter or from beside the file. What concerns access is strict: a
value that cannot be understood fails the document, since reading it as "no restriction"
would show it to everyone. Date, priority and title are lenient: a value that cannot be
understood is left out, with a warning.
"""

from __future__ import annotations

import datetime
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from core.errors import DocumentError
from core.records import Access

ACCESS_KEYS = ("tenant", "roles", "labels")
KEYS = (*ACCESS_KEYS, "date", "priority", "title")
# One of several is often written in the singular. Read as it is meant, it can only hide.
_SINGULAR = {"role": "roles", "label": "labels"}

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True)
class Metadata:
    """Understood metadata. ``date`` is ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``, or empty."""

    access: Access = field(default_factory=Access)
    date: str = ""
    priority: int = 0
    title: str = ""
    warnings: tuple[str, ...] = ()


def understand(name: str, own: Mapping[str, Any], given: Mapping[str, Any]) -> Metadata:
    """``own`` is what the file says of itself, ``given`` what is said beside it.

    ``given`` wins key by key. Raises DocumentError for a malformed access value in either,
    and for a key in ``given`` that does not exist (in front matter other tools' keys are
    common, so there a near miss of one of ours is worth a warning, and one that names access
    an error).
    """
    warnings: list[str] = []
    own = _read_singular(name, {str(k).strip().lower(): v for k, v in own.items()}, warnings)
    for key in own:
        if key not in KEYS and (near := get_close_matches(key, KEYS, n=1, cutoff=0.8)):
            # Not "rules", which other tools have.
            if get_close_matches(key, ACCESS_KEYS, n=1, cutoff=0.82):
                problem = f"its front matter has “{key}”, which would restrict nothing"
                remedy = f"Write “{near[0]}” if that was meant, or give the key another name."
                raise DocumentError(name, problem, remedy)
            warnings.append(f"The front matter's “{key}” is not read. Was “{near[0]}” meant?")
    for key, value in own.items():
        if isinstance(value, Mapping) and (inner := sorted(set(value) & set(ACCESS_KEYS))):
            raise DocumentError(
                name,
                f"its front matter's “{key}” holds “{inner[0]}”, which restricts nothing there",
                "Write it at the top level.",
            )
    for key in given:
        if key not in KEYS:
            raise DocumentError(
                name, f"its metadata has an unknown key “{key}”", f"Known: {', '.join(KEYS)}."
            )
    _access(name, own)
    for key in KEYS:
        if key in own and key in given and str(own[key]) != str(given[key]):
            warnings.append(f"Its “{key}” is given both in the file and beside it; beside wins.")
    merged = {**own, **given}
    for key in ("roles", "labels"):
        if isinstance(merged.get(key), list | tuple | set | frozenset) and not merged[key]:
            warnings.append(
                f"Its {key} are an empty list, which restricts nothing: all may read it."
            )
    return Metadata(
        access=_access(name, merged),
        date=_date(merged.get("date"), warnings),
        priority=_priority(merged.get("priority"), warnings),
        title=_title(merged.get("title"), warnings),
        warnings=tuple(warnings),
    )


def _read_singular(name: str, own: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    """``role`` and ``label`` under the names that are read."""
    read = {}
    for key, value in own.items():
        if meant := _SINGULAR.get(key):
            if meant in own:
                problem = f"its front matter has both “{key}” and “{meant}”"
                raise DocumentError(name, problem, f"Put all of them under “{meant}”.")
            warnings.append(f"The front matter's “{key}” is read as “{meant}”.")
        read[meant or key] = value
    return read


def _access(name: str, values: Mapping[str, Any]) -> Access:
    tenant = values.get("tenant", "")
    if not isinstance(tenant, str) or (tenant and not tenant.strip()):
        problem = f"its tenant is {_short(tenant)}, which is not one name"
        raise DocumentError(name, problem, 'Write one name, as in tenant: "northwind".')
    return Access(tenant.strip(), _names(name, values, "roles"), _names(name, values, "labels"))


def _names(name: str, values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if key not in values:
        return ()
    value = values[key]
    # One plain word is one name. With a comma in it, it might be several, and guessing
    # either way would change who may read.
    items = [value] if isinstance(value, str) and "," not in value else value
    if not isinstance(items, list | tuple) or not all(
        isinstance(item, str) and item.strip() for item in items
    ):
        problem = f"its {key} are {_short(value)}, which is not a list of names"
        raise DocumentError(name, problem, f"Write a list, as in {key}: [staff, finance].")
    return tuple(dict.fromkeys(item.strip() for item in items))


def _short(value: Any) -> str:
    """A value as a message shows it; a few lines of YAML can stand for millions of names."""
    flat = reprlib.Repr()
    flat.maxlevel = 2
    return flat.repr(value)


def _date(value: Any, warnings: list[str]) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, datetime.datetime):
        value = value.date()
    text = value.isoformat() if isinstance(value, datetime.date) else str(value).strip()
    day = re.split(r"[T ]", text)[0]
    if valid := valid_date(day):
        return valid
    warnings.append(f"Its date “{text[:40]}” is not read: dates are written 2026-03-01.")
    return ""


def valid_date(day: str) -> str:
    """``day`` if it is a date written ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``, else empty."""
    if not _DATE.fullmatch(day):
        return ""
    try:
        datetime.date.fromisoformat(day + "-01" * (2 - day.count("-")))
        return day
    except ValueError:
        return ""


def _priority(value: Any, warnings: list[str]) -> int:
    if value is None or value == "":
        return 0
    try:
        if isinstance(value, bool) or abs(number := int(str(value))) > 1_000_000:
            raise ValueError
        return number
    except ValueError:
        warnings.append(f"Its priority “{str(value)[:40]}” is not read: it is a whole number.")
        return 0


def _title(value: Any, warnings: list[str]) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        warnings.append("Its title is not read: a title is one line of text.")
        return ""
    return " ".join(value.split())
