"""Studies: modules of `experiments/` that turn a finished run into that study's tables, figure and findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from dreambench.config.studies import load_study
from dreambench.runs.folder import RunFolder


@dataclass(frozen=True)
class StudyRun:
    """A finished run, as a study reads it. Every table is read when it is first asked for."""

    folder: RunFolder
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What the study reads beside the run: the configuration's `study_inputs`."""
    say: Callable[[str], None] = lambda _: None
    """Shows text to whoever runs the study; a run on the command line prints it."""

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
    def config(self) -> dict[str, Any]:
        """The composed configuration."""
        config: dict[str, Any] = yaml.safe_load(self.folder.config.read_text(encoding="utf-8"))
        return config

    @cached_property
    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = json.loads(self.folder.summary.read_text(encoding="utf-8"))
        return summary

    @property
    def output(self) -> Path:
        """Where the study writes."""
        return self.folder.study


def make_study(
    name: str, folder: RunFolder, inputs: Mapping[str, Any], say: Callable[[str], None] = lambda _: None
) -> Sequence[Path]:
    """Runs the study `name` on a finished run and returns what it wrote. Raises ConfigError for an unknown study."""
    written: Sequence[Path] = load_study(name).make(StudyRun(folder, inputs, say))
    return written
