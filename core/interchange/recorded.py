"""What an import says, in one form whatever file it came from: ranked lists, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import TraceFormatError


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a list. ``id`` is the other pipeline's; ``score`` None where it gave none."""

    id: str
    text: str = ""
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drop:
    """A result that a stage says it dropped. ``reason`` and ``cause`` (an id) may be empty."""

    hit: Hit
    reason: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class RankedList:
    """What left one stage, best first. ``stage`` is one of the pipeline's stages.

    ``title`` is what the other pipeline calls it; ``entered`` how many results it says it
    read, None where it does not.
    """

    stage: str
    hits: tuple[Hit, ...]
    dropped: tuple[Drop, ...] = ()
    title: str = ""
    model: str = ""
    how: str = ""
    seconds: float = 0.0
    entered: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A document that the import describes. ``key`` is what results call it."""

    key: str
    name: str
    title: str = ""
    date: str = ""
    pages: int = 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """One question through another pipeline.

    ``prompts`` are what models read after the last list, in order of time; () where that is
    not recorded. ``prompt_tokens`` is the other pipeline's own count of them.
    """

    question: str
    lists: tuple[RankedList, ...]
    pipeline: str = ""
    name: str = ""
    sources: tuple[Source, ...] = ()
    prompts: tuple[str, ...] = ()
    prompt_tokens: int = 0
    models: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def refuse(place: str, problem: str, remedy: str) -> TraceFormatError:
    """An error that names the place in the file."""
    return TraceFormatError(place, problem, remedy)
