"""The canary: a few reports of a finished run are judged anew, past every cache, to see whether the judge still answers so.

A hosted model can change under its name. The canary is a small run of its own below the study's folder, with the same
configuration; each start of the run's command adds one, so that drift shows over time. It pays for its calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from omegaconf import DictConfig, OmegaConf

from dreambench.config.schema import CacheSettings, RunConfig
from dreambench.engine.clock import Clock
from dreambench.engine.store import CacheMode
from dreambench.records import short_hash
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.progress import RunProgress
from dreambench.runs.assembly import CLEAN, CODE, validate
from dreambench.runs.execute import execute

KEYS = ["report", "metric", "rubric", "judge", "item", "repeat"]


def ask_again(run: FinishedRun, wanted: int) -> pl.DataFrame:
    """At least `wanted` judgments of whole reports, asked again: KEYS, task, agent, family, label, value and those `_now`.

    Fewer where the run has fewer; none (an empty table) for `wanted` = 0 or a run without judges. Raises what a run raises.
    """
    stored = judged_once(run.judgments)
    tasks, agent = drawn_reports(stored, wanted, str(run.summary["run"]))
    if not tasks:
        return match(stored, stored.clear())
    clock = Clock()
    folder = run.output / "canary" / str(_attempts(run.folder.root))
    config = small_config(run, folder, tasks, agent, clock)
    result = asyncio.run(execute(config, f"# canary of run {run.summary['run']}\n", RunProgress, clock))
    return match(stored, judged_once(result.tables["judgments"]))


def judged_once(judgments: pl.DataFrame) -> pl.DataFrame:
    """The first repeat of what judges said about unchanged reports."""
    return judgments.filter(pl.col("judge") != CODE, pl.col("perturbation") == CLEAN, pl.col("repeat") == 0)


def drawn_reports(stored: pl.DataFrame, wanted: int, seed: str) -> tuple[list[str], str]:
    """One agent and as many of its tasks, drawn by `seed`, as hold `wanted` judgments together."""
    if wanted < 1 or stored.is_empty():
        return [], ""
    agents = stored.group_by("agent").len().sort(pl.col("len"), "agent", descending=[True, False])["agent"].to_list()
    most = [agent for agent in agents if stored.filter(pl.col("agent") == agent).height >= wanted] or agents[:1]
    agent = min(most, key=lambda name: short_hash("canary", seed, name))
    sizes = dict(stored.filter(pl.col("agent") == agent).group_by("task").len().iter_rows())
    tasks: list[str] = []
    for task in sorted(sizes, key=lambda name: short_hash("canary", seed, name)):
        if sum(sizes[name] for name in tasks) >= wanted:
            break
        tasks.append(task)
    return tasks, agent


def small_config(run: FinishedRun, folder: Path, tasks: list[str], agent: str, clock: Clock) -> RunConfig:
    """The run's configuration for these reports: one repeat, no arms, its own protocols, nothing taken from a cache."""
    composed = OmegaConf.load(run.folder.config)
    assert isinstance(composed, DictConfig)
    config = validate(composed, clock)
    references = {str(node["reference_agent"]) for node in config.metric.values() if node.get("reference_agent")}
    chosen = {"ids": tasks, "agents": sorted({agent, *references}), "sample": None, "limit": None, "tasks": "reported"}
    made = run.folder.root / "protocols"
    files = {"_target_": "dreambench.protocols.source.FileProtocols", "path": str(made)}
    return config.model_copy(
        update={
            "dataset": {**config.dataset, **chosen},
            "metric": {name: _once(node) for name, node in config.metric.items()},
            "perturbation": {},
            "protocol": files if any(made.glob("*.json")) else config.protocol,
            "cache": CacheSettings(mode=CacheMode.OFF),
            "paths": config.paths.model_copy(update={"outputs": folder}),
            "study": None,
            "study_inputs": {},
        }
    )


def match(stored: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Stored judgments beside those of now, for the items that both hold."""
    columns = ["status", "label", "value"]
    one = stored.select(*KEYS, "task", "agent", "family", *columns)
    other = now.select(*KEYS, *(pl.col(name).alias(f"{name}_now") for name in columns))
    return one.join(other, on=KEYS, how="inner").sort(KEYS)


def _once(node: Mapping[str, Any]) -> dict[str, Any]:
    return {**node, "repeats": 1} if "repeats" in node else dict(node)


def _attempts(root: Path) -> int:
    return sum(path.name.isdigit() for path in (root / "attempts").iterdir())
