"""Tiny runs that several studies read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dreambench.commands.main import main_code
from dreambench.reporting.finished import FinishedRun
from tests.experiments.running import TINY, run_experiment

TinyRun = Callable[..., Path]


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """WQ and length of two demo tasks by the embedded judge."""
    folder: Path = tmp_path_factory.mktemp("demo")
    return run_experiment("leaderboard", folder, *TINY, "metric=[wq,length]")


@pytest.fixture(scope="session")
def ways_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Three reports to one demo task, WQ in three wordings and scales, KIC batched and one by one, by the embedded judge."""
    folder: Path = tmp_path_factory.mktemp("ways")
    ways = ["metric.wq.rubric=[default,terse,scale5]", "dataset.ids=saturn-moons", "dataset.agents=[good,stale,fluent_wrong]"]
    return run_experiment("rubric_ablation", folder, "judge=[embedded]", *ways)


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
