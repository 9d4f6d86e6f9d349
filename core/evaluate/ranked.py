"""What information retrieval measures of a ranking, over chunks, by ``ir-measures``.

A chunk is relevant if it holds a part of the evidence. The ranking is the final order, before
any budget.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.evaluate.records import Row

MEASURES = ("nDCG@10", "RR", "R@5", "R@10", "R@50", "Success@1", "Success@5")
"""As ``ir-measures`` writes them: RR's mean is the MRR, R is recall over chunks."""


def ranked_measures(rows: Sequence[Row]) -> np.ndarray:
    """float64[rows, measures]: each of :data:`MEASURES`, in [0, 1].

    A row without a relevant chunk (all of its evidence was never extracted) has 0.
    """
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    column = {m: at for at, m in enumerate(measures)}
    judged, ranking = [], []
    for number, row in enumerate(rows):
        if not row.relevant:
            continue
        query, held = str(number), set(row.ranks)
        # Only the places of relevant chunks are kept; what stands between them is irrelevant.
        for rank in range(1, max(held, default=0) + 1):
            kind = "yes" if rank in held else "no"
            ranking.append(ir_measures.ScoredDoc(query, f"{kind}{rank}", float(-rank)))
        found = [f"yes{rank}" for rank in row.ranks]
        missed = [f"missed{i}" for i in range(row.relevant - len(found))]
        judged.extend(ir_measures.Qrel(query, name, 1) for name in found + missed)
    out = np.zeros((len(rows), len(measures)))
    for value in ir_measures.iter_calc(measures, judged, ranking) if judged else ():
        out[int(value.query_id), column[value.measure]] = value.value
    return out
