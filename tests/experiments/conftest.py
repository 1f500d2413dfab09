"""Studies run as a user runs them, at tiny size, in this process and with one cache for all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dreambench.commands.main import main_code

TinyRun = Callable[..., Path]


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    """`tiny_run("metric_audit", "metric=[wq]", ...)`: runs `+experiment=` with overrides and returns the run's folder."""
    root = tmp_path_factory.mktemp("studies")

    def run(experiment: str, *overrides: str) -> Path:
        outputs = root / f"{experiment}-{len(list(root.iterdir()))}"
        paths = [f"paths.outputs={outputs}", f"paths.cache={root / 'cache'}"]
        assert main_code([f"+experiment={experiment}", *paths, *overrides]) == 0
        (folder,) = outputs.iterdir()
        return folder

    return run
