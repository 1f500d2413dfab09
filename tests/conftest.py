"""Fixtures shared by all tests: real data where it is given, and a gateway with the real engine parts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
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


@pytest.fixture(autouse=True)
def _modules_of_a_test_go_with_its_folder(request: pytest.FixtureRequest) -> Iterator[None]:
    """Packages that a test writes and imports (`my_parts`) are not found by the next one under the same name."""
    here = str(request.getfixturevalue("tmp_path")) if "tmp_path" in request.fixturenames else None
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before if here else ():
        spec = getattr(sys.modules[name], "__spec__", None)
        places = [getattr(spec, "origin", None), *(getattr(spec, "submodule_search_locations", None) or [])]
        if any(place and place.startswith(here) for place in places):
            del sys.modules[name]
