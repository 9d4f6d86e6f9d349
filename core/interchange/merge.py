"""The steps of a trace in their stages: several searches become one list, repeats fall away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.interchange.recorded import Hit, RankedList
from core.interchange.spans import Span

FROM_READ = "what the reranker read; the search itself is not recorded"


def merged(
    steps: Sequence[tuple[RankedList, tuple[Hit, ...]]],
    own: Sequence[Span],
    spans: Sequence[Span],
) -> tuple[list[RankedList], list[str]]:
    """The lists in the order of the stages, and what a person should know of how they came.

    Args:
        steps: the list of each step, with what it read before, in the order in which they ended.
        own: the span of each step.
        spans: all spans of the trace, which say what stands inside what.
    """
    warnings: list[str] = []
    steps, own = _without_repeats(steps, own)
    parents = {s.id: s.parent for s in spans}
    done: list[Span] = []
    searches: list[tuple[RankedList, Span]] = []
    later: list[RankedList] = []
    reads: tuple[Hit, ...] = ()
    for (ranked, read), span in zip(steps, own, strict=True):
        held = [s for s in done if _within(s, span, parents)]
        done.append(span)
        ranked = replace(ranked, seconds=max(0.0, span.seconds - sum(s.seconds for s in held)))
        inside = [(r, s) for r, s in searches if s in held]
        if ranked.stage != "first_stage" or len(inside) == 1 or (later and held):
            later.append(ranked)
            reads = reads or read
            continue
        if later:
            warnings.append(f"{ranked.title} searched again after the rerank: its list is joined.")
        if inside:
            ranked = _fused(ranked, [r for r, _ in inside])
        searches = [pair for pair in searches if pair not in inside] + [(ranked, span)]
    lists = [_joined([r for r, _ in searches])] if searches else []
    if not lists and reads:
        lists = [RankedList("first_stage", reads, how=FROM_READ)]
    if len(later) > 2:
        names = ", ".join(r.title for r in later[1:-1])
        warnings.append(
            f"{len(later)} lists follow the search; those between the first and the last are left "
            f"out ({names})."
        )
        later = [later[0], later[-1]]
    for ranked, stage in zip(later, ("rerank_1", "rerank_2"), strict=False):
        lists.append(replace(ranked, stage=stage))
    return lists, warnings


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [h.id for h in hits]


def _without_repeats(
    steps: Sequence[tuple[RankedList, tuple[Hit, ...]]], own: Sequence[Span]
) -> tuple[list[tuple[RankedList, tuple[Hit, ...]]], list[Span]]:
    """Steps less those that give what the one before them gave: a call inside a call.

    A reranker that leaves everything in its place is kept: it has scores of its own.
    """
    kept: list[tuple[RankedList, tuple[Hit, ...]]] = []
    spans: list[Span] = []
    for step, span in zip(steps, own, strict=True):
        same = bool(kept) and _ids(kept[-1][0].hits) == _ids(step[0].hits)
        if same and step[0].stage == "first_stage":
            continue
        if not step[0].hits and not step[1]:
            continue
        kept.append(step)
        spans.append(span)
    return kept, spans


def _within(span: Span, other: Span, parents: dict[str, str]) -> bool:
    """Whether a span stands inside another one."""
    at, seen = span.parent, set()
    while at and at not in seen:
        if at == other.id:
            return True
        seen.add(at)
        at = parents.get(at, "")
    return False


def _fused(ranked: RankedList, searches: Sequence[RankedList]) -> RankedList:
    """A list that was made from several searches, with the rank in each of them."""
    ranks = {
        f"rank in search {n}": {h.id: float(r) for r, h in enumerate(search.hits, 1)}
        for n, search in enumerate(searches, 1)
    }
    hits = tuple(
        replace(h, scores={name: held[h.id] for name, held in ranks.items() if h.id in held})
        for h in ranked.hits
    )
    names = ", ".join(search.title for search in searches)
    return replace(ranked, hits=hits, how=f"{ranked.title}, from {len(searches)} searches: {names}")


def _joined(searches: Sequence[RankedList]) -> RankedList:
    """One list of searches side by side: by their best rank, for no order of them is recorded."""
    if len(searches) == 1:
        return searches[0]
    best: dict[str, tuple[int, int, Hit]] = {}
    ranks: dict[str, dict[str, float | None]] = {}
    for n, search in enumerate(searches):
        for rank, hit in enumerate(search.hits):
            ranks.setdefault(hit.id, {})[f"rank in search {n + 1}"] = float(rank + 1)
            if hit.id not in best or (rank, n) < best[hit.id][:2]:
                best[hit.id] = (rank, n, hit)
    hits = [h for _, _, h in sorted(best.values(), key=lambda b: b[:2])]
    names = ", ".join(search.title for search in searches)
    return RankedList(
        "first_stage",
        tuple(replace(h, score=None, scores=ranks[h.id]) for h in hits),
        title=searches[0].title,
        how=f"{len(searches)} searches, joined by best rank, for their own order is not recorded: "
        f"{names}",
        seconds=sum(search.seconds for search in searches),
    )
