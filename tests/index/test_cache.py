"""The cache of arrays: crashes, damage, company, limits, and folders that refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core.index.cache import ArrayCache, default_root

ROOT = Path(__file__).resolve().parents[2]


def arrays(seed: int = 0, rows: int = 100) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "vectors": rng.normal(size=(rows, 8)).astype(np.float32),
        "states": rng.integers(-127, 128, size=(rows, 4)).astype(np.int8),
        "empty": np.zeros((0, 4), dtype=np.int8),
    }


def same(one, other) -> bool:
    return set(one) == set(other) and all(
        one[k].dtype == other[k].dtype and np.array_equal(one[k], other[k]) for k in one
    )


def test_what_was_put_is_got_as_a_map(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path)
    assert cache.get("a") is None
    assert cache.put("a", arrays(), {"model": "m"})
    held = cache.get("a")
    assert held is not None and same(held, arrays())
    assert isinstance(held["vectors"], np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        held["vectors"][0, 0] = 1
    assert same(ArrayCache(tmp_path).get("a"), arrays())
    assert cache.warning == ""


def test_the_first_of_two_entries_stays(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path)
    assert cache.put("a", arrays(1)) and cache.put("a", arrays(2))
    assert same(cache.get("a"), arrays(1))


@pytest.mark.parametrize("key", ["", "../a", "a/b", ".", "a b", "é"])
def test_a_key_cannot_leave_the_folder(tmp_path: Path, key: str) -> None:
    cache = ArrayCache(tmp_path)
    with pytest.raises(ValueError, match="cannot be a key"):
        cache.get(key)
    with pytest.raises(ValueError, match="cannot be a key"):
        cache.put(key, arrays())


def truncate(entry: Path) -> None:
    os.truncate(entry / "vectors.npy", 200)


def flip(entry: Path) -> None:
    content = bytearray((entry / "states.npy").read_bytes())
    content[-1] ^= 1
    (entry / "states.npy").write_bytes(content)


def lose(entry: Path) -> None:
    (entry / "vectors.npy").unlink()


def lose_contents(entry: Path) -> None:
    (entry / "contents.json").unlink()


def half_contents(entry: Path) -> None:
    (entry / "contents.json").write_text('{"arrays": {"vec')


def odd_contents(entry: Path) -> None:
    (entry / "contents.json").write_text("[1]")


def pickled(entry: Path) -> None:
    """An array of objects, which would run code as it loads."""
    np.save(entry / "vectors.npy", np.array([{}], dtype=object), allow_pickle=True)
    contents = json.loads((entry / "contents.json").read_text())
    import zlib

    raw = (entry / "vectors.npy").read_bytes()
    contents["arrays"]["vectors"] = {"bytes": len(raw), "crc32": zlib.crc32(raw)}
    (entry / "contents.json").write_text(json.dumps(contents))


@pytest.mark.parametrize(
    "harm", [truncate, flip, lose, lose_contents, half_contents, odd_contents, pickled]
)
def test_a_damaged_entry_is_a_miss_and_goes(tmp_path: Path, harm) -> None:
    ArrayCache(tmp_path).put("a", arrays())
    ArrayCache(tmp_path).put("b", arrays(2))
    cache = ArrayCache(tmp_path)
    harm(cache.entries / "a")
    assert cache.get("a") is None
    assert not (cache.entries / "a").exists()
    assert same(cache.get("b"), arrays(2))
    assert cache.put("a", arrays(3)) and same(cache.get("a"), arrays(3))


WRITER = """
import os, signal, sys
import numpy as np
from pathlib import Path
from core.index import cache

real = cache._write
def write(path, array):
    real(path, array)
    os.kill(os.getpid(), signal.SIGKILL)
cache._write = write
cache.ArrayCache(Path(sys.argv[1])).put("a", {"x": np.ones(9), "y": np.ones(9)})
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_crash_in_mid_write_leaves_no_entry_and_is_cleared_away(tmp_path: Path) -> None:
    died = subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, check=False)
    assert died.returncode == -signal.SIGKILL
    assert len(list((tmp_path / "unfinished").iterdir())) == 1
    cache = ArrayCache(tmp_path)
    assert cache.get("a") is None
    assert cache.put("b", arrays())
    assert list((tmp_path / "unfinished").iterdir()) == []
    assert cache.put("a", arrays()) and same(cache.get("a"), arrays())


def test_a_writer_at_work_is_left_alone(tmp_path: Path) -> None:
    ArrayCache(tmp_path).put("a", arrays())
    import socket

    draft = tmp_path / "unfinished" / f"{socket.gethostname()}.{os.getpid()}.abc"
    elsewhere = tmp_path / "unfinished" / "another.host.1.abc"
    draft.mkdir()
    elsewhere.mkdir()
    ArrayCache(tmp_path).put("b", arrays())
    assert draft.is_dir() and elsewhere.is_dir()


def test_many_writers_of_one_key(tmp_path: Path) -> None:
    caches = [ArrayCache(tmp_path) for _ in range(8)]
    outcomes: list[bool] = []

    def work(cache: ArrayCache) -> None:
        for i in range(10):
            outcomes.append(cache.put(f"k{i}", arrays(i)))
            outcomes.append(same(cache.get(f"k{i}"), arrays(i)))

    threads = [threading.Thread(target=work, args=(c,)) for c in caches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 160 and all(outcomes)
    assert list((tmp_path / "unfinished").iterdir()) == []
    assert len(list((tmp_path / "arrays").iterdir())) == 10


def bytes_of(cache: ArrayCache) -> int:
    return sum(f.stat().st_size for f in cache.entries.rglob("*") if f.is_file())


def test_the_limit_holds_and_the_least_recently_used_goes(tmp_path: Path) -> None:
    probe = ArrayCache(tmp_path / "probe")
    probe.put("a", arrays())
    size = bytes_of(probe)
    cache = ArrayCache(tmp_path / "real", limit_bytes=3 * size + size // 2)
    for age, key in enumerate(["a", "b", "c"]):
        cache.put(key, arrays())
        os.utime(cache.entries / key, (1000 + age, 1000 + age))
    mapped = cache.get("a")  # now the latest
    cache.put("d", arrays())
    assert sorted(p.name for p in cache.entries.iterdir()) == ["a", "c", "d"]
    os.utime(cache.entries / "a", (1, 1))
    cache.put("e", arrays())
    assert cache.get("a") is None
    assert same(mapped, arrays())  # evicted, and still readable
    assert bytes_of(cache) <= cache.limit_bytes


def test_one_entry_may_pass_the_limit_until_the_next(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path, limit_bytes=100)
    cache.put("a", arrays())
    assert same(cache.get("a"), arrays())
    cache.put("b", arrays())
    assert [p.name for p in cache.entries.iterdir()] == ["b"]


def test_a_folder_that_cannot_be_made_costs_the_cache_only(tmp_path: Path, caplog) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ArrayCache(tmp_path / "file" / "cache")
    assert cache.get("a") is None
    assert not cache.put("a", arrays()) and not cache.put("b", arrays())
    assert cache.get("a") is None
    assert "CHUNKSCOPE_CACHE" in cache.warning
    assert len(caplog.records) == 1


def test_a_full_disk_costs_the_cache_only(tmp_path: Path, monkeypatch) -> None:
    cache = ArrayCache(tmp_path)

    def full(path, array):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.index.cache._write", full)
    assert not cache.put("a", arrays())
    assert "No space left on device" in cache.warning
    assert list((tmp_path / "unfinished").iterdir()) == []
    monkeypatch.undo()
    assert cache.put("a", arrays()) and same(cache.get("a"), arrays())


def test_where_it_lies(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path / "here"))
    assert default_root() == tmp_path / "here"
    monkeypatch.delenv("CHUNKSCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    if sys.platform.startswith("linux"):
        assert default_root() == tmp_path / "xdg" / "chunkscope"
