"""What another chunk size would do: asked for by itself, since it builds the index anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.diagnosis.grid import outward, size
from core.diagnosis.proposals import Proposal
from core.diagnosis.targets import Target, target_of_span
from core.errors import Cancelled
from core.index.index import Index
from core.pipeline import Pipeline
from core.settings import Settings, parse_settings
from core.trace import Trace

KNOB = "chunk_tokens"


def rechunked(
    pipeline: Pipeline,
    trace: Trace,
    target: Target,
    rebuild: Callable[[Settings], Index],
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Proposal | None:
    """The chunk size nearest to the present one that brings the target's text in, or None.

    Every size on the knob's grid is tried, nearest first, and each builds an index: minutes,
    for many documents. The chunks of another size are other chunks, so what comes in and falls
    out is told as the chunks of the new index and of the old.

    Args:
        rebuild: makes the index for settings, from the same documents.

    Raises:
        Cancelled: ``cancelled`` answered True.
    """
    settings = parse_settings(trace.settings)
    present = settings.chunk_tokens
    for value in outward(KNOB, present):
        if cancelled and cancelled():
            raise Cancelled
        there = settings.changed(**{KNOB: value})
        index = rebuild(there)
        wanted = on_index(index.restricted(trace.principal), target)
        if wanted is None:
            continue
        after = pipeline.run(
            index, trace.question, there, trace.mode, trace.principal, cancelled=cancelled
        )
        if wanted.reached(after.selected):
            return Proposal(
                changes={KNOB: value},
                before={KNOB: present},
                proved=True,
                exact=True,
                size=size(KNOB, present, value),
                tokens=after.ledger.evidence - trace.ledger.evidence,
                gained=tuple(p.chunk_id for p in after.selected),
                lost=tuple(p.chunk_id for p in trace.selected),
            )
    return None


def on_index(index: Index, target: Target) -> Target | None:
    """The same text as the chunks of another index; None where one of them holds none of it."""
    parts = [target_of_span(index, p.document_id, p.start, p.end) for p in target.pieces]
    if not parts or not all(p.pieces for p in parts):
        return None
    pieces = dict.fromkeys(piece for part in parts for piece in part.pieces)
    return replace(target, kind="span", pieces=tuple(pieces))
