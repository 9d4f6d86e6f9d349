"""Where a model's files are: a folder, or a hub's name that is looked for on this machine first.

A hub that cannot be reached makes the libraries wait for more than a minute, and some ask it
even for files that they have. So a name is turned to a folder here, and they are given that.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from core.errors import ModelError

PATIENCE = 5.0
"""Seconds until a hub that does not answer counts as out of reach."""

_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)
_REVISION = re.compile(r"[0-9a-f]{40}")
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_OTHER_RUNTIMES = ("onnx", "openvino", "coreml")
_UNUSED = [
    *(f"{folder}/*" for folder in _OTHER_RUNTIMES),
    *("*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.png", "*.jpg", "*.gif", "*.pdf"),
]
"""Files of a hub's repository that the libraries here never read."""

_READ = {".json", ".txt", ".model", ".safetensors", ".bin", ".pt", ".py"}
"""What can change a model's numbers, by suffix."""


def model_folder(name: str | Path, *, download: bool = False) -> Path:
    """The folder that holds a model's files.

    Args:
        name: a folder, or the name that the model has in the hub ("owner/model").
        download: whether the hub may be asked for a model that is not on this machine.

    Raises:
        ModelError: there is no such folder, it lacks a part, the model is not on this
            machine, or the hub did not give it.
    """
    given = str(name)
    path = Path(given).expanduser()
    if not given.strip():
        raise ModelError("the model", "has no name", "Give a folder, or a name in the hub.")
    if path.is_dir():
        return _checked(path, given)
    if path.exists():
        raise ModelError(given, "is a file", "Give the folder that it is in.")
    if not _HUB_NAME.fullmatch(given):
        raise ModelError(given, "there is no such folder", "Give one that holds a model's files.")
    held = _held(given)
    if held is None and not download:
        raise ModelError(
            given,
            "is not on this machine: no folder here and no model in the hub's cache has that name",
            "Give the path of a folder that holds it, or allow the download (--download).",
        )
    return _checked(held or _fetched(given), given)


def architecture(folder: Path) -> str:
    """What ``config.json`` says the weights are, such as "BertForSequenceClassification"."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return str((config.get("architectures") or [""])[0])
    except (OSError, ValueError, AttributeError, LookupError) as error:
        problem = f"its config.json cannot be read ({error})"
        raise ModelError(folder.name, problem, "Fetch the model's files again.") from error


def content_hash(folder: Path) -> str:
    """Sixteen hex digits that change when the weights, the tokenizer or the settings do.

    The hub's revision where the folder is a snapshot of it, else a SHA-256 of the files.
    """
    if revision := snapshot_revision(folder):
        return revision[:16]
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.suffix in _READ and path.is_file() and inside.parts[0] not in _OTHER_RUNTIMES:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
            whole.update(inside.as_posix().encode() + b"\0" + digest.digest())
    return whole.hexdigest()[:16]


def snapshot_revision(folder: Path) -> str:
    """The hub's commit that a snapshot folder holds, 40 hex digits; empty for another folder."""
    is_one = folder.parent.name == "snapshots" and _REVISION.fullmatch(folder.name)
    return folder.name if is_one else ""


def _checked(folder: Path, name: str) -> Path:
    """``folder``, once it is known to hold what a model needs."""
    missing = []
    if not (folder / "config.json").is_file():
        missing.append("config.json")
    if not any(any(folder.glob(pattern)) for pattern in _WEIGHTS):
        missing.append("weights (model.safetensors)")
    if not any(any(folder.glob(pattern)) for pattern in _TOKENIZERS):
        missing.append("a tokenizer (tokenizer.json)")
    missing += sorted(s for s in _shards(folder) if not (folder / s).is_file())
    if missing:
        remedy = "Add it, or give the folder in which the model was saved."
        raise ModelError(name, f"its folder lacks {', '.join(missing)}", remedy)
    return folder


def _shards(folder: Path) -> set[str]:
    """The weight files that the indexes of a split model name."""
    shards: set[str] = set()
    for index in folder.glob("*.safetensors.index.json"):
        try:
            shards.update(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (OSError, ValueError, LookupError, AttributeError):
            shards.add(f"a readable {index.name}")
    return shards


def _held(name: str) -> Path | None:
    """The newest whole snapshot in the hub's cache, without a word to the network."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found = snapshot_download(name, local_files_only=True, ignore_patterns=[*_UNUSED, "*.bin"])
        return _checked(Path(found), name)
    except (LocalEntryNotFoundError, ModelError):
        return None


def _fetched(name: str) -> Path:
    from huggingface_hub import HfApi, snapshot_download

    try:
        # One short question first: a download retries for long where nobody answers.
        info = HfApi().model_info(name, timeout=PATIENCE)
        # Without a revision, so that the cache can be asked for the name alone afterwards.
        return Path(snapshot_download(name, ignore_patterns=_unneeded(info)))
    except Exception as error:
        raise ModelError(name, *_why_not(error)) from error


def _unneeded(info: Any) -> list[str]:
    files = [s.rfilename for s in info.siblings or ()]
    twice = any(f.endswith(".safetensors") for f in files)
    return [*_UNUSED, "*.bin"] if twice else _UNUSED


def _why_not(error: Exception) -> tuple[str, str]:
    """What stopped a download and what to do, in words."""
    from huggingface_hub import errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return "is not on this machine, and HF_HUB_OFFLINE forbids the download", "Unset it."
    if isinstance(error, errors.GatedRepoError):
        return (
            "the hub asks for an account that was granted this model",
            "Log in with `hf auth login`.",
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return "the hub has no such model, or keeps it private", "Check the name."
    said = (str(error).strip() or type(error).__name__).splitlines()[0]
    return (
        f"the hub did not give it ({said})",
        "Check the connection, or give the path of a folder that holds the model.",
    )
