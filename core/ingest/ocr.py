"""Text recognition (OCR) of pages that are pictures, where it is asked for and installed.

MuPDF brings the recogniser; what it knows of languages comes with tesseract's own installation.
Nothing is ever recognised unasked, and a page whose text was says so.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import DocumentError
from core.ingest.health import FEW, MOSTLY_COVERED
from core.ingest.limits import Limits
from core.ingest.lines import Line, altered, lines_of
from core.ingest.visibility import Visibility

# What tesseract was trained on; a poster is not rendered at more pixels a side than this.
_DPI, _MOST_PIXELS = 300, 6000
_LANGUAGE = re.compile(r"[a-z]{3}(?:_[A-Za-z]{2,8}){0,2}")
_LISTED = re.compile(r'in "(.+)"')
_INSTALL = (
    "Install it (Debian and Ubuntu: apt-get install tesseract-ocr; macOS: brew install tesseract), "
    "or leave text recognition off."
)


@cache
def languages_folder() -> Path | None:
    """Where tesseract keeps its languages; None where it is not installed."""
    named = os.environ.get("TESSDATA_PREFIX")
    if named:
        return Path(named) if Path(named).is_dir() else None
    try:
        listed = subprocess.run(
            ["tesseract", "--list-langs"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = _LISTED.search(listed.stdout + listed.stderr)
    return Path(match[1]) if match and Path(match[1]).is_dir() else None


def languages() -> tuple[str, ...]:
    """The languages that can be recognised, by tesseract's names; none where it is missing."""
    folder = languages_folder()
    if folder is None:
        return ()
    return tuple(sorted(p.stem for p in folder.glob("*.traineddata") if p.stem != "osd"))


def require(language: str) -> None:
    """Raises DocumentError where text in ``language`` ("eng", "eng+deu") cannot be recognised."""
    known = languages()
    if not known:
        raise DocumentError(
            "Text recognition (OCR)", "tesseract is not installed on this machine", _INSTALL
        )
    if missing := [part for part in language.split("+") if part not in known]:
        wanted = ", ".join(missing)
        raise DocumentError(
            "Text recognition (OCR)",
            f"tesseract has no language “{wanted}” here (it has {', '.join(known)})",
            _other_language(missing[0]),
        )


def _other_language(language: str) -> str:
    """The remedy. What was typed becomes part of a command only where it is a language's name as
    tesseract has them."""
    if not _LANGUAGE.fullmatch(language):
        return "Write tesseract's name of a language, such as deu or chi_sim, several joined by +."
    package = f"tesseract-ocr-{language.replace('_', '-').lower()}"
    return f"Install it (Debian and Ubuntu: apt-get install {package}), or name one that it has."


def wants_recognition(lines: Sequence[Line], seen: Visibility, page: Any) -> bool:
    """Whether a page shows something and its text layer holds next to nothing of it."""
    if seen.recognised:
        return False
    count = sum(len(line.text) for line in lines)
    if not count:
        return bool(seen.images or page.get_bboxlog())
    return seen.covered > MOSTLY_COVERED and count < FEW


def recognised_lines(page: Any, lines: Sequence[Line], limits: Limits) -> list[Line]:
    """The lines that the recogniser reads on a page, but for those that stand in its text layer;
    none where it fails, as it does on pages of absurd shapes."""
    longest = max(page.rect.width, page.rect.height, 1.0)
    dpi = int(min(_DPI, 72 * _MOST_PIXELS / longest))
    try:
        read = page.get_textpage_ocr(
            language=limits.ocr_language,
            dpi=max(dpi, 36),
            full=True,
            tessdata=str(languages_folder()),
        )
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 (what the page's own text says must not be lost by it)
        return []
    found = [
        line
        for line in lines_of(page.get_text("dict", textpage=read)["blocks"])
        if line.text and not any(_stands_on(line, own) for own in lines)
    ]
    # Drawn without ink, as a layer to be laid under the picture; here it is all that there is.
    return [altered(line, alpha=255, place=len(lines) + index) for index, line in enumerate(found)]


def _stands_on(line: Line, own: Line) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return own.x0 <= x <= own.x1 and own.y0 <= y <= own.y1
