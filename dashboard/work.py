"""From the view to what the pages show: documents → index → trace, as jobs of this session.

Each step is asked for with everything that decides it as its key, so a result is there for
exactly the inputs on the page, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.errors import ChunkscopeError
from core.modes import MODES
from dashboard import cache, startup, state, tour, waiting
from dashboard.jobs import BULK, DONE, RUN, Job
from dashboard.link import View
from dashboard.originals import Original, originals
from dashboard.shelf import Shelf

if TYPE_CHECKING:
    from core.index.index import Index
    from core.ingest import Ingested, Source
    from core.trace import Trace

PATIENCE = 0.6
"""Seconds that a page waits for a trace before it shows progress in its place."""

SHORT_PATIENCE = 0.15
"""The same, for what the page can do without."""

PEERS = ("no_rerank", "context_rerank", "rerank_extend_rerank")
"""Modes that a trace is measured against: none, one and two rounds of reranking. They share
most of their stages, so that the others cost next to nothing once one of them has run."""


def shelf() -> Shelf | None:
    """This session's documents: its own, or those that the process was started with."""
    own = state.shelf()
    return own if own is not None else startup.begin().shelf


def starting() -> Job | None:
    """The start of the process, while it is under way."""
    job = startup.begin().job
    return None if job is None or job.finished else job


def model_problem() -> str:
    """Why there is no embedding model, once that is known; empty where there is one."""
    job = state.board().current("index")
    if starting() is not None or job is None or job.result is None:
        return ""
    error = cache.models(state.view().models).error
    return f"{error} Until then BM25 ranks alone, and traces say so." if error else ""


def stops() -> tuple[tour.Stop, ...]:
    """The sample questions whose documents are still here; none for other documents."""
    start, own = startup.begin(), state.shelf()
    if own is None:
        return start.stops
    names = {d.name for d in own.documents} & {d.name for d in (start.shelf or own).documents}
    if not names:  # nor can "nothing answers this" be shown of documents that nobody knows
        return ()
    return tuple(s for s in start.stops if not s.question.document or s.question.document in names)


def samples_among(documents: Shelf) -> frozenset[str]:
    """The ids of the sample documents, where they stand among others of the person's own."""
    own = samples()
    if own is None:
        return frozenset()
    found = {d.id for d in own.documents}
    held = {d.id for d in documents.documents}
    return frozenset(found & held) if held - found else frozenset()


def samples() -> Shelf | None:
    """The sample documents; None where the process was started with others, or reads them yet."""
    start = startup.begin()
    return None if start.paths else start.shelf


def first_view() -> View:
    """What a visitor without a link sees."""
    found = stops()
    return found[0].view if found else View()


def index(view: View, *, height: int = 400) -> Index | None:
    """The index of this session's documents, or None after drawing why there is none yet."""
    documents = shelf()
    if documents is None:
        return waiting.result(
            startup.begin().job, state.board(), "start", height=height, names=_owner(view)
        )
    if not documents.documents:
        raise ChunkscopeError("The index", "is empty", "Add a document on the Documents page.")
    job = index_job(documents, view)
    return waiting.result(job, state.board(), "index", height=height, names=_owner(view))


def index_job(documents: Shelf, view: View) -> Job:
    """The building of this session's index, under way or done."""
    return state.board().ask(
        "index",
        index_key(documents, view),
        lambda job: cache.index(documents, view.settings, view.models, job),
        lane=BULK,
        label="Indexing",
        patience=PATIENCE,
    )


def _owner(view: View) -> bool:
    return view.principal is None


def index_key(documents: Shelf, view: View) -> tuple[object, ...]:
    """Everything that decides an index."""
    return (documents.fingerprint, view.models, *view.settings.of_groups("documents").items())


def trace(view: View, *, height: int = 400) -> Trace | None:
    """The trace for exactly this view, or None after drawing why there is none yet."""
    found = index(view, height=height)
    if found is None:
        return None
    return waiting.result(_answering(found, view, PATIENCE), state.board(), "trace", height=height)


def answering(view: View) -> Job | None:
    """The answering of this view's question, under way or done; None before the index stands
    and where nothing is asked."""
    found = built_index(view)
    if found is None or not view.question.strip():
        return None
    return _answering(found, view, SHORT_PATIENCE)


def _answering(found: Index, view: View, patience: float) -> Job:
    return state.board().ask(
        "trace",
        trace_key(view),
        lambda job: cache.trace(found, view, job),
        lane=RUN,
        label="Answering",
        patience=patience,
    )


def page_picture(original: Original, number: int, password: str | None) -> Job:
    """The drawing of a page, under way or done."""
    return state.board().ask(
        "page",
        (original.digest, number, password),
        lambda job: cache.page_picture(original, number, password, job),
        label=f"Drawing page {number}",
        patience=PATIENCE,
    )


def trace_key(view: View) -> tuple[object, ...]:
    """Everything that decides a trace; the selection does not."""
    documents = shelf() or Shelf()
    asked = (view.question, view.mode, view.settings, view.principal)
    return (documents.fingerprint, view.models, *asked)


def compare(view: View, *, height: int = 400) -> Job | None:
    """The job that runs every mode and gives the traces by their mode's name; None after
    drawing why there is no index yet."""
    found = index(view, height=height)
    if found is None:
        return None
    modes = sorted(MODES, key=lambda name: name != view.mode)  # the chosen one first
    return state.board().ask(
        "compare",
        trace_key(view.changed(mode="")),
        lambda job: _run_modes(found, view, modes, job),
        patience=PATIENCE,
    )


def _run_modes(found: Index, view: View, modes: Sequence[str], job: Job) -> dict[str, Trace]:
    """A trace for each mode; other sessions get their turn between two of them."""
    traces: dict[str, Trace] = {}
    for name in modes:
        job.progress(len(traces), len(modes), f"Running {MODES[name].title}")
        with RUN.turn(job):
            traces[name] = cache.trace(found, view.changed(mode=name), job)
        job.part = dict(traces)
    return traces


def peers(view: View) -> Job | None:
    """The other modes of :data:`PEERS` on this view's question, run in the background."""
    found = built_index(view)
    if found is None:
        return None
    modes = [name for name in PEERS if name != view.mode]
    return state.board().ask(
        "peers",
        trace_key(view),
        lambda job: _run_modes(found, view, modes, job),
        patience=SHORT_PATIENCE,
    )


def add(sources: Sequence[Source]) -> None:
    """Starts reading files; :func:`collect` puts them on this session's shelf."""
    state.board().forget("ingest")
    state.board().ask(
        "ingest",
        tuple((s.name, len(s.data)) for s in sources),
        lambda job: read_files(sources, job),
        lane=BULK,
        label="Reading files",
    )


def read_files(
    sources: Sequence[Source], job: Job
) -> tuple[list[Ingested], Mapping[str, Original]]:
    """What became of each file, and the files behind the PDFs, by document id."""
    outcomes = cache.read(sources, job)
    return outcomes, originals(sources, outcomes)


def reading() -> Job | None:
    """The files being read for this session, while they are."""
    job = state.board().current("ingest")
    return None if job is None or job.finished else job


def collect() -> None:
    """Puts files that were read on the shelf. A bad one leaves its sentence there instead."""
    board = state.board()
    job, documents = board.current("ingest"), shelf()
    if job is None or not job.finished or documents is None:
        return
    board.forget("ingest")
    if job.state == DONE:
        outcomes, files = job.result
        state.put_shelf(
            documents.adding(
                [o.document for o in outcomes if o.document is not None],
                [str(o.error) for o in outcomes if o.error is not None],
                files,
            )
        )
    elif job.error is not None:
        state.put_problems(documents, (str(job.error),))


def built_index(view: View) -> Index | None:
    """The index as this view's principal sees it, where it stands already."""
    documents = shelf()
    job = state.board().current("index")
    if documents is None or job is None or job.result is None:
        return None
    if job.key != index_key(documents, view):
        return None
    return job.result.restricted(view.principal)


def evidence(view: View) -> tuple[str, ...]:
    """The chunks that should have been found: those marked by hand, or the tour's own."""
    found = built_index(view)
    if found is None:
        return ()
    if view.evidence:
        return tuple(c for c in view.evidence if c in set(found.chunk_ids))
    stop = tour.stop_for(stops(), view)
    return tour.evidence(stop, found.documents, found.chunks) if stop else ()


def theme() -> str:
    """``light`` or ``dark``, as the browser shows the page."""
    return "dark" if st.context.theme.type == "dark" else "light"
