"""Files and folders → named sources, with what chunkscope.toml says of them."""

from __future__ import annotations

import os
import sys
from itertools import permutations
from pathlib import Path

import pytest

from core.ingest import Source, ingest, sources_from_paths
from core.ingest.source import LARGEST_MB


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def names(sources: list[Source]) -> list[str]:
    return [source.name for source in sources]


def test_a_folder_is_searched_to_the_bottom(tmp_path: Path) -> None:
    write(tmp_path, b_dot_md="b", sub__a_dot_txt="a", sub__deep__c_dot_rst="c", x_dot_docx="x")
    write(tmp_path, _dot_hidden_dot_md="h", _dot_git__d_dot_md="d", chunkscope_dot_toml="")
    assert names(sources_from_paths([tmp_path])) == ["b.md", "sub/a.txt", "sub/deep/c.rst"]


def test_a_file_named_itself_is_taken_whatever_its_suffix(tmp_path: Path) -> None:
    write(tmp_path, notes_dot_log="words")
    (source,) = sources_from_paths([str(tmp_path / "notes.log")])
    assert (source.name, source.data) == ("notes.log", b"words")


def test_a_file_given_twice_is_one_source(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="a")
    assert names(sources_from_paths([tmp_path / "a.md", tmp_path, tmp_path / "a.md"])) == ["a.md"]


def test_equal_names_get_their_folders_in_front(tmp_path: Path) -> None:
    write(tmp_path, one__in__a_dot_md="1", two__in__a_dot_md="2", one__in__b_dot_md="b")
    found = sources_from_paths([tmp_path / "one" / "in", tmp_path / "two" / "in"])
    assert names(found) == ["b.md", "one/in/a.md", "two/in/a.md"]


def test_folders_within_folders_give_the_same_sources_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="a", sub__b_dot_md="b", sub__deep__c_dot_md="c")
    paths = [tmp_path, tmp_path / "sub", tmp_path / "sub" / "deep", tmp_path / "sub" / "b.md"]
    found = [sources_from_paths(order) for order in permutations(paths)]
    assert names(found[0]) == ["a.md", "sub/b.md", "sub/deep/c.md"]
    assert all(each == found[0] for each in found)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_names_that_are_no_text_are_spelled_out_and_stay_apart(tmp_path: Path) -> None:
    for byte in (b"\xfe", b"\xff"):
        (tmp_path / os.fsdecode(b"a" + byte + b".md")).write_bytes(
            b"text of " + byte.hex().encode()
        )
    (tmp_path / os.fsdecode(b"b\xff.md")).symlink_to("nowhere")
    *read, bad = sources_from_paths([tmp_path])
    assert names(read) == ["a\\xfe.md", "a\\xff.md"]
    assert str(bad.error).startswith("b\\xff.md: ")


def test_a_longer_name_does_not_collide_with_one_that_is_there(tmp_path: Path) -> None:
    write(tmp_path, top__one__a_dot_md="0", one__a_dot_md="1", two__a_dot_md="2")
    found = sources_from_paths([tmp_path / "top", tmp_path / "one", tmp_path / "two"])
    assert len(set(names(found))) == 3


def test_a_path_that_does_not_exist_fails_alone(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="a")
    good, bad = sorted(
        ingest(sources_from_paths([tmp_path / "nowhere", tmp_path])), key=lambda i: i.error is None
    )[::-1]
    assert good.document is not None
    assert str(bad.error) == f"{tmp_path / 'nowhere'}: no such file or folder. Check the path."


def test_metadata_comes_from_the_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_dot_md="alpha",
        sub__b_dot_md="beta",
        chunkscope_dot_toml='[documents."a.md"]\ntenant = "northwind"\nroles = ["staff"]\n'
        'date = 2026-03-01\npriority = 2\n[documents."sub/b.md"]\nlabels = ["x"]\ntitle = "B"',
        sub__chunkscope_dot_toml='[documents."b.md"]\ntitle = "Nearer"\n',
    )
    first, second = (i.document for i in ingest(sources_from_paths([tmp_path])))
    assert first and second
    assert (first.access.tenant, first.access.roles) == ("northwind", ("staff",))
    assert (first.date, first.priority) == ("2026-03-01", 2)
    assert (second.access.labels, second.title) == (("x",), "Nearer")


def test_a_file_named_itself_keeps_the_access_of_its_folder(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="a", chunkscope_dot_toml='[documents."a.md"]\ntenant = "t"')
    (source,) = sources_from_paths([tmp_path / "a.md"])
    assert source.metadata == {"tenant": "t"}


@pytest.mark.parametrize("given", ["", "sub", "sub/b.md", "links", "links/l.md", "other/../sub"])
def test_access_does_not_depend_on_the_path_that_was_given(tmp_path: Path, given: str) -> None:
    write(
        tmp_path,
        sub__b_dot_md="b",
        other__o_dot_md="o",
        links__k_dot_md="k",
        chunkscope_dot_toml='[documents."sub/b.md"]\ntenant = "t"',
    )
    (tmp_path / "links" / "l.md").symlink_to(tmp_path / "sub" / "b.md")
    found = {s.data: s.metadata for s in sources_from_paths([tmp_path / given])}
    assert found[b"b"] == {"tenant": "t"}


@pytest.mark.parametrize(
    "toml",
    [
        "[documents",
        'documents = "all"',
        '["a.md"]\ntenant = "t"',
        '[documents]\n"a.md" = "t"',
        '[documents."a.md"]\ntennant = "t"',
        '[documents."a.md"]\ntenant = ["t"]',
        "x = " + "[" * 100_000,
    ],
)
def test_a_broken_table_of_access_opens_nothing(tmp_path: Path, toml: str) -> None:
    write(tmp_path, a_dot_md="secret", chunkscope_dot_toml=toml)
    outcomes = ingest(sources_from_paths([tmp_path]))
    assert outcomes and all(outcome.document is None for outcome in outcomes)
    assert all(str(outcome.error).startswith("a.md: ") for outcome in outcomes)


def test_a_link_to_no_table_of_access_opens_nothing(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="secret")
    (tmp_path / "chunkscope.toml").symlink_to("nowhere")
    (outcome,) = ingest(sources_from_paths([tmp_path]))
    assert outcome.document is None


@pytest.mark.parametrize("entry", ["polcy.md", "./policy.md", "x/../policy.md", "{root}/policy.md"])
def test_an_entry_that_names_no_file_is_reported(tmp_path: Path, entry: str) -> None:
    entry = entry.replace("{root}", tmp_path.as_posix())
    toml = f'[documents."{entry}"]\ntenant = "t"'
    write(tmp_path, policy_dot_md="p", x__y_dot_md="y", chunkscope_dot_toml=toml)
    errors = [s.error for s in sources_from_paths([tmp_path]) if s.error]
    assert len(errors) == 1
    assert f'names "{entry}", which is not a file' in str(errors[0])


@pytest.mark.skipif(os.name == "nt", reason="permissions differ")
def test_a_folder_that_cannot_be_looked_into_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a_dot_md="a", closed__b_dot_md="b")
    scandir = os.scandir

    def refusing(path: str) -> object:
        # As the file system does; root, who may run this, is refused nothing.
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    good, bad = sorted(sources_from_paths([tmp_path]), key=lambda s: s.error is not None)
    assert good.name == "a.md"
    assert str(bad.error).startswith("closed: the folder cannot be read (Permission denied)")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    (source,) = sources_from_paths([tmp_path])
    assert "is not a regular file" in str(source.error)


def test_a_file_that_no_document_is_as_large_as_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(LARGEST_MB * 2**20 + 1)
    (source,) = sources_from_paths([tmp_path])
    assert source.data == b"" and "over the limit of 512 MB" in str(source.error)


def test_a_path_that_cannot_be_looked_at_fails_alone(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="a")
    (tmp_path / "loop.md").symlink_to("loop.md")
    odd = [tmp_path / "loop.md", tmp_path / ("x" * 300), "~nobody-of-this-name/a.md"]
    good, *bad = sorted(sources_from_paths([tmp_path, *odd]), key=lambda s: s.error is not None)
    assert (good.name, good.error) == ("a.md", None)
    assert len(bad) == 4 and all(s.error for s in bad)  # the loop is met in the folder as well


def test_a_password_is_never_shown() -> None:
    assert "hunter2" not in repr(Source("a.pdf", b"", password="hunter2"))
