"""``python -m dashboard [--docs PATH…] [--port N]``: starts the dashboard on this machine.

It goes through Streamlit's own command line, so that the ``.streamlit/config.toml`` beside
``app.py`` is read wherever the package is installed and whatever the working folder.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

DEFAULT_PORT = 8501
PORTS_TRIED = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Serves until it is interrupted; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m dashboard", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--docs",
        nargs="+",
        action="extend",
        default=[],
        metavar="PATH",
        help="files or folders to open; the sample documents if none is named",
    )
    parser.add_argument("--port", type=int, metavar="N", help=f"{DEFAULT_PORT}, or the next that is free")  # fmt: skip
    options = parser.parse_args(argv)
    for path in options.docs:
        if not os.path.exists(os.path.expanduser(path)):
            parser.error(f"{path}: there is no such file or folder")
    port = options.port or _free_port()
    if port is None or not _is_free(port):
        taken = options.port or f"{DEFAULT_PORT} to {DEFAULT_PORT + PORTS_TRIED - 1}"
        parser.error(f"port {taken} is in use, perhaps by another Chunkscope; give another --port")
    _serve(options.docs, port)
    return 0


def _free_port() -> int | None:
    """The usual port, or the first of the next few that nothing listens on."""
    ports = range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
    return next(filter(_is_free, ports), None)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _serve(docs: Sequence[str], port: int) -> None:
    from streamlit.web import cli

    from dashboard import jobs, startup

    # Models load and documents are read while the browser is still opening the page.
    startup.begin(docs)
    app = Path(__file__).with_name("app.py")
    try:
        cli.main(["run", str(app), "--server.port", str(port)], standalone_mode=False)
    finally:
        jobs.end()


if __name__ == "__main__":
    sys.exit(main())
