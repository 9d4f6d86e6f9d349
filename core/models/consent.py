"""Models that bring code of their own: it runs only where a person agreed to that revision.

Such code may do whatever the person may do. So consent names the model and one revision of it,
and a model whose files changed asks again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import ModelError
from core.models.folder import snapshot_revision

SHORTEST = 12
"""Digits of a revision that consent must name at least: fewer could be met by chance."""

_CONFIGS = ("config.json", "tokenizer_config.json", "processor_config.json")


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's agreement to run the code of one revision of a model."""

    model: str
    revision: str

    @classmethod
    def parse(cls, text: str) -> Consent:
        """From ``MODEL@REVISION``. ``ModelError`` where it names no revision."""
        model, sign, revision = text.rpartition("@")
        if not sign or not re.fullmatch(rf"[0-9a-f]{{{SHORTEST},64}}", revision):
            raise ModelError(
                text,
                "does not say to which revision of the model's code you agree",
                f"Write MODEL@REVISION, with at least {SHORTEST} hexadecimal digits.",
            )
        return cls(model, revision)

    def covers(self, name: str, revision: str) -> bool:
        same = self.model == name or _place(self.model) == _place(name) is not None
        return same and revision.startswith(self.revision)


def parse_consents(texts: Iterable[str]) -> tuple[Consent, ...]:
    """Consents from texts ``MODEL@REVISION``. ``ModelError`` for one that is none."""
    return tuple(Consent.parse(text) for text in texts)


def agreed(name: str, folder: Path, consents: Sequence[Consent]) -> bool:
    """Whether the model in ``folder`` brings code that may run; False where it brings none.

    Raises:
        ModelError: it brings code and nobody agreed to this revision, which the message names;
            or the code is in yet another place, where no revision of the model pins it.
    """
    code = _code(folder, name)
    if not code:
        return False
    if elsewhere := sorted({c.partition("--")[0] for c in code if "--" in c}):
        raise ModelError(
            name,
            f"its code is not in its own folder but in {', '.join(elsewhere)}",
            "Copy that code into the model's folder, read it, and name it in config.json.",
        )
    revision = revision_of(folder)
    if any(c.covers(name, revision) for c in consents):
        return True
    raise ModelError(
        name,
        f"brings code of its own ({', '.join(sorted(set(code)))}), which may do whatever you may",
        f"Read it, then agree to this revision: --trust-remote-code {name}@{revision}",
    )


def revision_of(folder: Path) -> str:
    """The hub's commit of a snapshot; of another folder a hash of its code and settings."""
    if revision := snapshot_revision(folder):
        return revision
    whole = hashlib.sha256()
    for path in sorted(p for kind in ("*.py", "*.json") for p in folder.rglob(kind)):
        whole.update(path.relative_to(folder).as_posix().encode() + b"\0")
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:40]


def _code(folder: Path, name: str) -> list[str]:
    """What the settings of a model ask to be imported from its own files."""
    found: list[str] = []
    for path in (folder / config for config in _CONFIGS):
        settings = _json(path, name)
        if isinstance(settings, dict):
            found += _words(settings.get("auto_map") or {})
    # sentence-transformers imports whatever class a module is said to be of.
    modules = _json(folder / "modules.json", name)
    for module in modules if isinstance(modules, list) else ():
        kind = str(module.get("type", "")) if isinstance(module, dict) else ""
        if not kind.startswith("sentence_transformers."):
            found.append(kind or "a module of unknown type")
    return found


def _words(value: object) -> list[str]:
    if isinstance(value, dict):
        return [w for v in value.values() for w in _words(v)]
    if isinstance(value, (list, tuple)):
        return [w for v in value for w in _words(v)]
    return [value] if isinstance(value, str) else []


def _json(path: Path, name: str) -> object:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            name, f"its {path.name} cannot be read ({error})", "Fetch the model's files again."
        ) from error


def _place(name: str) -> Path | None:
    path = Path(name).expanduser()
    return path.resolve() if path.is_dir() else None
