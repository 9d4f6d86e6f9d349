"""The child process that parses files: ``python -m core.ingest.worker``.

It reads requests on standard input and answers each on standard output. Before each file
the operating system is told how much CPU it may use, and once how much memory, so that a
file made to exhaust either ends this process and nothing else.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, BinaryIO

from core.errors import DocumentError
from core.ingest.codec import document_to_json
from core.ingest.extract import extract
from core.ingest.frames import read_frame, write_frame
from core.ingest.limits import Limits
from core.ingest.picture import draw


def main() -> None:
    """Answer until the pipe closes."""
    requests, answers = sys.stdin.buffer, _take_stdout()
    limited = False
    # A page makes thousands of small objects and no cycles: looking for some is half a second
    # lost on a long book.
    gc.disable()
    loaded = 0
    while (frame := read_frame(requests)) is not None:
        request, data = frame
        limits = Limits(**request["limits"])
        if not limited:
            _limit_memory(limits.memory_mb)
            limited = True
        _limit_cpu(limits.allowed_seconds)
        write_frame(answers, *answer(request, data, limits))
        gc.collect()
        if loaded != len(sys.modules):
            # What was imported stays. To look through it after each of many small files would
            # take longer than to read them.
            gc.freeze()
            loaded = len(sys.modules)


def answer(
    request: dict[str, Any], data: bytes, limits: Limits
) -> tuple[dict[str, Any]] | tuple[dict[str, Any], bytes]:
    """``{"document": …}``, or a picture's header and its bytes where ``draw`` asks for one;
    or ``{"error": {"problem": …, "remedy": …}}``, with ``"spent"`` where this process should read
    no further file: memory that ran out is not all given back, and the next file would pay."""
    name = request["name"]
    try:
        if "draw" in request:
            return draw(name, data, request.get("password"), **request["draw"])
        document = extract(name, data, request["metadata"], request.get("password"), limits)
        return ({"document": document_to_json(document)},)
    except DocumentError as error:
        return _error(error.problem, error.remedy)
    except MemoryError:
        error = limits.out_of_memory(name)
        return (_error(error.problem, error.remedy)[0] | {"spent": True},)
    except RecursionError:
        return _error("it is nested too deeply to be read", "Save it again from its source.")
    except Exception as error:  # noqa: BLE001 (whatever this file provoked, the others load)
        reason = f"{type(error).__name__}: {error}"[:200]
        return _error(f"reading it failed ({reason})", "Save it again from its source.")


def _error(problem: str, remedy: str) -> tuple[dict[str, Any]]:
    return ({"error": {"problem": problem, "remedy": remedy}},)


def _take_stdout() -> BinaryIO:
    """Standard output for the answers alone: what a C library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's clock still holds
        return
    _lower(resource, resource.RLIMIT_AS, megabytes * 2**20)
    _lower(resource, resource.RLIMIT_CORE, 0)


def _limit_cpu(seconds: float) -> None:
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    # The limit counts from the start of the process, in whole seconds.
    _lower(resource, resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + 1)


def _lower(resource: Any, which: int, soft: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    try:
        resource.setrlimit(which, (soft, hard))
    except (ValueError, OSError):  # macOS refuses some of them
        pass


if __name__ == "__main__":
    main()
