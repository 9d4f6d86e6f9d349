"""One question in one mode: asked, and measured at every budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import EmptyIndexError
from core.evaluate.cover import covered, within_budget
from core.evaluate.evidence import Prepared
from core.evaluate.losses import (
    final_order,
    first_order,
    loss_of,
    overlapping,
    pieces_lost,
    pieces_repeated,
)
from core.evaluate.records import Row
from core.index.index import Index
from core.pipeline import Pipeline
from core.records import Chunk, Principal
from core.settings import Settings
from core.trace import INSUFFICIENT, Passage, Trace

ROOMY = 1_000_000
"""The model window while measuring, in tokens: the budget alone is to decide what fits."""


@dataclass(frozen=True)
class Asker:
    """Asks questions, each of all documents or of its own, and measures the answers."""

    pipeline: Pipeline
    index: Index
    settings: Settings
    budgets: tuple[int, ...]
    principal: Principal | None = None
    _own: dict[tuple[str, ...], Index] = field(default_factory=dict)

    def row(
        self, prepared: Prepared, mode: str, cancelled: Callable[[], bool] | None = None
    ) -> Row:
        """The measures of one question in one mode.

        Raises:
            Cancelled: ``cancelled`` answered True between two steps.
        """
        index = self._index(prepared.documents)
        try:
            traces = {
                b: self.pipeline.run(
                    index,
                    prepared.question.text,
                    self.settings.changed(evidence_budget=b, window_tokens=ROOMY),
                    mode,
                    self.principal,
                    cancelled=cancelled,
                )
                for b in self.budgets
            }
        except EmptyIndexError:  # all that it is asked of is hidden, or without text
            return self._nothing(prepared, mode, index)
        return _row(prepared, mode, index, traces)

    def _index(self, documents: tuple[str, ...]) -> Index:
        """An index of some documents alone: their statistics too are theirs alone."""
        if not documents or len(documents) == len(self.index.documents):
            return self.index
        if documents not in self._own:
            parts = [p for p in self.index.parts if p.document.id in documents]
            self._own[documents] = Index(parts, self.index.counter)
        return self._own[documents]

    def _nothing(self, prepared: Prepared, mode: str, index: Index) -> Row:
        visible = {d.id for d in index.restricted(self.principal).documents}

        def loss(chunk: Chunk) -> str:
            return "extraction" if chunk.document_id in visible else "access"

        nothing = {str(b): 0.0 for b in self.budgets}
        lost = pieces_lost(index, prepared.evidence, (), loss)
        return Row(
            question=prepared.question.id,
            mode=mode,
            recall=nothing,
            before=nothing,
            assembled=nothing,
            lost={str(b): lost for b in self.budgets},
            relevant=len(_relevant(prepared, index)),
            tokens={str(b): 0 for b in self.budgets},
            outcome=INSUFFICIENT,
        )


def _row(prepared: Prepared, mode: str, index: Index, traces: Mapping[int, Trace]) -> Row:
    evidence = prepared.evidence
    widest = traces[max(traces)]  # budgets differ from the budget stage on: one order for all
    final, first = final_order(widest, index), first_order(widest, index)
    relevant = _relevant(prepared, index)

    def share(shown: Sequence[Chunk | Passage]) -> float:
        # None where all the evidence that there is stands on pages without text.
        return covered(evidence, shown) or 0.0

    cut = {b: within_budget(final, b) for b in traces}
    return Row(
        question=prepared.question.id,
        mode=mode,
        recall={str(b): share(cut[b]) for b in traces},
        before={str(b): share(within_budget(first, b)) for b in traces},
        assembled={str(b): share(t.selected) for b, t in traces.items()},
        lost={
            str(b): pieces_lost(index, evidence, {c.id for c in cut[b]}, loss_of(widest, index, b))
            for b in traces
        },
        repeated={str(b): pieces_repeated(index, evidence, cut[b]) for b in traces},
        ranks=tuple(rank for rank, c in enumerate(final, 1) if c.id in relevant),
        relevant=len(relevant),
        tokens={str(b): t.ledger.evidence for b, t in traces.items()},
        tokens_read=sum(s.tokens_read for s in widest.stages),
        seconds={s.name: s.seconds for s in widest.stages if s.ran},
        outcome=widest.outcome,
        degraded={s.name: s.degraded for s in widest.degraded},
    )


def _relevant(prepared: Prepared, index: Index) -> set[str]:
    """The ids of the chunks that hold a part of the evidence."""
    return {c.id for e in prepared.evidence for c in overlapping(index, e)}
