"""What is known of one knob, and what it takes for a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Knob:
    """What a person must know to turn a knob. ``low`` and ``high`` are inclusive."""

    name: str
    group: str
    default: Any
    help: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()
    label: str = ""

    @property
    def kind(self) -> type:
        """``bool``, ``int``, ``float`` or ``str``."""
        return type(self.default)

    def check(self, value: Any) -> Any:
        """``value`` in this knob's type, or :class:`SettingsError` that says what is allowed."""
        try:
            value = self._coerce(value)
        except (TypeError, ValueError, OverflowError):
            raise SettingsError(self.name, f"{value!r} is not {self.allowed()}") from None
        if self.choices and value not in self.choices:
            raise SettingsError(self.name, f"{value!r} is not {self.allowed()}")
        if self.low is not None and not self.low <= value <= self.high:
            raise SettingsError(
                self.name, f"{value!r} is out of range", f"It takes {self.allowed()}."
            )
        return value

    def _coerce(self, value: Any) -> Any:
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            word = str(value).lower()
            return _BOOLEANS[word] if word in _BOOLEANS else _refuse(value)
        if self.kind is str:
            # Half a surrogate pair, as a command line can hand over, is no text.
            return (
                value.encode("utf-8", "replace").decode()
                if isinstance(value, str)
                else _refuse(value)
            )
        if isinstance(value, bool):
            _refuse(value)
        number = float(value)
        if self.kind is int:
            return int(number) if number == int(number) else _refuse(value)
        return number

    def allowed(self) -> str:
        """The values that it takes, in words."""
        if self.choices:
            return "one of " + ", ".join(c or "(empty)" for c in self.choices)
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return "text"
        number = "a whole number" if self.kind is int else "a number"
        return f"{number} from {self.low:g} to {self.high:g}" + (
            f" {self.unit}" if self.unit else ""
        )


_BOOLEANS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


def _refuse(value: Any) -> Any:
    raise ValueError(value)
