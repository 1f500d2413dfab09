"""Runs that lie on disk: which there are, the one that is meant by a path, a name or the start of an id, and its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from dreambench.errors import ConfigError, Problem, nearest
from dreambench.reporting.shards import fetch_run, is_address, is_exported
from dreambench.runs.folder import RunFolder

OUTPUTS = Path("outputs")
SHOWN = 6


@dataclass(frozen=True)
class FinishedRun:
    """A finished run, as reports, comparisons and studies read it. Every table is read when it is first asked for."""

    folder: RunFolder
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What a study reads beside the run: the configuration's `study_inputs`."""

    @cached_property
    def scores(self) -> pl.DataFrame:
        """One row per agent, judge, metric, variant, arm and aggregation, with interval."""
        return pl.read_parquet(self.folder.scores)

    @cached_property
    def report_scores(self) -> pl.DataFrame:
        """One row per report, judge, repeat and variant."""
        return pl.read_parquet(self.folder.report_scores)

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """The item table."""
        return pl.read_parquet(self.folder.judgments)

    @cached_property
    def calls(self) -> pl.DataFrame:
        """The ledger: one row per call."""
        return pl.read_parquet(self.folder.calls)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` says: outcome, spending, findings."""
        summary: dict[str, Any] = json.loads(self.folder.summary.read_text(encoding="utf-8"))
        return summary

    @property
    def output(self) -> Path:
        """Where the study writes."""
        return self.folder.study


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run as a list shows it. `status` is `complete`, `incomplete` (owed cells) or `unfinished` (no attempt ended)."""

    id: str
    path: Path
    status: str
    metrics: Sequence[str]
    judges: Sequence[str]
    owed: int | None
    changed: float
    """Seconds since 1970 of the last line of its journal."""


def is_run(folder: Path) -> bool:
    """Whether `folder` is a run's: it has a journal."""
    return (folder / "journal.jsonl").is_file()


def exported_folders(where: Path) -> list[Path]:
    """Folders in `where` that runs were exported to."""
    return sorted(path for path in where.iterdir() if path.is_dir() and is_exported(path)) if where.is_dir() else []


def run_folders(where: Path) -> list[Path]:
    """Run folders in `where`, the last worked on first; `where` itself when it is one."""
    if is_run(where):
        return [where]
    found = [path for path in where.iterdir() if path.is_dir() and is_run(path)] if where.is_dir() else []
    return sorted(found, key=lambda path: (-(path / "journal.jsonl").stat().st_mtime, path.name))


def run_line(folder: Path) -> RunLine:
    """What a list shows of one run."""
    run = RunFolder(folder)
    config = read_config(run)
    summary: dict[str, Any] = json.loads(run.summary.read_text(encoding="utf-8")) if run.summary.is_file() else {}
    status = "unfinished" if not summary else "complete" if summary["complete"] else "incomplete"
    owed = summary["cells"]["owed"] if summary else None
    changed = run.journal.stat().st_mtime
    return RunLine(folder.name.rpartition("-")[2], folder, status, list(config["metric"]), list(config["judge"]), owed, changed)


def read_config(run: RunFolder) -> dict[str, Any]:
    """The composed configuration that a run was last started with. Raises ConfigError when it is not there."""
    if not run.config.is_file():
        raise ConfigError(Problem(str(run.root), "has no config.yaml: it is not a whole run folder"))
    config: dict[str, Any] = yaml.safe_load(run.config.read_text(encoding="utf-8"))
    return config


def find_run(where: str, outputs: Path = OUTPUTS) -> RunFolder:
    """The run that `where` means: its folder, its folder's name below `outputs`, or the start of its id there.

    An address (`s3://bucket/run`) or a folder that a run was exported to means a copy: it is fetched.
    Raises ConfigError naming the runs that there are.
    """
    if is_address(where):
        return fetch_run(where)
    path = Path(where)
    if is_run(path):
        return RunFolder(path)
    if is_exported(path):
        return fetch_run(f"file://{path.resolve()}")
    runs = run_folders(outputs)
    names = [run.name for run in runs]
    if path.is_dir():
        inside = [run.name for run in run_folders(path)]
        what = f"is no run folder{f', it holds {len(inside)}: name one' if inside else ''}"
        raise ConfigError(Problem(where, what, inside[:SHOWN], str(path / inside[0]) if inside else None))
    fitting = [run for run in runs if run.name == where or run.name.rpartition("-")[2].startswith(where)]
    if len(fitting) == 1:
        return RunFolder(fitting[0])
    what = f"fits {len(fitting)} runs below {outputs}" if fitting else f"is no run folder, and no run below {outputs}"
    near = None if fitting else nearest(where, names)
    what += f"; did you mean {near}?" if near else ""
    allowed = [run.name for run in fitting or runs][:SHOWN]
    raise ConfigError(Problem(where, what, allowed or ["the folder of a run"], "python -m dreambench ls runs FOLDER"))


def open_run(where: str) -> FinishedRun:
    """The finished run that `where` means, complete or not. Raises ConfigError when no attempt at it has ended."""
    folder = find_run(where)
    needed = (folder.summary, folder.judgments, folder.report_scores, folder.scores)
    if missing := [path.name for path in needed if not path.is_file()]:
        what = f"no attempt at this run has ended yet ({', '.join(missing)} not written)"
        raise ConfigError(Problem(str(folder.root), what, type="run its command again: it goes on"))
    return FinishedRun(folder)
