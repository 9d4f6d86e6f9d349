"""Stage 9, budget: greedy, best first, labels and separators counted with a real tokenizer.

A passage that does not fit is passed over and the next, smaller one may still come in, as
in the second article's assembler.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.records import Candidate
from core.rendering import place
from core.settings import Settings
from core.stages.base import Run, State, entry, selection
from core.stages.trim import trimmed
from core.tokens import TokenCounter
from core.trace import DROPPED, StageRecord


def fill(costs: Iterable[int], budget: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Greedy selection.

    Args:
        costs: tokens of each passage, best first.
        budget: tokens there are, 0 or more.

    Returns:
        Positions that fit, and (position, tokens that were left) of those that did not.
    """
    chosen, cut, left = [], [], budget
    for i, cost in enumerate(costs):
        if cost <= left:
            chosen.append(i)
            left -= cost
        else:
            cut.append((i, left))
    return chosen, cut


def room_for_evidence(settings: Settings, question: str, counter: TokenCounter) -> int:
    """The evidence budget, or less where instructions, question and reserve leave less."""
    spoken = counter.count(settings.instructions) + counter.count(question)
    return room_within(
        settings.evidence_budget, settings.window_tokens, settings.answer_reserve, spoken
    )


def room_within(budget: int, window: int, reserve: int, spoken: int) -> int:
    """The room that a budget has in a window, beside a reserve and what is spoken in any case."""
    return max(0, min(budget, window - reserve - spoken - FRAME_TOKENS))


def passage_costs(candidates: Iterable[Candidate], run: Run) -> tuple[list[int], list[int]]:
    """Tokens of each candidate's label, and of its label and text together."""
    chunks = [run.index.chunk(c.chunk_id) for c in candidates]
    places = [(run.index.document(c.document_id).name, place(c)) for c in chunks]
    labels = run.index.passage_cost.labels(places)
    return labels, [a + c.tokens for a, c in zip(labels, chunks, strict=True)]


FRAME_TOKENS = 16
"""Kept aside for the words ``Question:`` and ``Evidence:`` that frame the prompt."""


def budget(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Fills the evidence budget; what is cut says what it needed and what was left."""
    counter = run.index.counter
    room = room_for_evidence(settings, run.question, counter)
    chunks = [run.index.chunk(c.chunk_id) for c in state.candidates]
    labels, costs = passage_costs(state.candidates, run)
    trims = {}
    if settings.oversize == "trim":
        for i, (whole, own) in enumerate(zip(costs, labels, strict=True)):
            if whole > room:
                trim = trimmed(chunks[i].text, room - own, counter)
                if trim.characters:
                    costs[i], trims[i] = own + trim.tokens, trim
    chosen, cut = fill(costs, room)
    dropped, spent_by, taken = [], "", iter(chosen)
    following = next(taken, None)
    for i, left in cut:
        while following is not None and following < i:
            spent_by, following = state.candidates[following].chunk_id, next(taken, None)
        reason = f"needs {costs[i]:,} tokens, {left:,} of {room:,} were left"
        if costs[i] > room:
            reason = f"needs {costs[i]:,} tokens, more than the whole budget of {room:,}"
        dropped.append(
            entry(
                state.candidates[i],
                DROPPED,
                reason=reason,
                margin=float(left - costs[i]),
                cause=spent_by,
                scores={"tokens": float(costs[i]), "left": float(left), "room": float(room)},
            )
        )
    kept, reasons = [], {}
    for i in chosen:
        candidate = state.candidates[i]
        reasons[candidate.chunk_id] = f"{costs[i]} tokens with its label"
        if i in trims:
            candidate = candidate._replace(scores={**candidate.scores, TRIM: trims[i].characters})
            reasons[candidate.chunk_id] += f", trimmed from {chunks[i].tokens + labels[i]}"
        kept.append(candidate)
    warnings = []
    if room < settings.evidence_budget:
        warnings.append(
            f"The model window leaves {room} tokens for evidence, fewer than the budget of "
            f"{settings.evidence_budget}."
        )
    if cut and run.mode.first_stage == "whole":
        needed = sum(costs)
        warnings.append(
            f"The documents did not go in whole: they need {needed:,} tokens, the evidence budget "
            f"is {room:,}, and {len(cut)} of {len(chunks)} chunks were cut."
        )
    if shortened := sum(i in trims for i in chosen):
        warnings.append(f"{shortened} passages larger than the whole budget were trimmed.")
    return selection(
        "budget",
        state,
        kept,
        dropped,
        settings.of_groups("budget", "prompt"),
        reasons,
        how=f"counted by {counter.name}",
        warnings=tuple(warnings),
    )


TRIM = "trimmed_to"
"""The score name under which a candidate carries the characters it was trimmed to."""
