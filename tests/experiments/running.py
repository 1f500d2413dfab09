"""Runs an experiment in this process at tiny size, and makes frames by hand for a study's arithmetic."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
from omegaconf import OmegaConf

from dreambench.config.compose import compose
from dreambench.config.studies import load_study
from dreambench.engine.clock import Clock
from dreambench.metrics.aggregation import SCORE_SCHEMA
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.progress import RunProgress
from dreambench.runs.assembly import validate
from dreambench.runs.execute import execute

TINY = ["dataset.ids=[euro-area-enlargement,saturn-moons]", "judge=[embedded]"]
"""Two tasks of the demo, all four agents, the judge that needs least."""


def run_experiment(name: str, folder: Path, *overrides: str) -> FinishedRun:
    """The finished run of an experiment; its study is not made yet."""
    paths = [f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}"]
    composed = compose([f"+experiment={name}", *paths, *overrides])
    clock = Clock()
    config = validate(composed, clock)
    result = asyncio.run(execute(config, OmegaConf.to_yaml(composed, resolve=True), RunProgress, clock))
    assert result.outcome.complete
    return FinishedRun(result.folder, config.study_inputs)


def make(name: str, run: FinishedRun) -> set[str]:
    """Makes the study; the names of the files that it wrote, every one of them there and not empty."""
    written = load_study(name).make(run)
    assert all(path.stat().st_size > 0 for path in written)
    assert {path.parent for path in written} == {run.output}
    return {path.name for path in written}


def study(name: str) -> ModuleType:
    return load_study(name)


def files(*tables: str, figures: Sequence[str] = ()) -> set[str]:
    """The files of a study with these tables and figures."""
    made = {f"{table}.{ending}" for table in tables for ending in ("csv", "md", "tex")}
    return made | {f"{figure}.{ending}" for figure in figures for ending in ("svg", "png")} | {"findings.md"}


def score_row(**given: Any) -> dict[str, Any]:
    """One row of a score table, usual values where nothing is given."""
    usual: dict[str, Any] = {
        **{name: "" for name, kind in SCORE_SCHEMA.items() if kind == pl.String},
        **{name: 0 for name, kind in SCORE_SCHEMA.items() if kind == pl.Int64},
        "dose": 0.0,
        "perturbation": "clean",
        "judge": "a",
        "primary": True,
        "aggregation": "macro",
        "unit": "share",
        "value": None,
        "low": None,
        "high": None,
    }
    return {**usual, **given}


def scores(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([score_row(**row) for row in rows], schema=SCORE_SCHEMA)


def report_values(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Report scores with usual values where nothing is given."""
    usual = {
        "dataset": "d",
        "task": "t",
        "report": "r",
        "agent": "x",
        "perturbation": "clean",
        "metric": "m",
        "rubric": "default",
        "judge": "a",
        "repeat": 0,
        "variant": "mean",
        "unit": "share",
        "primary": True,
    }
    return pl.DataFrame([{**usual, **row} for row in rows], infer_schema_length=None)
