"""What all tests share: no network, no caches but their own, one set of random examples."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# Before anything is imported that reads them, and inherited by the processes tests start.
os.environ["HF_HUB_OFFLINE"] = "1"
CACHE = os.environ["CHUNKSCOPE_CACHE"] = tempfile.mkdtemp(prefix="chunkscope-tests-")
# Where transformers copies the code of models that bring their own.
os.environ["HF_MODULES_CACHE"] = os.path.join(CACHE, "modules")

_COMMON: dict[str, Any] = {
    # A first call may load a model; no deadline tells that from a slow law.
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("ci", max_examples=50, derandomize=True, **_COMMON)
settings.register_profile("slow", max_examples=1_000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


class NetworkBlocked(AssertionError):
    """A test tried to leave the machine. Not an OSError, which a library would swallow."""

    def __init__(self, host: object) -> None:
        super().__init__(
            f"a test asked for {host!r}. Tests reach this machine alone: give it a file of its own, "
            "or a server on 127.0.0.1."
        )


def _is_local(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        text = host.decode() if isinstance(host, bytes) else str(host)
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets connect, and names resolve, on this machine only."""

    def guard(name: str) -> None:
        real = getattr(socket.socket, name)

        def guarded(self: socket.socket, *words: Any) -> Any:
            # connect(address), connect_ex(address), sendto(data[, flags], address)
            address = words[-1]
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
                raise NetworkBlocked(address[0])
            return real(self, *words)

        monkeypatch.setattr(socket.socket, name, guarded)

    for name in ("connect", "connect_ex", "sendto"):
        guard(name)
    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, *words: Any, **named: Any) -> Any:
        if not _is_local(host):
            raise NetworkBlocked(host)
        return resolve(host, *words, **named)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Iterator[Path]:
    """Real documents and questions for measuring, which are not part of the project."""
    folder = Path(os.environ.get("CHUNKSCOPE_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "chunking_evaluation").is_dir():
        pytest.skip(f"no measuring data in {folder}; CHUNKSCOPE_DATA can name another folder")
    yield folder
