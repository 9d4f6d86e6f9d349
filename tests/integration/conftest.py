"""The sample documents are read and indexed once for all tests that ask them."""

from __future__ import annotations

import pytest

from core.session import embedded_pipeline, open_documents
from core.settings import Settings
from tests.integration.samples import SAMPLES, World


@pytest.fixture(scope="session")
def world() -> World:
    pipeline = embedded_pipeline()
    return World(pipeline, open_documents([SAMPLES], Settings(), pipeline.encoder))
