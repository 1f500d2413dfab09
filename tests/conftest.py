"""Fixtures shared by all tests: real data where it is given, and a gateway with the real engine parts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.gateway import TestGateway, make_gateway

# No deadlines: machines differ, and no test here is about speed. CI draws the same examples every time.
settings.register_profile("dreambench", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("dreambench")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder that $DREAMBENCH_DATA names; tests over all real reports are skipped without it."""
    folder = os.environ.get("DREAMBENCH_DATA")
    if not folder:
        why = "set DREAMBENCH_DATA to a folder with drb/, odr/, drb2/ and deepweb/ to run this test"
        if os.environ.get("DREAMBENCH_REQUIRE_DATA"):
            pytest.fail(why)
        pytest.skip(why)
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"DREAMBENCH_DATA={folder} is no folder")
    return path


@pytest.fixture
def gateway(tmp_path: Path) -> TestGateway:
    """A gateway over an empty store in a temporary folder; `.records` is its ledger."""
    return make_gateway(tmp_path)
