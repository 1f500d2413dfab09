"""Studies: modules of `experiments/` that turn a finished run into that study's tables, figure and findings."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import yaml

from dreambench.config.locations import bundled
from dreambench.config.studies import check_study
from dreambench.errors import ConfigError
from dreambench.runs.folder import RunFolder


@dataclass(frozen=True)
class StudyRun:
    """A finished run, as a study reads it. Every table is read when it is first asked for."""

    folder: RunFolder

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
        return pl.read_parquet(self.folder.calls)

    @cached_property
    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = json.loads(self.folder.summary.read_text(encoding="utf-8"))
        return summary

    @cached_property
    def inputs(self) -> Mapping[str, Any]:
        """What the user named for the study beside the run (`study_inputs.<key>=...`)."""
        config = yaml.safe_load(self.folder.config.read_text(encoding="utf-8"))
        return dict(config.get("study_inputs") or {})

    @property
    def output(self) -> Path:
        """Where the study writes."""
        return self.folder.study


def make_study(name: str, folder: RunFolder) -> Sequence[Path]:
    """Runs the study `name` on a finished run and returns what it wrote.

    Raises ConfigError for an unknown study, and what the study raises: InputError where an input of it is missing.
    """
    written: Sequence[Path] = _module(name).make(StudyRun(folder))
    return written


def check_inputs(name: str | None, inputs: Mapping[str, Any]) -> None:
    """Raises ConfigError before the run for inputs that its study could not use; a study may have a function `check`."""
    if name is None:
        return
    check = getattr(_module(name), "check", None)
    if problems := check(inputs) if check else []:
        raise ConfigError(*problems)


def _module(name: str) -> ModuleType:
    check_study(name)
    spec = importlib.util.spec_from_file_location(f"dreambench_study_{name}", bundled("experiments") / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
