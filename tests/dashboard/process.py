"""The process as ``python -m dashboard`` starts it, for tests of its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dashboard import startup


@contextmanager
def process(paths: Sequence[str] = ()) -> Iterator[startup.Start]:
    """The start on these paths, or on the sample documents, once it is done; what was started
    before comes back afterwards."""
    before, startup._start = startup._start, None
    try:
        start = startup.begin(paths)
        assert start.job is not None and start.job.wait(180) and start.job.error is None
        yield start
    finally:
        startup._start = before
