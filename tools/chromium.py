"""Finds chromium for the browser tests; on Debian, as root, installs it if it is absent.

Never an error: without chromium those tests are skipped, and this says so beforehand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("chromium", "fonts-dejavu-core")
INSTALL = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES)


def may_install() -> bool:
    """Debian or a child of it, and root: nobody is asked for a password."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return is_root and Path("/etc/debian_version").exists() and bool(shutil.which("apt-get"))


def install() -> str:
    """Install quietly. Returns what went wrong, or nothing."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (("apt-get", "update", "-qq"), INSTALL):
        done = subprocess.run(
            command,
            check=False,
            env=quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["?"])[-1]


def main() -> int:
    if shutil.which("chromium"):
        return 0
    problem = "it is not installed"
    if may_install():
        print("set-up: installing chromium for the browser tests", flush=True)
        problem = install()
    if problem:
        print(
            f"set-up: no chromium ({problem}); the browser tests will be skipped. To run them, "
            f"on Debian: apt-get install {' '.join(PACKAGES)}   (as root, or with sudo)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
