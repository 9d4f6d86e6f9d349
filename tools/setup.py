"""Makes the virtual environment that `make run` and `make test` use.

Needs only Python's standard library. It does nothing when nothing changed, says what it
does when it does something, and names what is missing when it cannot go on.

    python3 tools/setup.py {run,test} [--venv DIR]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"

EXTRAS = {"run": "", "test": "[test]"}
"""What each set-up installs beside the dependencies."""

OLDEST_PYTHON = (3, 11)
NEEDED_DISK_GB = 3
LARGE_DOWNLOAD_MB = 20
CUDA_WHEEL_MB = 400
"""From this size on it is a CUDA build of torch: those of the CPU have about 200."""

NO_VENV = (
    "Python cannot make virtual environments here: the module {module} is missing.\n"
    "On Debian and Ubuntu: apt-get install python3-venv   (as root, or with sudo)"
)
CUDA_BUILD = """\
On this machine pip would take the CUDA build of torch ({sample}; about 3 GB in all),
but no NVIDIA GPU was found. Do one of these:

  * take the CPU build: on pytorch.org, under "Get started", choose Linux, Pip, Python and
    CPU. The command shown there ends in the address of an index. Give that address to pip:

        make {task} PIP_EXTRA_INDEX_URL=ADDRESS

  * take the CUDA build all the same:

        make {task} GPU=1
"""
PIP_FAILED = """\
pip could not install what Chunkscope needs. Its last words are above, all of them in
{log}. If they speak of a connection, check the network or pip's own settings
(`{pip} config list`); then give the same command again: what was done is kept."""


class SetupError(Exception):
    """Why the set-up stopped, and what to do about it."""


def say(text: str) -> None:
    print(f"set-up: {text}", flush=True)


def ask(command: list) -> subprocess.CompletedProcess:
    """Run a command and keep what it says."""
    return subprocess.run(command, check=False, capture_output=True, text=True)


# ---------------------------------------------------------------- what is there


def venv_python(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint(task: str) -> str:
    """Changes when the environment has to be made anew, or added to."""
    digest = hashlib.sha256()
    for path in (ROOT / "pyproject.toml", CONSTRAINTS):
        digest.update(path.read_bytes())
    digest.update(f"{ROOT} {sys.version_info[:2]} {task}".encode())
    return digest.hexdigest()


def is_ready(venv: Path, task: str) -> bool:
    """Whether this set-up was done before. That of the tests serves `run` too."""
    if not venv_python(venv).exists():
        return False
    wanted = {fingerprint(t) for t in ((task, "test") if task == "run" else (task,))}
    return any(
        stamp.read_text() in wanted for stamp in venv.glob("chunkscope-*.stamp") if stamp.is_file()
    )


def has_nvidia_gpu() -> bool:
    """A driver that runs, or the tool that comes with one. A guess, made without torch."""
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def pinned(name: str) -> str:
    """``name==version`` as constraints.txt has it."""
    found = re.search(rf"^{re.escape(name)}==\S+", CONSTRAINTS.read_text(), re.MULTILINE)
    if not found:
        raise SetupError(f"constraints.txt: no line for {name}. Add {name}==VERSION.")
    return found[0]


def cuda_packages(report: dict) -> list:
    """The CUDA packages that the torch of a `pip install --report` would bring, by name."""
    requires = (
        report["install"][0]["metadata"].get("requires_dist", ()) if report["install"] else ()
    )
    names = (re.match(r"[\w.-]+", line)[0].lower() for line in requires)
    return sorted(name for name in names if name.startswith(("nvidia-", "cuda-")))


# ---------------------------------------------------------------- the steps


def check_machine(venv: Path) -> None:
    """Python's age, its venv module and the disk, before anything is written."""
    if sys.version_info < OLDEST_PYTHON:
        raise SetupError(
            f"Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed; {sys.executable} is "
            f"{platform.python_version()}.\nName another one: make run PYTHON=python3.11"
        )
    for module in ("venv", "ensurepip"):
        try:
            __import__(module)
        except ImportError:
            raise SetupError(NO_VENV.format(module=module)) from None
    free = shutil.disk_usage(venv.parent).free / 1e9
    if free < NEEDED_DISK_GB and not venv.exists():
        raise SetupError(
            f"{venv.parent}: {free:.1f} GB are free, about {NEEDED_DISK_GB} GB are needed. Free "
            "some space, or put the environment elsewhere: make run VENV=/a/larger/disk/venv"
        )


def make_venv(venv: Path) -> None:
    """A new environment with the pinned pip, unless there is one that works."""
    python = venv_python(venv)
    version = "{}.{}".format(*sys.version_info)
    code = "import sys, pip; print('{}.{}'.format(*sys.version_info))"
    if python.exists() and ask([python, "-c", code]).stdout.strip() == version:
        return
    if venv.exists():
        if not (venv / "pyvenv.cfg").exists():
            raise SetupError(f"{venv}: is there, and is no virtual environment. Move it away.")
        say(f"{venv.name} was made by another Python; making it anew")
        shutil.rmtree(venv)
    say(f"making a virtual environment in {venv}, with Python {platform.python_version()}")
    made = ask([sys.executable, "-m", "venv", venv])
    if made.returncode:
        raise SetupError(f"{made.stdout}{made.stderr}\n{NO_VENV.format(module='ensurepip')}")


def megabytes(line: str) -> tuple:
    """The package and size that a line of pip's output says it downloads; ("", 0) if none."""
    found = re.match(r"\s*Downloading (\S+?)-\d\S* \(([\d.]+) ([kMG]?)B\)", line)
    if not found:
        return "", 0.0
    unit = {"": 1e-6, "k": 1e-3, "M": 1, "G": 1e3}[found[3]]
    return found[1].rsplit("/", 1)[-1], float(found[2]) * unit


def pip(venv: Path, *words: str, stop_at_mb: float = float("inf")) -> bool:
    """Run pip; large downloads are named as they start, and its last words if it fails.

    Returns False if it was stopped because it began a download of ``stop_at_mb`` or more.
    """
    log = venv / "set-up.log"
    command = [venv_python(venv), "-m", "pip", "--disable-pip-version-check", "--log", log, *words]
    lines = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        for line in running.stdout or ():
            lines.append(line)
            name, size = megabytes(line)
            if size >= stop_at_mb:
                running.terminate()
                return False
            if size >= LARGE_DOWNLOAD_MB:
                say(f"  downloading {name} ({size:.0f} MB)")
    if running.returncode:
        told = [x for x in lines if not x.startswith("WARNING: Location")]
        print("".join(told[-15:]), file=sys.stderr)
        raise SetupError(PIP_FAILED.format(log=log, pip=venv_python(venv).with_name("pip")))
    return True


def look_before_torch(venv: Path, task: str) -> None:
    """Stop before gigabytes of CUDA go to a machine that has no use for them.

    pip is asked what it would install. Where the index has the metadata apart, that costs a
    few kilobytes; where it has not, pip starts on the wheel, and its size tells.
    """
    if sys.platform != "linux" or os.environ.get("GPU", "") not in ("", "0"):
        return
    if has_nvidia_gpu():
        say("an NVIDIA GPU is here: torch comes as pip finds it, with CUDA if it can")
        return
    report = venv / "torch.json"
    wanted = ["--dry-run", "--no-deps", "--report", str(report), pinned("torch")]
    if pip(venv, "install", *wanted, stop_at_mb=CUDA_WHEEL_MB):
        cuda = cuda_packages(json.loads(report.read_text()))
    else:
        cuda = [f"{pinned('torch')} alone is over {CUDA_WHEEL_MB} MB"]
    if cuda:
        raise SetupError(CUDA_BUILD.format(sample=", ".join(cuda[:2]), task=task))


def install(venv: Path, task: str) -> None:
    """All packages, in one go. Modules are compiled when first imported, not now: most of
    them never are, and compiling all of them takes as long as the rest of the set-up."""
    say("installing what pyproject.toml names, in the releases of constraints.txt")
    wanted = ["-c", str(CONSTRAINTS), "-e", f"{ROOT}{EXTRAS[task]}"]
    pip(venv, "install", "--no-compile", *wanted)


def set_up(task: str, venv: Path) -> None:
    """Bring ``venv`` to what ``task`` needs.

    Raises:
        SetupError: something is missing; says what, and the remedy.
    """
    if is_ready(venv, task):
        return
    began = time.monotonic()
    check_machine(venv)
    make_venv(venv)
    pip(venv, "install", pinned("pip"))
    look_before_torch(venv, task)
    install(venv, task)
    (venv / f"chunkscope-{task}.stamp").write_text(fingerprint(task))
    say(f"done in {time.monotonic() - began:.0f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the virtual environment.")
    parser.add_argument("task", choices=EXTRAS)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    given = parser.parse_args()
    try:
        set_up(given.task, Path(os.path.abspath(given.venv)))
    except SetupError as error:
        print(f"\nset-up stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nset-up stopped by you; the next one goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
