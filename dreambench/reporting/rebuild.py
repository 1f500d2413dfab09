"""What a finished run was made with, built again from its stored configuration: its metrics, its data set."""

from __future__ import annotations

from omegaconf import OmegaConf

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.config.schema import RunConfig
from dreambench.datasets import Dataset
from dreambench.engine.clock import Clock
from dreambench.errors import InputError, Problem
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.metric import Metric
from dreambench.protocols.source import NoProtocols
from dreambench.reporting.finished import read_config
from dreambench.reporting.study import StudyRun
from dreambench.runs.assembly import build_metrics, validate
from dreambench.tools.toolset import NoTools


def stored_config(run: StudyRun) -> RunConfig:
    """The run's configuration as it was last started. Raises ConfigError where this version reads it no more."""
    return validate(OmegaConf.create(read_config(run.folder)), Clock())


def rebuild_metrics(run: StudyRun) -> dict[str, Metric]:
    """The run's metrics by node name, for what they say of their items; without tools and protocols: they measure nothing."""
    config = stored_config(run)
    shelf = RubricShelf([*config.paths.rubrics, bundled("rubrics")])
    return build_metrics(config, shelf=shelf, tools=NoTools(), protocols=NoProtocols(), trajectories=Trajectories())


def load_dataset(run: StudyRun) -> Dataset:
    """The run's data set, read again. Raises InputError where it is not there any more or holds other reports."""
    config = stored_config(run)
    dataset: Dataset = build("dataset", config.dataset).load(config.run_date)
    there = {report.id for report in dataset.reports}
    missing = sorted(set(run.judgments["report"].unique()) - there)
    if missing:
        what = f"{len(missing)} of the run's reports are not in it any more (the files changed): {', '.join(missing[:3])}"
        raise InputError(Problem("dataset", what, type="call from the folder where the run was made, with the same files"))
    return dataset
