"""The app started as a person starts it, and a browser that writes down what it asks for."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHUNKSCOPE_CHROMIUM") or shutil.which("chromium") or ""
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
START_SECONDS = 120


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where ``python -m dashboard`` serves, on a port of its own."""
    if not CHROMIUM:
        pytest.skip("no chromium on this machine (CHUNKSCOPE_CHROMIUM can name one)")
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("app") / "log.txt"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "dashboard", "--port", str(port)],
            cwd=ROOT,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _until_healthy(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
    assert own_faults(log.read_text()) == []


def own_faults(log: str) -> list[str]:
    """The tracebacks of a log that pass through this project's code. A browser that closes its
    connection in mid-message makes the web server write some of its own."""
    found = re.split(r"(?=^Traceback )", log, flags=re.MULTILINE)
    frames = re.compile(rf'  File "{re.escape(str(ROOT))}/(?!\S*site-packages)')
    return [t for t in found if t.startswith("Traceback") and frames.search(t)]


def _until_healthy(url: str, process: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"the app stopped:\n{log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"the app never answered:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def browser(address: str):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, address: str) -> Iterator[Callable]:
    """Opens a path in a session of its own. At the end, nothing may have been asked of any
    other machine, and no page may show a traceback."""
    opened, asked = [], []

    def open_path(path: str = "", **context):
        page = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | context))
        page = page.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda web: asked.append(web.url))
        page.goto(f"{address}/{path}")
        opened.append(page)
        return page

    yield open_path
    for page in opened:
        shown = page.locator("body").inner_text()
        page.context.close()
        assert "Traceback" not in shown
        assert "fault of its own" not in shown
    port = address.rpartition(":")[2]
    here = (f"http://127.0.0.1:{port}/", f"ws://127.0.0.1:{port}/", "data:", "blob:")
    assert [url for url in asked if not url.startswith(here)] == []
