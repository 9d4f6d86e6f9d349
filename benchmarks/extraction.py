"""Extraction against pymupdf4llm, pypdf and PyMuPDF's own text, on the same files, in one run.

    python -m benchmarks.extraction [--pdf FILE…] [--rounds 3] [--peers FOLDER]

Seconds: a long book (the sample documents where none is given), each library in turn.

Accuracy: pages that the benchmark draws, so that their right text is known
(``made/pages.py``). Columns, tables and the like are in Helvetica; scripts are in the
Noto and Droid fonts that PyMuPDF brings, with a ToUnicode table as word processors write it:
glyphs that stand for several characters, that take no room, that are drawn from the right. Two
figures each:

- *words*: of the right words (characters where a script has no spaces), those that were found,
  over the longer of both texts;
- *order*: of the words found, those in the longest common subsequence with the right text.

Their product is the share of words that are right and in their place. Running headers are left
out by those that can. Markdown's own signs are taken away before counting.

pymupdf4llm is measured twice, with its layout model and without. ``--peers`` names a folder into
which it was put by ``pip install --no-deps --target FOLDER pymupdf4llm pymupdf_layout tabulate``.
"""

from __future__ import annotations

import argparse
import gc
import html
import json
import os
import platform
import re
import statistics
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.made.pages import Case, cases
from core.ingest.extract import extract

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).parent / "results" / "extraction.json"
OURS, BARE = "Chunkscope", "get_text()"

# Of its rounds a library's best counts: what else runs on a machine only makes them longer. The
# two that are compared closely have as many as it takes for both to have a quiet one.
_NEAR_ROUNDS = 20

Reader = Callable[[bytes], str]


def ours(data: bytes) -> str:
    """The text that is ranked: all but running headers, footers and invisible text."""
    document = extract("a.pdf", data, {})
    kept, at = [], 0
    for span in document.unranked:
        kept.append(document.text[at : span.start])
        at = span.end
    return "".join([*kept, document.text[at:]])


def bare(data: bytes) -> str:
    """A loop over ``page.get_text()``."""
    import pymupdf

    with pymupdf.open(stream=data, filetype="pdf") as document:
        return "".join(page.get_text() for page in document)


def by_pypdf(data: bytes) -> str:
    """pypdf's ``extract_text``, as it comes."""
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(BytesIO(data)).pages)


def readers(folder: Path | None) -> dict[str, Reader | str]:
    """Each library's reader by name, or why there is none."""
    found: dict[str, Reader | str] = {OURS: ours, BARE: bare}
    try:
        import pypdf

        found[f"pypdf {pypdf.__version__}"] = by_pypdf
    except ImportError:
        found["pypdf"] = "not installed"
    return found | _pymupdf4llm(folder)


def _pymupdf4llm(folder: Path | None) -> dict[str, Reader | str]:
    import pymupdf

    if folder is not None:
        sys.path.append(str(folder))
        pymupdf.__path__.append(str(folder / "pymupdf"))  # its layout model lives there
    try:
        import pymupdf4llm

        version = pymupdf4llm.__version__
    except (ImportError, AttributeError) as error:
        return {"pymupdf4llm": f"not installed ({error})"}

    def read(data: bytes, layout: bool) -> str:
        pymupdf4llm.use_layout(layout)
        with pymupdf.open(stream=data, filetype="pdf") as document:
            if layout:
                return pymupdf4llm.to_markdown(document, header=False, footer=False, use_ocr=False)
            return pymupdf4llm.to_markdown(document, show_progress=False)

    found: dict[str, Reader | str] = {
        f"pymupdf4llm {version}, rules": lambda data: read(data, False)
    }
    try:
        import pymupdf.layout

        found[f"pymupdf4llm {version}, layout model"] = lambda data: read(data, True)
    except ImportError:
        found["pymupdf4llm, layout model"] = "not installed (pymupdf_layout)"
    return found


_MARKUP = re.compile(
    r"<br ?/?>|</?(?:u|s|sub|sup)>|^\s*(?:[-*+]|\d+\.) |[|*_`#~>]|:?-{3,}:?", re.MULTILINE
)


def words_of(text: str, spaceless: bool) -> list[str]:
    """Words without the marks around them; characters where ``spaceless``."""
    text = unicodedata.normalize("NFKC", html.unescape(_MARKUP.sub(" ", text)))
    if spaceless:
        return [character for character in text if not character.isspace()]
    stripped = (
        re.sub(r"^[^\w]+|[^\w\u0300-\u036f\u0900-\u0dff\u00ad-]+$", "", word)
        for word in text.split()
    )
    return [word for word in stripped if word]


def common_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest one: Hyyrö's bit-parallel recurrence (2004), a row an integer."""
    places: dict[str, int] = {}
    for at, word in enumerate(left):
        places[word] = places.get(word, 0) | 1 << at
    mask = (1 << len(left)) - 1
    row = mask
    for word in right:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & mask
    return len(left) - row.bit_count()


def accuracy(case: Case, text: str) -> dict[str, float]:
    """``words`` and ``order``, each in [0, 1], against the right text that fits best."""
    found = words_of(text, case.spaceless)
    best = {"words": 0.0, "order": 0.0}
    for right in case.right:
        wanted = words_of(right, case.spaceless)
        shared = (Counter(found) & Counter(wanted)).total()
        figures = {
            "words": shared / max(len(found), len(wanted), 1),
            "order": common_subsequence(wanted, found) / shared if shared else 0.0,
        }
        best = max(best, figures, key=lambda f: f["words"] * f["order"])
    return best


def timed(
    readers_: dict[str, Reader], files: Sequence[bytes], rounds: int
) -> dict[str, list[float]]:
    """CPU seconds for all files, a round each, in which the libraries take turns."""
    for reader in readers_.values():
        reader(cases()[0].data)  # what is loaded on first use
    taken: dict[str, list[float]] = {name: [] for name in readers_}
    for _ in range(rounds):
        for name, reader in readers_.items():
            gc.collect()
            start = time.process_time()
            for data in files:
                reader(data)
            taken[name].append(time.process_time() - start)
    return taken


def measure(paths: Sequence[Path], rounds: int, folder: Path | None) -> dict[str, Any]:
    """Both parts for every library that is there."""
    import pymupdf

    files = [path.read_bytes() for path in paths]
    # The two to be compared closely many times, side by side, and before pymupdf4llm is imported:
    # that changes how PyMuPDF measures glyphs, for all that runs in the process.
    near = timed({OURS: ours, BARE: bare}, files, _NEAR_ROUNDS)
    found = readers(folder)
    there = {name: reader for name, reader in found.items() if not isinstance(reader, str)}
    slow = {name: reader for name, reader in there.items() if name not in near}
    taken = near | timed(slow, files, rounds)
    pages = 0
    for data in files:
        with pymupdf.open(stream=data, filetype="pdf") as document:
            pages += document.page_count
    return {
        "files": [path.name for path in paths],
        "pages": pages,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, PyMuPDF {pymupdf.__version__}",
        "seconds": {name: min(several) for name, several in taken.items()},
        "ratio_ours_to_get_text": min(near[OURS]) / min(near[BARE]),
        "not_measured": {name: why for name, why in found.items() if isinstance(why, str)},
        "accuracy": {
            case.name: {name: accuracy(case, reader(case.data)) for name, reader in there.items()}
            for case in cases()
        },
    }


def table(result: dict[str, Any]) -> str:
    """The result as Markdown."""
    seconds = result["seconds"]
    base = seconds[BARE]
    names = list(seconds)
    lines = [
        f"{', '.join(result['files'])}: {result['pages']} pages; {result['machine']}",
        "",
        "| library | CPU seconds | times `get_text()` |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {seconds[name]:.2f} | {seconds[name] / base:.1f} |" for name in names),
        *(f"| {name} | {why} | |" for name, why in result["not_measured"].items()),
        "",
        "Words found / in order, in per cent:",
        "",
        "| pages | " + " | ".join(names) + " |",
        "| --- |" + " ---: |" * len(names),
    ]
    for case, figures in result["accuracy"].items():
        lines.append(f"| {case} | " + " | ".join(_cell(figures[name]) for name in names) + " |")
    means = {
        name: {
            kind: statistics.mean(figures[name][kind] for figures in result["accuracy"].values())
            for kind in ("words", "order")
        }
        for name in names
    }
    lines.append("| mean | " + " | ".join(_cell(means[name]) for name in names) + " |")
    return "\n".join(lines)


def _cell(figures: dict[str, float]) -> str:
    return f"{100 * figures['words']:.0f} / {100 * figures['order']:.0f}"


def main() -> None:
    """Measure, print the table, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    samples = sorted((ROOT / "sample_docs").glob("*.pdf"))
    parser.add_argument("--pdf", type=Path, nargs="+", default=samples, help="files to be timed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", type=Path, help="a folder that holds pymupdf4llm")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the numbers are written")
    options = parser.parse_args()
    result = measure(options.pdf, options.rounds, options.peers)
    print(table(result))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
