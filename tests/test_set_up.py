"""The set-up looks before it installs, is silent when done, and names what is missing."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/setup.py, which is a script and not part of a package."""
    spec = importlib.util.spec_from_file_location("chunkscope_setup", ROOT / "tools" / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.delenv("GPU", raising=False)
    return module


def report(*requires: str) -> dict:
    return {"install": [{"metadata": {"name": "torch", "requires_dist": list(requires)}}]}


def test_a_cuda_build_is_told_by_what_it_requires(setup: ModuleType) -> None:
    cuda = report(
        "filelock", 'nvidia-nccl-cu13==2.29.7; platform_system == "Linux"', "cuda-x[y]==1"
    )
    assert setup.cuda_packages(cuda) == ["cuda-x", "nvidia-nccl-cu13"]
    assert setup.cuda_packages(report("filelock", "sympy>=1.13.3")) == []
    assert setup.cuda_packages({"install": []}) == [], "torch is installed already"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  Downloading torch-2.13.0-cp311-cp311-linux_x86_64.whl (526.6 MB)", ("torch", 526.6)),
        ("  Downloading torch-2.13.0-cp311-none-any.whl.metadata (31 kB)", ("torch", 0.031)),
        ("Downloading https://host/a/pyarrow-26.0.1-cp311.whl (1.2 GB)", ("pyarrow", 1200)),
        ("Collecting torch==2.13.0", ("", 0)),
    ],
)
def test_download_sizes_are_read_from_pip(setup: ModuleType, line: str, expected: tuple) -> None:
    name, size = setup.megabytes(line)
    assert (name, pytest.approx(size)) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has CUDA as pip's default")
def test_a_cuda_build_stops_the_set_up(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "has_nvidia_gpu", lambda: False)
    monkeypatch.setattr(setup, "pip", lambda *words, **limits: False)
    with pytest.raises(setup.SetupError, match="make test PIP_EXTRA_INDEX_URL=ADDRESS"):
        setup.look_before_torch(tmp_path, "test")
    monkeypatch.setenv("GPU", "1")
    setup.look_before_torch(tmp_path, "test")


def test_an_old_python_is_named_with_a_remedy(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "OLDEST_PYTHON", (99, 0))
    with pytest.raises(setup.SetupError, match=r"99\.0 or newer is needed.*\n.*PYTHON="):
        setup.check_machine(tmp_path / "venv")


def test_a_missing_venv_module_names_the_package(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(setup.SetupError, match="apt-get install python3-venv"):
        setup.check_machine(tmp_path / "venv")


def test_a_full_disk_is_named(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "NEEDED_DISK_GB", 1e9)
    with pytest.raises(setup.SetupError, match="GB are free"):
        setup.check_machine(tmp_path / "venv")


def test_a_folder_that_is_no_environment_is_left_alone(setup: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(setup.SetupError, match="no virtual environment"):
        setup.make_venv(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_what_is_done_is_not_done_again(setup: ModuleType, tmp_path: Path) -> None:
    python = setup.venv_python(tmp_path)
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    assert not setup.is_ready(tmp_path, "run")
    (tmp_path / "chunkscope-test.stamp").write_text(setup.fingerprint("test"))
    assert setup.is_ready(tmp_path, "test")
    assert setup.is_ready(tmp_path, "run"), "the tests' environment holds all that `run` needs"
    (tmp_path / "chunkscope-test.stamp").write_text("of an older pyproject.toml")
    assert not setup.is_ready(tmp_path, "test")


def test_every_direct_dependency_is_pinned(setup: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"], "torch", "pip"]
    for requirement in wanted:
        name = requirement.split(">")[0].split("=")[0]
        assert setup.pinned(name), requirement
