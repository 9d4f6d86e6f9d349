"""Odd files by the hundred through the ingest entry, and what came of each.

python -m tests.ingest.fuzz [--count 2000] [--seed 7] [--out FILE]
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import DocumentError
from core.ingest import DuplicateDocument, Ingested, Limits, Source, ingest
from tests.ingest.mutations import odd_files

GOOD = Source("good.txt", b"The good file among them always loads.")
LIMITS = Limits(seconds=8, memory_mb=1024, pages=500, characters=2_000_000)
# Beyond the limit: the process may have to be started, and stopped.
_SLACK = 20.0


@dataclass
class Findings:
    """``outcomes`` counts what people are told, ``faults`` is empty if all is well."""

    files: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def fuzz(count: int, seed: int, batch: int = 40) -> Findings:
    """Ingest ``count`` odd files, a good one among every ``batch`` of them."""
    found = Findings()
    begun = time.perf_counter()
    files = odd_files(count, seed)
    while given := list(itertools.islice(files, batch)):
        kinds = {source.name: kind for kind, source in given}
        found.kinds.update(kinds.values())
        clock: list[tuple[float, str]] = []
        outcomes = ingest(
            [source for _, source in given] + [GOOD],
            LIMITS,
            progress=lambda done, total, name, clock=clock: clock.append(
                (time.perf_counter(), name)
            ),
        )
        for (start, name), (end, _) in itertools.pairwise(clock):
            found.slowest = max(found.slowest, end - start)
            if end - start > LIMITS.seconds + _SLACK:
                found.faults.append(f"{name} ({kinds.get(name)}) took {end - start:.0f} s")
        for outcome in outcomes:
            _judge(outcome, kinds, found)
        found.files += len(given)
    found.seconds = time.perf_counter() - begun
    return found


def _judge(outcome: Ingested, kinds: dict[str, str], found: Findings) -> None:
    if outcome.name == GOOD.name:
        if outcome.document is None:
            found.faults.append(f"the good file failed: {outcome.error}")
        return
    said = _said(outcome)
    found.outcomes[said] += 1
    error = outcome.error
    if (outcome.document is None) == (error is None):
        found.faults.append(f"{outcome.name}: neither a document nor an error, or both")
    if error is not None and not (isinstance(error, DocumentError) and error.remedy):
        found.faults.append(f"{outcome.name}: {error!r}")
    if said.startswith("reading it failed"):  # an exception that nobody foresaw
        found.faults.append(f"{outcome.name} ({kinds[outcome.name]}): {error}")


def _said(outcome: Ingested) -> str:
    if outcome.document is not None:
        report = outcome.document.report
        return "read, repaired" if report.repaired else "read"
    if isinstance(outcome.error, DuplicateDocument):
        return "the same as another"
    problem = re.sub(r"[“\"'].*?[”\"']|\d[\d,.]*", "…", outcome.error.problem)
    return re.sub(r"\s*\(.*?\)", "", problem)[:80]


def main() -> None:
    """Run, print, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = fuzz(options.count, options.seed)
    result = {
        "files": found.files,
        "seed": options.seed,
        "minutes": round(found.seconds / 60, 1),
        "slowest_seconds": round(found.slowest, 1),
        "kinds": dict(found.kinds.most_common()),
        "outcomes": dict(found.outcomes.most_common()),
        "faults": found.faults,
    }
    print(json.dumps(result, indent=2, ensure_ascii=False))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
