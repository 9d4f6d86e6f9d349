"""The difference of two traces: chunks joined, ranks, reasons, settings and prompts."""

from core.compare_traces.difference import (
    ChunkDifference,
    Difference,
    SettingDifference,
    Side,
    difference,
)
from core.compare_traces.join import Pair, join
from core.compare_traces.markdown import markdown
from core.compare_traces.prompts import Line, line_diff
from core.compare_traces.standing import NO_SUCH, Standing

__all__ = [
    "NO_SUCH",
    "ChunkDifference",
    "Difference",
    "Line",
    "Pair",
    "SettingDifference",
    "Side",
    "Standing",
    "difference",
    "join",
    "line_diff",
    "markdown",
]
