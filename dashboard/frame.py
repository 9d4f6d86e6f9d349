"""What is around every page: link, style, navigation, sidebar and header, in that order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from core.errors import Cancelled, ChunkscopeError
from core.settings import Settings, parse_settings
from dashboard import header, jobs, say, sidebar, state, work
from dashboard.link import known_mode
from dashboard.views import compare, documents, evaluate, missing, prompt, trace, tune

logger = logging.getLogger(__name__)

STYLE = Path(__file__).with_name("style.css")

PAGES: tuple[tuple[str, Callable[[], None]], ...] = (
    ("Trace", trace.draw),
    ("Compare", compare.draw),
    ("Missing", missing.draw),
    ("Tune", tune.draw),
    ("Evaluate", evaluate.draw),
    ("Documents", documents.draw),
    ("Prompt", prompt.draw),
)


def run() -> None:
    """Draws the whole page for one run of the script."""
    pages = [
        st.Page(_guarded(draw, "page"), title=title, url_path=title.lower(), default=not number)
        for number, (title, draw) in enumerate(PAGES)
    ]
    page = st.navigation(pages, position="top")
    with state.run():
        _run(pages, page)


def _run(pages: Sequence[st.Page], page: st.Page) -> None:
    state.keep_pages({p.title: p for p in pages})
    st.html(STYLE)
    state.restore_link(work.first_view())
    work.collect()
    view, saved = state.view(), state.saved_trace()
    if saved is None:
        sidebar.draw(view.settings, view.mode)
    elif saved[1].origin:
        sidebar.draw_imported(saved[1])
    else:
        settings, mode = _settings_of(saved[1].settings), known_mode(saved[1].mode)
        sidebar.draw(settings, mode, frozen=True)
    _guarded(lambda: header.draw(view), "header")()
    page.run()
    state.write_link()


def _settings_of(values: dict) -> Settings:
    """A saved trace's knobs; the defaults where another version named them differently."""
    try:
        return parse_settings(values)
    except ChunkscopeError:
        return Settings()


def _guarded(draw: Callable[[], None], key: str) -> Callable[[], None]:
    """``draw``, with errors shown as sentences. Reruns and stops of Streamlit pass through:
    they are no ``Exception``."""

    def page() -> None:
        try:
            draw()
        except Cancelled:
            say.note("info", "This was stopped.", key=key)
        except ChunkscopeError as error:
            say.failure(error, key=key)
        except Exception as error:
            logger.exception("a page failed")
            say.failure(jobs.unexpected(error), key=key)

    return page
