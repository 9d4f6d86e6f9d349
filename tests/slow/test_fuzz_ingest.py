"""Thousands of odd files through the ingest entry: minutes."""

from __future__ import annotations

import pytest

from tests.ingest.fuzz import fuzz
from tests.ingest.mutations import CHANGES

pytestmark = pytest.mark.slow


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [7, 19])
def test_thousands_of_odd_files_are_read_or_refused_in_words(seed: int) -> None:
    found = fuzz(2000, seed)
    assert found.faults == []
    assert found.files == sum(found.outcomes.values()) == 2000
    assert set(CHANGES) <= set(found.kinds)
