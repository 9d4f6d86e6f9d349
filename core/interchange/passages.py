"""Which chunks of a recorded run reached its prompt, told by the prompt's own text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.interchange.recorded import Recorded
from core.records import Chunk
from core.trace import DROPPED, KEPT, Entry, Passage, StageRecord

LEAST = 40
"""Characters at the beginning of a chunk that tell it, where the prompt does not hold all of it."""

NOT_IN_PROMPT = "its text does not stand in the recorded prompt"
NO_PROMPT = (
    "No prompt is recorded: the chunks of the last list are taken for those that a model read."
)
NOT_VERBATIM = (
    "No chunk stands in the recorded prompt as its list has it: the chunks of the last list are "
    "taken for those that the model read."
)


@dataclass(frozen=True, slots=True)
class End:
    """The chunks of the prompt in their order, and which of them it holds in part.

    ``record`` is that of the prompt stage, where the prompt's text told it.
    """

    chunks: tuple[Chunk, ...]
    trimmed: frozenset[str] = frozenset()
    record: StageRecord | None = None
    warnings: tuple[str, ...] = ()


def placed(last: Sequence[Chunk], recorded: Recorded, *, listed: bool) -> End:
    """Which of the chunks of the last list are in the prompt.

    ``listed``: the import itself says so, in a list for the prompt stage.
    """
    if listed:
        return End(tuple(last))
    if not recorded.prompts:
        return End(tuple(last), warnings=(NO_PROMPT,) if last else ())
    prompt = squeezed("\n".join(recorded.prompts))
    found: dict[str, tuple[int, bool]] = {}
    for chunk in last:
        text = squeezed(chunk.text)
        at = prompt.find(text) if text else -1
        whole = at >= 0
        if not whole and len(text) > LEAST:
            at = prompt.find(text[: max(LEAST, len(text) // 4)])
        if at >= 0:
            found[chunk.id] = (at, whole)
    if last and not found:
        return End(tuple(last), warnings=(NOT_VERBATIM,))
    inside = sorted((c for c in last if c.id in found), key=lambda c: found[c.id][0])
    outside = [c for c in last if c.id not in found]
    ranks = {c.id: rank for rank, c in enumerate(inside, 1)}
    record = StageRecord(
        "prompt",
        how="passages found in the recorded prompt by their text",
        entered=len(last),
        passed=len(inside),
        kept=tuple(c.id for c in inside),
        dropped=tuple(c.id for c in outside),
        entries=(
            *(Entry(c, KEPT, rank) for c, rank in ranks.items()),
            *(Entry(c.id, DROPPED, reason=NOT_IN_PROMPT) for c in outside),
        ),
    )
    trimmed = frozenset(c for c, (_, whole) in found.items() if not whole)
    return End(tuple(inside), trimmed, record)


def selected(
    end: End, documents: Mapping[str, str], scores: Mapping[str, float | None]
) -> tuple[Passage, ...]:
    """The passages, numbered in the order of the prompt."""
    return tuple(
        Passage(
            chunk_id=c.id,
            document=documents[c.document_id],
            document_id=c.document_id,
            pages=c.pages,
            start=c.start,
            end=c.end,
            tokens=c.tokens,
            number=number,
            citation=documents[c.document_id] + (f", page {c.pages[0]}" if c.pages else ""),
            text=c.text,
            score=scores[c.id],
            trimmed=c.id in end.trimmed,
        )
        for number, c in enumerate(end.chunks, 1)
    )


def squeezed(text: str) -> str:
    """Text in which only its words matter, not how it is broken into lines."""
    return " ".join(text.split())
