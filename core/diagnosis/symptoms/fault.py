"""A fault that a trace shows by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fault:
    """A symptom with its evidence.

    Attributes:
        name: what scripts know it by, as ``eager_dedup``.
        title: what it is, in a few words. sentence: the evidence, with its numbers.
        numbers: the same numbers by name.
        knob: the knob to go to; "" where no knob helps.
        chunks: the chunks concerned.
    """

    name: str
    title: str
    sentence: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    knob: str = ""
    chunks: tuple[str, ...] = ()
