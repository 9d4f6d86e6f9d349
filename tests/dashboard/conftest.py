"""What tests that run the app put back."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit puts the script that it runs in the place of ``__main__``, and leaves it there:
    processes that later tests start would import it."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before
