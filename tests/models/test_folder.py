"""Where a model's files are found, offline first; the hub is a server on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.errors import ModelError
from core.models.folder import architecture, content_hash, model_folder

REVISION = "0123456789abcdef0123456789abcdef01234567"
NAME = "someone/reranker"
FILES = {
    "config.json": b'{"architectures": ["BertForSequenceClassification"]}',
    "tokenizer.json": b"{}",
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"the same weights again",
    "onnx/model.onnx": b"and again",
}


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (made / name).write_bytes(FILES[name])
    return made


def test_a_folder_is_taken_as_it_is(folder, monkeypatch):
    assert model_folder(folder) == model_folder(str(folder)) == folder
    assert architecture(folder) == "BertForSequenceClassification"
    monkeypatch.chdir(folder.parent)
    assert model_folder("model") == Path("model")


@pytest.mark.parametrize(
    "name, says",
    [
        ("/nowhere/model", r"^/nowhere/model: there is no such folder\. Give one"),
        ("~/no such model", "there is no such folder"),
        ("a/b/c", "there is no such folder"),
        ("  ", "has no name"),
        (NAME, r"is not on this machine: .*path of a folder .*--download"),
    ],
)
def test_what_is_not_there_is_said_at_once(name, says):
    began = time.monotonic()
    with pytest.raises(ModelError, match=says):
        model_folder(name)
    assert time.monotonic() - began < 10


def test_a_file_is_not_a_folder(folder):
    with pytest.raises(ModelError, match=r"is a file\. Give the folder"):
        model_folder(folder / "model.safetensors")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_part_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"its folder lacks .*{name}"):
        model_folder(folder)


def test_a_missing_shard_is_named(folder):
    shards = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(shards))
    with pytest.raises(ModelError, match=r"lacks model-2\.safetensors"):
        model_folder(folder)


def test_a_config_that_is_none_is_said(folder):
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"its config\.json cannot be read"):
        architecture(folder)
    (folder / "config.json").write_text("{}")
    assert architecture(folder) == ""


def test_the_hash_is_of_what_the_model_reads(folder, tmp_path):
    before = content_hash(folder)
    (folder / "README.md").write_text("words")
    moved = folder.rename(tmp_path / "elsewhere")
    assert content_hash(moved) == before
    seen = {before}
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        (moved / name).write_bytes(FILES[name] + b" ")
        seen.add(content_hash(moved))
    assert len(seen) == 4


def test_a_snapshot_of_the_hub_is_known_by_its_revision(folder, tmp_path):
    (tmp_path / "snapshots").mkdir()
    snapshot = folder.rename(tmp_path / "snapshots" / REVISION)
    assert content_hash(snapshot) == REVISION[:16]


class _Hub(BaseHTTPRequestHandler):
    """As much of a hub as a download asks of it."""

    def do_GET(self):
        self._answer(body=True)

    def do_HEAD(self):
        self._answer(body=False)

    def _answer(self, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(path)
        if path.startswith(f"/api/models/{NAME}/tree/"):
            found = json.dumps([self._row(n) for n in FILES]).encode()
        elif path.startswith(f"/api/models/{NAME}"):
            siblings = [{"rfilename": n} for n in FILES]
            found = json.dumps({"id": NAME, "sha": REVISION, "siblings": siblings}).encode()
        else:
            found = FILES.get(path.removeprefix(f"/{NAME}/resolve/{REVISION}/"))
        self.send_response(404 if found is None else 200)
        if found is None:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", str(len(found or b"")))
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("ETag", f'"{hashlib.sha1(found or b"").hexdigest()}"')
        self.end_headers()
        if body:
            self.wfile.write(found or b"")

    def _row(self, name: str) -> dict:
        oid = hashlib.sha1(FILES[name]).hexdigest()
        return {"type": "file", "path": name, "size": len(FILES[name]), "oid": oid}

    def log_message(self, *words) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def look_up(name: str, home: Path, port: int, *, download: bool, offline: str = "0") -> str:
    """What :func:`model_folder` gives or says in a process whose hub is at ``port``."""
    code = f"""
from core.errors import ModelError
from core.models.folder import content_hash, model_folder
try:
    found = model_folder({name!r}, download={download})
    print(content_hash(found), *sorted(p.name for p in found.rglob("*") if p.is_file()))
except ModelError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={
            **os.environ,
            "HF_HOME": str(home),
            "HF_ENDPOINT": f"http://127.0.0.1:{port}",
            "HF_HUB_OFFLINE": offline,
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
        },
    )
    return done.stdout.strip()


@pytest.mark.integration
def test_the_hub_is_asked_once_and_only_when_allowed(hub, tmp_path):
    port = hub.server_port
    assert "is not on this machine" in look_up(NAME, tmp_path, port, download=False)
    assert not hub.asked
    held = f"{REVISION[:16]} config.json model.safetensors tokenizer.json"
    assert look_up(NAME, tmp_path, port, download=True) == held
    assert hub.asked
    hub.asked.clear()
    assert look_up(NAME, tmp_path, port, download=True) == held
    assert look_up(NAME, tmp_path, port, download=False, offline="1") == held
    assert not hub.asked
    # What an interrupted download leaves is not taken for the model.
    next(tmp_path.rglob("model.safetensors")).unlink()
    assert "is not on this machine" in look_up(NAME, tmp_path, port, download=False)
    assert look_up(NAME, tmp_path, port, download=True) == held


@pytest.mark.integration
def test_what_the_hub_refuses_is_said_in_words(hub, tmp_path):
    port = hub.server_port
    assert "no such model" in look_up("someone/else", tmp_path, port, download=True)
    assert "Unset it." in look_up(NAME, tmp_path, port, download=True, offline="1")
    hub.shutdown()
    hub.server_close()
    began = time.monotonic()
    assert "did not give it" in look_up(NAME, tmp_path, port, download=True)
    assert time.monotonic() - began < 30
