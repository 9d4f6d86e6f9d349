"""What happens before anyone asks: documents are read, models load, the first index is built.

It begins when the process does (``python -m dashboard``), or with the first page where the
app was started otherwise, and runs once for the process.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import ChunkscopeError
from core.settings import Settings
from dashboard import cache, tour
from dashboard.jobs import BULK, Job
from dashboard.models import EMBEDDED
from dashboard.originals import originals
from dashboard.shelf import Shelf

SAMPLES = Path(__file__).parent.parent / "sample_docs"
QUESTIONS = "questions.jsonl"


@dataclass
class Start:
    """What the process was started with. ``shelf`` is None until the documents are read."""

    paths: tuple[str, ...]
    stops: tuple[tour.Stop, ...] = ()
    problems: tuple[str, ...] = ()
    shelf: Shelf | None = None
    job: Job | None = None


_lock = threading.Lock()
_start: Start | None = None


def begin(paths: Sequence[str] = ()) -> Start:
    """Starts the work, once; later calls return what is under way or done."""
    global _start
    with _lock:
        if _start is None:
            start = Start(paths=tuple(str(p) for p in paths))
            if not paths:
                start.stops, start.problems = _tour()
            job = Job("start", lambda job: _work(start, job), BULK, "Starting", public=True)
            start.job = job.start()
            _start = start
        return _start


def _tour() -> tuple[tuple[tour.Stop, ...], tuple[str, ...]]:
    try:
        return tour.read(SAMPLES / QUESTIONS), ()
    except ChunkscopeError as error:
        return (), (str(error),)


def _work(start: Start, job: Job) -> None:
    from core.ingest import sources_from_paths

    sources = sources_from_paths(start.paths or (SAMPLES,))
    outcomes = cache.read(sources, job)
    start.shelf = Shelf().adding(
        [o.document for o in outcomes if o.document is not None],
        [*start.problems, *(str(o.error) for o in outcomes if o.error is not None)],
        originals(sources, outcomes),
    )
    cache.index(start.shelf, Settings(), EMBEDDED, job)
