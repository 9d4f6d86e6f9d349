"""The parent's handle on the process that parses files."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from core.errors import Cancelled, DocumentError
from core.ingest.codec import document_from_json
from core.ingest.frames import read_frame, write_frame
from core.ingest.limits import Limits
from core.ingest.source import Source
from core.records import Document

# How often the parent looks whether the person cancelled, in seconds.
_POLL = 0.05
# The first file also pays for the start of the process and of the PDF library.
_START_ALLOWANCE = 10.0
# What a child needs from its environment. Everything else (keys, tokens) stays here.
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "HOME", "TESSDATA_PREFIX")


class Child:
    """One parser process, started when first needed and again after it died.

    Not to be shared between threads: each ``ingest`` has its own.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def read(self, source: Source, cancelled: Callable[[], bool] | None) -> Document:
        """Parse one source. Raises DocumentError, or Cancelled once ``cancelled()`` is true."""
        answer, _ = self._ask(source, _header(source, self._limits), cancelled)
        return document_from_json(answer["document"])

    def draw(
        self, source: Source, page: int, pixels: int, cancelled: Callable[[], bool] | None
    ) -> tuple[dict[str, Any], bytes]:
        """One page as a picture: its size and matrix, and a PNG. Raises as :meth:`read` does."""
        header = _header(source, self._limits) | {"draw": {"page": page, "pixels": pixels}}
        return self._ask(source, header, cancelled)

    def _ask(
        self, source: Source, header: dict[str, Any], cancelled: Callable[[], bool] | None
    ) -> tuple[dict[str, Any], bytes]:
        allowed = self._limits.allowed_seconds
        if self._process is None:
            self._process = _start()
            allowed += _START_ALLOWANCE
        exchange = _Exchange(self._process, header, source.data)
        deadline = time.monotonic() + allowed
        while not exchange.wait(_POLL):
            if cancelled is not None and cancelled():
                self.stop()
                raise Cancelled
            if time.monotonic() > deadline:
                self.stop()
                raise self._limits.out_of_time(source.name)
        if exchange.answer is None:
            raise self._post_mortem(source.name)
        if exchange.answer[0].get("spent"):
            self.stop()
        if "error" in exchange.answer[0]:
            error = exchange.answer[0]["error"]
            raise DocumentError(source.name, error["problem"], error["remedy"])
        return exchange.answer

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()
            except OSError:  # what was still buffered for it
                pass

    def _post_mortem(self, name: str) -> DocumentError:
        """Why a process that gave no answer died."""
        code = self._process.wait()
        self.stop()
        signal = _signal_name(-code) if code < 0 else ""
        if signal == "SIGXCPU":
            return self._limits.out_of_time(name)
        # SIGKILL that is not ours is the kernel's, for want of memory.
        if signal == "SIGKILL":
            return self._limits.out_of_memory(name)
        problem = f"it crashed the process that reads files ({signal or f'exit code {code}'})"
        return DocumentError(name, problem, "The file is damaged: save it again from its source.")


class _Exchange:
    """One request and its answer, in a thread, so that the parent can watch the clock."""

    def __init__(self, process: subprocess.Popen[bytes], header: dict[str, Any], body: bytes):
        self.answer: tuple[dict[str, Any], bytes] | None = None
        self._done = threading.Event()
        thread = threading.Thread(target=self._run, args=(process, header, body), daemon=True)
        thread.start()

    def _run(self, process: subprocess.Popen[bytes], header: dict[str, Any], body: bytes) -> None:
        try:
            write_frame(process.stdin, header, body)
            self.answer = read_frame(process.stdout)
        except (OSError, ValueError):  # it died, or was stopped, in mid-message
            pass
        finally:
            self._done.set()

    def wait(self, seconds: float) -> bool:
        return self._done.wait(seconds)


def _start() -> subprocess.Popen[bytes]:
    import core

    environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
    # The recogniser's threads would be counted against the limit on CPU time.
    environment["OMP_THREAD_LIMIT"] = "1"
    environment["PYTHONPATH"] = str(Path(core.__file__).resolve().parents[1])
    return subprocess.Popen(
        # -P: a module beside the working directory must not shadow the library.
        [sys.executable, "-P", "-m", "core.ingest.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _header(source: Source, limits: Limits) -> dict[str, Any]:
    header = {
        "name": source.name,
        "metadata": plain_metadata(source.metadata),
        "limits": dataclasses.asdict(limits),
    }
    return header if source.password is None else header | {"password": source.password}


def plain_metadata(metadata: Any) -> Any:
    """Metadata as JSON values: sets become lists and dates their ISO form."""

    def plain(value: Any) -> Any:
        return sorted(value) if isinstance(value, set | frozenset) else str(value)

    return json.loads(json.dumps(dict(metadata), default=plain))


def _signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
