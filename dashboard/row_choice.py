"""Tables in which a row is chosen: by id, though Streamlit only knows positions.

After a rerank the same position holds another chunk, so the position is set from the id before
every drawing. What comes back may be old news: while a slider moves, the browser still sends
the position that an earlier run had set, and it must not be taken for a click on whatever
stands there now.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

IDS, SET = "{}_ids", "{}_rows_set"

ECHO = 4.0
"""Seconds in which the browser may send back a position that was set before the last one."""

MODES = ("single-row", "single-cell")
"""What a click may choose: a row by its mark, or by any of its cells."""


def choose(key: str, ids: Sequence[str], chosen: str) -> dict[str, Any]:
    """Puts the mark of table ``key``, whose rows are ``ids``, on ``chosen`` ("" or a stranger:
    on none), and returns the arguments with which to draw it, ``on_select`` aside."""
    rows = [ids.index(chosen)] if chosen in ids else []
    st.session_state[key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    st.session_state[IDS.format(key)] = list(ids)
    placed = st.session_state.setdefault(SET.format(key), [])
    placed.append((time.monotonic(), rows, tuple(ids)))
    del placed[:-50]
    return {"key": key, "selection_mode": list(MODES), "hide_index": True, "placeholder": ""}


def clicked(key: str, chosen: str) -> str:
    """The id of the row of table ``key`` that was clicked, where it is not ``chosen``; else ""."""
    picked = st.session_state[key].selection
    ids = st.session_state[IDS.format(key)]
    cells = [row for row, _ in picked.cells]
    if not cells and _echo(list(picked.rows), ids, st.session_state.get(SET.format(key), [])):
        return ""
    for row in [*cells, *picked.rows]:
        if row < len(ids) and ids[row] != chosen:
            return ids[row]
    return ""


def _echo(
    rows: list[int], ids: list[str], placed: Sequence[tuple[float, list[int], tuple[str, ...]]]
) -> bool:
    """Whether the program itself put the mark there, when the table held other rows."""
    since = time.monotonic() - ECHO
    return any(at >= since and held == rows and tuple(ids) != of for at, held, of in placed)
