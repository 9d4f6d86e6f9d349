"""Changes of knobs that the page proposed and a person applied, each with the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.diagnosis.grid import MODE
from dashboard import state

APPLIED = "applied"


@dataclass(frozen=True, slots=True)
class Applied:
    """Knobs by name with the values that they had, and that they were given; the mode is one."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    said: str


def value(name: str) -> Any:
    """What a knob stands at now."""
    view = state.view()
    return view.mode if name == MODE else getattr(view.settings, name)


def put(values: Mapping[str, Any]) -> None:
    """Sets knobs, the mode among them.

    Raises:
        SettingsError: one does not take its value.
    """
    knobs = {k: v for k, v in values.items() if k != MODE}
    state.change(
        settings=state.view().settings.changed(**knobs), mode=values.get(MODE, state.view().mode)
    )


def apply(values: Mapping[str, Any], said: str) -> None:
    """Sets knobs, and remembers what they stood at."""
    before = {name: value(name) for name in values}
    put(values)
    _stack().append(Applied(before, dict(values), said))
    del _stack()[:-20]


def last() -> Applied | None:
    """The last change that still stands: all of its knobs are as it left them."""
    standing = (a for a in reversed(_stack()) if all(value(k) == v for k, v in a.after.items()))
    return next(standing, None)


def undo() -> None:
    """Gives the knobs of :func:`last` back what they had; other knobs stay."""
    change = last()
    if change is not None:
        _stack().remove(change)
        put(change.before)


def _stack() -> list[Applied]:
    return state.session().setdefault(APPLIED, [])
