"""Facts as sentences: what happened, by how much, and what it would have taken."""

from __future__ import annotations

from collections.abc import Sequence

from core.diagnosis.differences import in_words
from core.diagnosis.facts import (
    Capped,
    Cut,
    Duplicate,
    Facts,
    Hidden,
    OverBudget,
    Threshold,
    Trimmed,
)
from core.diagnosis.naming import (
    amount,
    beside,
    chunk_name,
    listed,
    ordinal,
    quoted,
    shares,
)
from core.diagnosis.standing import Standing
from core.diagnosis.windows import MissedWindow
from core.index.index import Index
from core.words import counted


def told(index: Index, chunk_id: str, facts: Facts, where: Standing | None) -> str:
    """One way to be lost, in one to three sentences, beginning with the chunk's name.

    Names come from ``index``: the part of it that the reader may see.
    """
    said = _TELLERS[type(facts)](index, chunk_id, facts)
    if isinstance(facts, Cut) and where is not None:
        said += _words(where) + _other_ranks(facts, where)
    return f"{chunk_name(index, chunk_id)} {said}"


def _cut(index: Index, chunk_id: str, cut: Cut) -> str:
    if cut.rank is None:
        return f"was not taken: {counted(cut.limit, 'chunk')} went on, chosen without a score."
    said = (
        f"ranked {ordinal(cut.rank)} of {cut.total:,} by {cut.by}; the best {cut.limit:,} went on."
    )
    if cut.last and cut.gap is not None:
        last = chunk_name(index, cut.last, beside=chunk_id)
        if cut.gap:
            own, other, gap = beside(cut.last_score - cut.gap, cut.last_score)
            said += f" It scored {own}, and the last of those ({last}) {other}, {gap} more."
        else:
            said += (
                f" It scored {amount(cut.last_score)}, as much as the last of those ({last}), "
                "which comes first in a tie."
            )
    return said + (_window(index, chunk_id, cut.window) if cut.window else "")


def _window(index: Index, chunk_id: str, window: MissedWindow) -> str:
    anchor = chunk_name(index, window.anchor, beside=chunk_id)
    score = "no window score" if window.score is None else f"window score {amount(window.score)}"
    needed = ""
    if window.score is not None and window.needed_score is not None:
        own, needed, _ = beside(window.score, window.needed_score)
        score = f"window score {own}"
    if window.stopped:
        return (
            f" The window around {anchor} ({score}, radius {window.radius}) would have reached "
            "it, but the context limit stopped it."
        )
    reach = f"{counted(window.short_by, 'chunk')} short of it"
    said = f" The nearest window, around {anchor} ({score}, radius {window.radius}), ended {reach}"
    if window.needed_score is not None:
        needed = needed or amount(window.needed_score)
        return f"{said}: radius {window.distance} takes a window score of more than {needed}."
    return f"{said}: radius {window.distance} is more than the largest, {window.max_radius}."


WINDOW_SCORE = (
    "A window score runs from 0 to 1, the question's best candidate having 1; the better an "
    "anchor's, the more chunks its window takes in on either side, which is its radius."
)
"""What a reader who meets a window score for the first time has to know."""


def _words(where: Standing) -> str:
    if not where.has and not where.lacks:
        return ""
    if not where.lacks:
        return " It has every word of the question."
    if not where.has:
        return f" It has none of the question's words ({quoted(where.lacks)})."
    return f" Of the question's words it has {quoted(where.has)} and lacks {quoted(where.lacks)}."


def _other_ranks(cut: Cut, where: Standing) -> str:
    if where.dense_rank is None or cut.by == "BM25":
        return ""
    dense = f"{ordinal(where.dense_rank)} by dense score"
    if where.bm25_rank is None:
        return f" It has no BM25 rank and is {dense}."
    return f" It is {ordinal(where.bm25_rank)} by BM25 and {dense}."


def _threshold(index: Index, chunk_id: str, facts: Threshold) -> str:
    if facts.relevance is None:
        return (
            f"has a relevance that is not a number, so not {amount(facts.threshold)} or more: "
            "look at the reranker."
        )
    whose = "its relevance"
    if facts.anchor:
        anchor = chunk_name(index, facts.anchor, beside=chunk_id)
        whose = f"the relevance of its window's anchor ({anchor})"
    judged, threshold, short = beside(facts.relevance, facts.threshold)
    return (
        f"was dropped because {whose} (a probability from 0 to 1) is {judged}, {short} below the "
        f"threshold of {threshold}."
    )


def _duplicate(index: Index, chunk_id: str, facts: Duplicate) -> str:
    twin = chunk_name(index, facts.twin, beside=chunk_id)
    overlap, threshold = shares(facts.overlap, facts.threshold)
    said = (
        f"was dropped as a duplicate: it and {twin}, which ranked better, share {overlap} of the "
        f"words of the smaller one ({threshold} or more make a duplicate)."
    )
    apart = facts.difference
    if apart.only_here:
        said += f" Only this one has {in_words(apart.only_here)}."
    if apart.only_there:
        said += f" Only the other has {in_words(apart.only_there)}."
    if not apart.only_here and not apart.only_there:
        said += " The two have the same words."
    return said if facts.twin_arrived else f"{said} That one did not reach the prompt either."


def _capped(index: Index, chunk_id: str, facts: Capped) -> str:
    before = listed([chunk_name(index, c, beside=chunk_id) for c in facts.before])
    return (
        f"came after {counted(facts.cap, 'better passage')} of its source, as many as the cap "
        f"lets in: {before}."
    )


def _over_budget(index: Index, chunk_id: str, facts: OverBudget) -> str:
    if facts.needed > facts.room:
        return (
            f"needs {counted(facts.needed, 'token')} with its label, more than the whole evidence "
            f"budget of {facts.room:,}."
        )
    said = (
        f"was {ordinal(facts.rank)} of {facts.of:,} when the budget was spent: it needs "
        f"{counted(facts.needed, 'token')} and {facts.left:,} of {facts.room:,} were left, "
        f"{facts.needed - facts.left:,} too few."
    )
    if facts.before:
        spent = [
            f"{chunk_name(index, s.chunk_id, chunk_id)} ({s.tokens:,}{' tokens' if not n else ''})"
            for n, s in enumerate(facts.before)
        ]
        said += f" {counted(len(spent), 'passage')} had taken the rest: {listed(spent)}."
    return said


def _trimmed(index: Index, chunk_id: str, facts: Trimmed) -> str:
    return (
        f"is in the prompt, but only its first {counted(facts.characters, 'character')}: it was "
        f"trimmed to fit, and {facts.shown:.0%} of what is wanted can be read there."
    )


def _hidden(index: Index, chunk_id: str, facts: Hidden) -> str:
    access, needs = facts.access, []
    if access.tenant:
        needs.append(f"the tenant {access.tenant}")
    if access.roles:
        needs.append(f"the role {' or '.join(access.roles)}")
    if access.labels:
        needs.append(f"clearance for {listed(access.labels)}")
    return (
        f"was hidden by the access filter before anything was scored: {facts.document} takes "
        f"{listed(needs)}, and whoever asked has not all of that."
    )


_TELLERS = {
    Cut: _cut,
    Threshold: _threshold,
    Duplicate: _duplicate,
    Capped: _capped,
    OverBudget: _over_budget,
    Trimmed: _trimmed,
    Hidden: _hidden,
}


def summary(
    arrived: Sequence[bool],
    first_loss: str,
    sentence: str,
    share: float,
    name: str = "",
    numbers: Sequence[int] = (),
) -> str:
    """The whole target in one sentence, before those on its chunks.

    Args:
        arrived: of each chunk, whether what is wanted of it is in the prompt.
        first_loss: the stage's title; sentence: what is said of the first chunk lost there.
        share: how much of a pasted passage was found in the documents.
        name: of its one chunk. numbers: the citations that show some of it.
    """
    part = "" if share >= 1 else f"{share:.0%} of the passage was found in the documents. "
    total, here = len(arrived), sum(arrived)
    shown = f", as {listed([f'[{n}]' for n in numbers])}" if numbers else ""
    if here == total:
        named = f": {name}" if name and total == 1 else ""
        what = {1: "It is", 2: "Both chunks of it are"}.get(total, f"All {total} chunks of it are")
        if part:
            what = "That part is"
            named += ". No document here holds the whole passage"
        return f"{part}{what} in the prompt{shown}{named}."
    if total == 1:
        return part + sentence
    state = {0: f"none of its {total} chunks is", 1: f"1 of its {total} chunks is"}
    state = state.get(here, f"{here} of its {total} chunks are") + " in the prompt"
    state = state if here else state[0].upper() + state[1:]
    return f"{part}{state}{shown}; the first loss is at {first_loss}: {sentence}"
