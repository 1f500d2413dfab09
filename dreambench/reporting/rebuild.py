"""What a finished run was made with, built again from its stored configuration: its metrics, its data set."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import cached_property

from omegaconf import OmegaConf

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.config.schema import RunConfig
from dreambench.datasets import Dataset
from dreambench.engine.clock import Clock
from dreambench.errors import ConfigError, InputError, Problem
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.metric import Metric
from dreambench.protocols.source import NoProtocols
from dreambench.reporting.finished import FinishedRun, read_config
from dreambench.runs.assembly import build_metrics, validate
from dreambench.tools.tool import Tool, ToolCallError
from dreambench.tools.toolset import NoTools

READING = ("page_visit", "pdf_fetch", "arxiv", "github")
OFFERS: Sequence[Sequence[str]] = (("web_search", *READING, "calculate"), (*READING, "calculate"), ())
"""What tool sets offer, the most first: all, pages without a search, nothing."""


class StoredTools(NoTools):
    """Stands for the tools of a finished run: says what they offered, so that metrics are what they were, and does nothing."""

    def __init__(self, offered: Sequence[str]) -> None:
        self._offered = offered

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        return {name: Tool(name, "", _refuse, parameters={}) for name in self._offered}


async def _refuse(arguments: Mapping[str, object]) -> str:
    raise ToolCallError("the tools of a finished run are not opened again")


def stored_config(run: FinishedRun) -> RunConfig:
    """The run's configuration as it was last started. Raises ConfigError where this version reads it no more."""
    return validate(OmegaConf.create(read_config(run.folder)), Clock())


def rebuild_metrics(run: FinishedRun) -> dict[str, Metric]:
    """The run's metrics by node name, for what they say of their items; without network and keys: they measure nothing.

    What some metrics lead with and how their items are named depends on the tools (Citation Integrity without tools that open
    pages). The tools are not made again: of OFFERS the first counts under which most of the run's items have their metric.
    Raises InputError where the metrics cannot be made any more.
    """
    config = stored_config(run)
    shelf = RubricShelf([*config.paths.rubrics, bundled("rubrics")])
    stored = set(run.judgments.select("metric", "rubric").unique().rows())

    def made(offered: Sequence[str]) -> dict[str, Metric]:
        tools = StoredTools(offered)
        return build_metrics(config, shelf=shelf, tools=tools, protocols=NoProtocols(), trajectories=Trajectories())

    def unnamed(metrics: Mapping[str, Metric]) -> int:
        return len(stored - {(metric.id, metric.rubric_variant) for metric in metrics.values()})

    best = made(OFFERS[0])
    for offered in OFFERS[1:]:
        if not unnamed(best):
            break
        with contextlib.suppress(ConfigError):  # a metric of the run refuses to be without these tools: they were there
            best = min(best, made(offered), key=unnamed)
    return best


def load_dataset(run: FinishedRun) -> Dataset:
    """The run's data set, read again. Raises InputError where it is not there any more or holds other reports."""
    config = stored_config(run)
    dataset: Dataset = build("dataset", config.dataset).load(config.run_date)
    there = {report.id for report in dataset.reports}
    missing = sorted(set(run.judgments["report"].unique()) - there)
    if missing:
        what = f"{len(missing)} of the run's reports are not in it any more (the files changed): {', '.join(missing[:3])}"
        raise InputError(Problem("dataset", what, type="call from the folder where the run was made, with the same files"))
    return dataset
