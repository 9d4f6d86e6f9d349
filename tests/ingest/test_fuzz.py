"""A few odd files through the ingest entry; two thousand are in ``tests/slow``."""

from __future__ import annotations

from tests.ingest.fuzz import fuzz
from tests.ingest.mutations import odd_files


def test_odd_files_are_read_or_refused_in_words() -> None:
    found = fuzz(60, seed=11, batch=30)
    assert found.faults == []
    assert found.files == sum(found.outcomes.values()) == 60
    # Some are read and some are not: the mutations neither spare nor spoil all of them.
    assert found.outcomes["read"] > 5 and len(found.outcomes) > 5


def test_the_same_seed_makes_the_same_files() -> None:
    once, again = list(odd_files(30, 5)), list(odd_files(30, 5))
    assert [(k, s.name, s.data) for k, s in once] == [(k, s.name, s.data) for k, s in again]
