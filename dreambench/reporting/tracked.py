"""A finished run as experiment trackers take it: flat values, flat settings, files. `mlflow_run` and `wandb_run` hand it over.

A value's name is `AGENT/METRIC.VARIANT/JUDGE`, of a changed text `AGENT.ARM/...`: the primary macro mean of `scores.parquet`,
with `.low`, `.high` (95 %) and `.n` (tasks) beside it where there are any. Shares are in [0, 1]. What has no value is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.metrics.aggregation import ARM
from dreambench.reporting.finished import FinishedRun, read_config
from dreambench.runs.assembly import CLEAN

PROJECT = "dreambench"
"""What trackers file runs under, unless their own variables name something else."""
_STRANGE = re.compile(r"[^\w. -]", re.ASCII)


@dataclass(frozen=True)
class TrackedRun:
    """What is handed over of one run."""

    run: FinishedRun

    @property
    def id(self) -> str:
        """The run's id, the same in every export of it."""
        return str(self.run.summary["run"])

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return self.run.folder.root.name

    @property
    def complete(self) -> bool:
        """Whether no cell was owed when the run ended."""
        return bool(self.run.summary["complete"])

    @cached_property
    def primary(self) -> pl.DataFrame:
        """The rows of `scores.parquet` that tables lead with."""
        return self.run.scores.filter(pl.col("primary"), pl.col("aggregation") == "macro")

    @cached_property
    def values(self) -> dict[str, float]:
        """Scores with their intervals, and what the run spent (`spent.money` in US dollars)."""
        found: dict[str, float] = {}
        for row in self.primary.iter_rows(named=True):
            name = _name(row, found)
            known = {name: row["value"], f"{name}.low": row["low"], f"{name}.high": row["high"], f"{name}.n": row["n_tasks"]}
            found |= {key: float(value) for key, value in known.items() if value is not None}
        spent = {f"spent.{key}": value for key, value in self.run.summary["spent"].items()}
        return found | {key: float(value) for key, value in spent.items() if isinstance(value, int | float)}

    @cached_property
    def settings(self) -> dict[str, str]:
        """The configuration by dotted key. Keys of providers are no part of it: they live in the environment only."""
        return dict(_flat(read_config(self.run.folder)))

    @cached_property
    def tags(self) -> dict[str, str]:
        """What must be known beside the numbers."""
        judges = {f"judge.{name}": judge["note"] for name, judge in self.run.summary["judges"].items() if judge["note"]}
        known = {"run": self.id, "complete": str(self.complete).lower(), "scoring": str(self.run.summary["scoring"])}
        return {f"dreambench.{key}": value for key, value in (known | judges).items()}

    @cached_property
    def files(self) -> list[Path]:
        """The report page, the tables, configuration and summary, and what the study wrote; those that are there."""
        folder = self.run.folder
        tables = [folder.scores, folder.report_scores, folder.judgments, folder.calls]
        studied = sorted(folder.study.iterdir()) if folder.study.is_dir() else []
        return [path for path in (folder.page, folder.config, folder.summary, *tables, *studied) if path.is_file()]


def _name(row: Mapping[str, Any], taken: Mapping[str, float]) -> str:
    """The value's name in letters that every tracker takes; a second one that looks the same gets a number."""
    arm = [] if row["perturbation"] == CLEAN else [str(row[key]) for key in ARM if row[key] is not None]
    rubric = [] if row["rubric"] in ("", "default") else [row["rubric"]]
    parts = [".".join([row["agent"], *arm]), ".".join([row["metric"], *rubric, row["variant"]]), row["judge"]]
    name = "/".join(_STRANGE.sub("-", part) for part in parts)
    same = sum(key == name or key.startswith(f"{name}~") for key in taken)
    return f"{name}~{same + 1}" if same else name


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of nested mappings by dotted key; lists stay whole."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, str(value)
