"""The session and its link, in one place.

``st.session_state`` holds one :class:`~dashboard.link.View`, which is the truth; widgets are
drawn from it and write to it through their callbacks. So nothing is lost when a widget is
not drawn, and a link, the tour or a reset only has to set the view.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import replace
from operator import eq
from typing import Any

import streamlit as st

from core.trace import Trace
from dashboard import link, shelves
from dashboard.jobs import Board
from dashboard.link import View
from dashboard.shelf import Shelf

VIEW, WRITTEN, NOTES, BOARD, SHELF, SAVED = "view", "written", "notes", "board", "shelf", "saved"
TOUCHED, PAGES = "touched", "pages"
GIVEN, AGAIN, ENDED = "given", "given_again", "ended"

QUICK = 0.5
"""Seconds between two runs in which the browser may not have seen what the first one sent."""

LINK_LAG = 3.0
"""Seconds in which the browser may still report parameters older than those written last."""


def session() -> MutableMapping[str, Any]:
    """Where all of this is kept."""
    return st.session_state


def view() -> View:
    """What the page shows now."""
    return session().setdefault(VIEW, View())


def change(**fields: Any) -> None:
    """Changes the view. A new question takes its marks and selection with it; a passage that
    was pasted stays, since it may be missed under another wording too."""
    before = view()
    if "question" in fields and fields["question"] != before.question:
        fields = {"evidence": (), "chunk": "", "why": ""} | fields
    session()[VIEW] = before.changed(**fields)
    session()[TOUCHED] = True


def show(new: View) -> None:
    """Replaces the whole view, as the tour does; the models stay."""
    session()[VIEW] = new.changed(models=view().models)
    session()[TOUCHED] = True


def turn(**values: Any) -> None:
    """Turns some knobs. Raises SettingsError where one does not take its value."""
    settings = view().settings
    change(settings=settings.changed(**values))


def board() -> Board:
    """This session's jobs."""
    if BOARD not in session():
        session()[BOARD] = Board()
    return session()[BOARD]


@contextmanager
def run() -> Iterator[None]:
    """Around one run of the script, for :func:`project`."""
    quick = time.monotonic() - session().get(ENDED, -QUICK) < QUICK
    session()[AGAIN] = session().get(GIVEN, set()) if quick else set()
    session()[GIVEN] = set()
    try:
        yield
    finally:
        session()[ENDED] = time.monotonic()


def project(key: str, value: Any, same: Callable[[Any, Any], bool] = eq) -> None:
    """Sets the widget ``key`` from the view, where it holds something else.

    Not in every run: the browser takes over what is set, which would fight a slider that is
    being dragged. But a run that begins as soon as the last one ended may replace what that
    one sent before the browser has seen it, so it sets the same again. A widget must be given
    the same value as its default too: a browser that never saw what was set starts from that,
    and would else report the lowest value of every slider as if a person had chosen it.
    """
    held = session().get(key)
    if key in session().get(AGAIN, ()) or held is None or not same(held, value):
        session()[key] = value
        session().setdefault(GIVEN, set()).add(key)


def restore_link(default: View) -> None:
    """Reads the link into the view, once a session and whenever the browser goes back.

    An empty link shows ``default`` at the first visit and changes nothing later: turning to
    another page clears the parameters, and the view must survive it. An event that was on
    its way while the last run wrote the link still carries the parameters from before it;
    those are old news, not a wish to go back.
    """
    params = {name: st.query_params.get_all(name) for name in st.query_params}
    touched = session().pop(TOUCHED, False)
    if VIEW not in session():
        session()[VIEW] = default
        if params:
            _restore(params)
    elif params and not touched and not _written_lately(params):
        _restore(params)


def _restore(params: dict[str, list[str]]) -> None:
    models = view().models
    found, session()[NOTES] = link.from_params(params)
    session()[VIEW] = found.changed(models=models)
    wanted = (params.get(link.DOCUMENTS) or [""])[-1]
    if not wanted or (shelf() is not None and shelf().fingerprint == wanted):
        return
    kept = shelves.kept(wanted)
    if kept is not None:
        session()[SHELF] = kept
    else:
        session()[NOTES] = [*session()[NOTES], shelves.GONE]


def _written_lately(params: dict[str, list[str]]) -> bool:
    written = session().get(WRITTEN, [])
    since = time.monotonic() - LINK_LAG
    return any(p == params and (at >= since or p == written[-1][1]) for at, p in written)


def write_link() -> None:
    """Brings the address line up to the view."""
    params = {
        name: value if isinstance(value, list) else [value]
        for name, value in link.to_params(view()).items()
    }
    if shelf() is not None:  # other documents than those that the process was started with
        params[link.DOCUMENTS] = [shelf().fingerprint]
    if params != {name: st.query_params.get_all(name) for name in st.query_params}:
        st.query_params.from_dict(params)
    written = session().setdefault(WRITTEN, [])
    written.append((time.monotonic(), params))
    del written[:-20]


def keep_pages(pages: Mapping[str, st.Page]) -> None:
    """The pages by title, for links between them."""
    session()[PAGES] = dict(pages)


def page_link(title: str, label: str) -> None:
    """A link to another page, which shows the same view."""
    page = session().get(PAGES, {}).get(title)
    if page is not None:
        st.page_link(page, label=label)


def go_to(title: str) -> None:
    """Turns to another page, which shows the same view. Ends this run of the script."""
    page = session().get(PAGES, {}).get(title)
    if page is not None:
        st.switch_page(page)


def notes() -> list[str]:
    """What could not be used of the link, until it is dismissed."""
    return session().get(NOTES, [])


def dismiss_notes() -> None:
    session()[NOTES] = []


def shelf() -> Shelf | None:
    """This session's documents; None until it has any of its own."""
    return session().get(SHELF)


def put_shelf(new: Shelf) -> None:
    """Replaces this session's documents, and forgets what was computed from the old ones."""
    session()[SHELF] = new
    shelves.keep(new)
    session()[TOUCHED] = True
    board().drop_results()


def put_problems(documents: Shelf, problems: tuple[str, ...]) -> None:
    """Replaces what is said of files that could not be read; documents and results stay."""
    session()[SHELF] = replace(documents, problems=problems)


def saved_trace() -> tuple[str, Trace] | None:
    """A trace opened from a file, with the file's name, while it is being looked at."""
    return session().get(SAVED)


def open_trace(name: str, trace: Trace) -> None:
    session()[SAVED] = (name, trace)


def close_trace() -> None:
    session().pop(SAVED, None)
