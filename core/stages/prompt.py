"""Stage 11, prompt: instructions, question, numbered evidence, and a ledger of its tokens.

Numbers are given here, after every other decision, so that a number in the prompt always
names a passage in it; brackets that stand in a source's own text stay plain text.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.rendering import block, label, place
from core.settings import Settings
from core.stages.base import Run, State, number
from core.stages.budget import TRIM
from core.trace import Ledger, Passage, StageRecord


@dataclass(frozen=True)
class Assembled:
    """The passages in the order of the prompt, the prompt, and where its tokens went."""

    selected: tuple[Passage, ...]
    prompt: str
    ledger: Ledger


def prompt(state: State, settings: Settings, run: Run) -> tuple[State, StageRecord]:
    """Records what reached the prompt. :func:`assemble` makes the prompt itself."""
    ids = tuple(c.chunk_id for c in state.candidates)
    return state, StageRecord(
        name="prompt",
        settings=settings.of_groups("prompt"),
        entered=len(ids),
        passed=len(ids),
        kept=ids,
    )


def assemble(state: State, settings: Settings, run: Run) -> Assembled:
    """Renders the passages of the last state, each stretch of a document once."""
    counter, passages = run.index.counter, []
    shown: dict[str, list[tuple[int, int]]] = {}
    for nth, candidate in enumerate(state.candidates, 1):
        chunk = run.index.chunk(candidate.chunk_id)
        document = run.index.document(chunk.document_id)
        start, end = _not_yet_shown(chunk.start, chunk.end, shown.setdefault(document.id, []))
        trim = candidate.scores.get(TRIM)
        if trim is not None:
            end = max(start, min(end, chunk.start + int(trim)))
        shown[document.id].append((start, end))
        citation, text = label(nth, document.name, place(chunk)), document.text[start:end]
        passages.append(
            Passage(
                chunk_id=chunk.id,
                document=document.name,
                document_id=document.id,
                pages=chunk.pages,
                start=start,
                end=end,
                tokens=counter.count(citation)
                + (
                    chunk.tokens
                    if (start, end) == (chunk.start, chunk.end)
                    else counter.count(text)
                ),
                number=nth,
                citation=citation,
                text=text,
                score=number(candidate.score),
                trimmed=trim is not None,
            )
        )
    evidence = block([p.citation for p in passages], [p.text for p in passages])
    whole = build_prompt(settings.instructions, run.question, evidence)
    # What line breaks part is counted part by part: the passages are known already.
    shown_tokens = sum(p.tokens for p in passages)
    around = counter.count(whole.removesuffix(evidence)) if passages else counter.count(whole)
    ledger = Ledger(
        counter=counter.name,
        instructions=counter.count(settings.instructions),
        question=counter.count(run.question),
        evidence=shown_tokens,
        reserve=settings.answer_reserve,
        total=around + shown_tokens + settings.answer_reserve,
        window=settings.window_tokens,
        evidence_budget=settings.evidence_budget,
    )
    return Assembled(tuple(passages), whole, ledger)


def build_prompt(instructions: str, question: str, evidence: str) -> str:
    """The prompt as the generator gets it."""
    shown = evidence or "(No passage was found that answers the question.)"
    return f"{instructions}\n\nQuestion: {question}\n\nEvidence:\n\n{shown}"


def _not_yet_shown(start: int, end: int, shown: list[tuple[int, int]]) -> tuple[int, int]:
    """A chunk's stretch less what overlapping chunks already showed at its start or end."""
    for s, e in sorted(shown):
        if s <= start < e:
            start = min(e, end)
    # From the back, so that one stretch cut off can uncover the next.
    for s, e in sorted(shown, key=lambda stretch: -stretch[1]):
        if s < end <= e:
            end = max(s, start)
    return start, end
