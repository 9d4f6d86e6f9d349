"""What the documents say is so: commands exist, code runs, links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.modes import DEFAULT_MODE, MODES
from core.settings import knobs

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def fenced(text: str, *languages: str) -> list[str]:
    """The code blocks of a Markdown text in some languages."""
    return [
        body
        for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if language in languages
    ]


def run(*words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, check=False, input=text, capture_output=True, text=True
    )


def test_the_knobs_document_is_what_the_settings_make() -> None:
    checked = run("tools/make_docs.py", "--check")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_make_words_exist(path: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = set(re.findall(r"\bmake ([a-z][a-z-]+)\b", code_of(path.read_text("utf-8"))))
    assert named <= set(targets)


def code_of(text: str) -> str:
    """Inline code and code blocks: where a command is meant to be typed."""
    return "\n".join(re.findall(r"`[^`\n]+`", text) + fenced(text, "", "sh", "console"))


def test_the_readme_starts_with_the_two_commands() -> None:
    assert re.findall(r"^make (\w+)", "\n".join(fenced(README, "sh")), re.MULTILINE)[:2] == [
        "run",
        "test",
    ]


@pytest.mark.integration
def test_the_readme_code_runs() -> None:
    blocks = fenced(README, "python")
    assert blocks, "the README shows no Python"
    for block in blocks:
        done = run("-", text=block)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


def command_help(*words: str) -> str:
    done = run("-m", "core", *words, "--help")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_and_flags_of_the_readme_exist() -> None:
    typed = [
        line
        for block in fenced(README, "sh")
        for line in block.replace("\\\n", " ").splitlines()
        if re.match(r"chunkscope |python -m core ", line)
    ]
    assert typed, "the README shows no command line"
    for line in typed:
        command = re.match(r"(?:chunkscope|python -m core) (\w+)", line)[1]
        assert set(re.findall(r"(?<= )--[a-z-]+", line)) <= set(
            re.findall(r"--[a-z-]+", command_help(command))
        ), line


def test_every_command_is_in_the_readme() -> None:
    for command in re.findall(r"^    (\w+) ", command_help(), re.MULTILINE):
        assert f"`chunkscope {command}`" in README


def test_the_modes_table_is_the_modes() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \|", README.partition("## Modes")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert rows == list(MODES)
    assert f"`{DEFAULT_MODE}`" in README


def test_knobs_named_in_the_documents_exist() -> None:
    known = {k.name for k in knobs()}
    for path in DOCUMENTS:
        for name in re.findall(r"--set (\w+)=", path.read_text("utf-8")):
            assert name == "knob" or name in known, f"{path.name}: {name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text("utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), target


def test_the_changelog_has_a_place_for_the_next_change() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
