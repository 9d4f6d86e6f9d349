"""Files and folders → named sources, with what chunkscope.toml says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ingest import Source, ingest, sources_from_paths


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
    write(tmp_path, one__in__a_dot_md="1", two__in__a_dot_md="2", one__b_dot_md="b")
    found = sources_from_paths([tmp_path / "one" / "in", tmp_path / "two" / "in", tmp_path / "one"])
    assert names(found) == ["b.md", "one/in/a.md", "two/in/a.md"]


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


@pytest.mark.parametrize(
    "toml",
    [
        "[documents",
        'documents = "all"',
        '["a.md"]\ntenant = "t"',
        '[documents]\n"a.md" = "t"',
        '[documents."a.md"]\ntennant = "t"',
        '[documents."a.md"]\ntenant = ["t"]',
    ],
)
def test_a_broken_table_of_access_opens_nothing(tmp_path: Path, toml: str) -> None:
    write(tmp_path, a_dot_md="secret", chunkscope_dot_toml=toml)
    outcomes = ingest(sources_from_paths([tmp_path]))
    assert outcomes and all(outcome.document is None for outcome in outcomes)
    assert all(str(outcome.error).startswith("a.md: ") for outcome in outcomes)


def test_an_entry_that_names_no_file_is_reported(tmp_path: Path) -> None:
    write(tmp_path, policy_dot_md="p", chunkscope_dot_toml='[documents."polcy.md"]\ntenant = "t"')
    outcomes = ingest(sources_from_paths([tmp_path]))
    assert [outcome.document is None for outcome in outcomes] == [True, False]
    assert 'names "polcy.md", which is not a file' in str(outcomes[0].error)


def test_a_password_is_never_shown() -> None:
    assert "hunter2" not in repr(Source("a.pdf", b"", password="hunter2"))
