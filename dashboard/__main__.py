"""``python -m dashboard [--docs PATH…] [--port N]``: starts the dashboard on this machine.

It goes through Streamlit's own command line, so that the ``.streamlit/config.toml`` beside
``app.py`` is read wherever the package is installed and whatever the working folder.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

DEFAULT_PORT = 8501


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
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, metavar="N")
    options = parser.parse_args(argv)
    for path in options.docs:
        if not os.path.exists(os.path.expanduser(path)):
            parser.error(f"{path}: there is no such file or folder")
    _serve(options.docs, options.port)
    return 0


def _serve(docs: Sequence[str], port: int) -> None:
    from streamlit.web import cli

    from dashboard import startup

    # Models load and documents are read while the browser is still opening the page.
    startup.begin(docs)
    app = Path(__file__).with_name("app.py")
    cli.main(["run", str(app), "--server.port", str(port)], standalone_mode=False)


if __name__ == "__main__":
    sys.exit(main())
