"""Tables of a trace: pure functions from records to pandas, without streamlit.

Column names are words for a person; a table whose rows are chunks is indexed by chunk id.
Text is as the documents hold it: whoever shows it as anything but plain text must escape it.
"""

from __future__ import annotations

from dashboard.tables.chunk import component_table, journey_table
from dashboard.tables.compare import compare_table, mode_table
from dashboard.tables.difference import difference_table, facts_table, settings_table
from dashboard.tables.evaluate import (
    RECALL_HELP,
    Item,
    changed_items,
    changed_lines,
    latency_table,
    lost_items,
    pieces_counted,
    recall_table,
    unmeasured_table,
)
from dashboard.tables.health import facts_line, health_line, health_table, pages_in_doubt
from dashboard.tables.run import ledger_table, selected_table, stage_summary
from dashboard.tables.stages import COLUMN_GROUPS, COLUMN_HELP, stage_table
from dashboard.tables.sweep import changes_table
from dashboard.tables.verdict import fact_rows, recorded_table, tried_table, verdict_table

__all__ = [
    "COLUMN_GROUPS",
    "COLUMN_HELP",
    "RECALL_HELP",
    "Item",
    "changed_items",
    "changed_lines",
    "changes_table",
    "compare_table",
    "component_table",
    "difference_table",
    "fact_rows",
    "facts_line",
    "facts_table",
    "health_line",
    "health_table",
    "journey_table",
    "latency_table",
    "ledger_table",
    "lost_items",
    "mode_table",
    "pages_in_doubt",
    "pieces_counted",
    "recall_table",
    "recorded_table",
    "selected_table",
    "settings_table",
    "stage_summary",
    "stage_table",
    "tried_table",
    "unmeasured_table",
    "verdict_table",
]
