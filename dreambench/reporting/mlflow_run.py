"""Hands a finished run over to MLflow through its own client: one MLflow run with scores, settings, tags and files.

Where to: MLFLOW_TRACKING_URI, or a SQLite file of the given folder. The experiment is MLFLOW_EXPERIMENT_NAME, or `dreambench`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.errors import ConfigError, Problem
from dreambench.install import extra_hint
from dreambench.reporting.taken import taken
from dreambench.reporting.tracked import PROJECT, TrackedRun

BATCH = 100
"""Settings in one request, MLflow's own limit; it takes 1,000 values."""
LONGEST = 500
"""Characters of a setting's value; older servers take no more."""
RUN_TAG = "dreambench.run"


@dataclass(frozen=True, slots=True)
class Written:
    """Where the run is now."""

    where: str
    experiment: str
    run: str
    replaced: int
    """Earlier exports of the same run that were moved to MLflow's bin."""


def write_mlflow_run(tracked: TrackedRun, folder: Path, *, replace: bool = False) -> Written:
    """Logs the run; with `replace` an earlier export of it is deleted there, which MLflow can undo.

    Raises ConfigError without the client, and, without `replace`, where the run is there already.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow import MlflowClient
    except ModuleNotFoundError as error:
        raise ConfigError(Problem("--to mlflow", f"{error.name} is not installed", type=extra_hint("mlflow"))) from error
    given = os.environ.get("MLFLOW_TRACKING_URI")
    if not given:
        folder.mkdir(parents=True, exist_ok=True)
    where = given or f"sqlite:///{folder.resolve() / 'mlflow.db'}"
    client = MlflowClient(tracking_uri=where)
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
    experiment = _experiment(client, name, None if given else (folder.resolve() / "artifacts").as_uri())
    before = client.search_runs([experiment], filter_string=f"tags.`{RUN_TAG}` = '{tracked.id}'")
    if before and not replace:
        raise taken(f"{where}, experiment {name}")
    for old in before:
        client.delete_run(old.info.run_id)
    made = client.create_run(experiment, run_name=tracked.name, tags=tracked.tags)
    _log(client, made.info.run_id, made.info.start_time, tracked)
    client.set_terminated(made.info.run_id, "FINISHED" if tracked.complete else "FAILED")
    return Written(where, name, made.info.run_id, len(before))


def _experiment(client: Any, name: str, artifacts: str | None) -> str:
    there = client.get_experiment_by_name(name)
    return str(there.experiment_id if there else client.create_experiment(name, artifact_location=artifacts))


def _log(client: Any, run: str, time: int, tracked: TrackedRun) -> None:
    from mlflow.entities import Metric, Param

    client.log_batch(run, metrics=[Metric(name, value, time, 0) for name, value in tracked.values.items()])
    settings = [Param(key, value[:LONGEST]) for key, value in tracked.settings.items()]
    for start in range(0, len(settings), BATCH):
        client.log_batch(run, params=settings[start : start + BATCH])
    for path in tracked.files:
        inside = path.parent.relative_to(tracked.run.folder.root).as_posix()
        client.log_artifact(run, str(path), None if inside == "." else inside)
