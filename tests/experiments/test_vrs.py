"""The experiment on expert consulting runs from saved grades without a key; the embedded judge refuses to grade."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.reporting.finished import FinishedRun
from tests.apps.command import ROOT
from tests.experiments.running import files, make, run_experiment, study

SLICE = ROOT / "tests" / "data" / "vrs"
PACKAGES = SLICE / "packages.jsonl"
OWN = ["dataset=vrs", "dataset.ids=null", f"dataset.queries={PACKAGES}", f"dataset.reports={SLICE / 'reports'}"]
DATA = [*OWN, f"metric.vrs.packages={PACKAGES}"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return run_experiment("vrs", tmp_path_factory.mktemp("vrs"), *DATA, f"metric.vrs.saved={SLICE / 'grades.jsonl'}")


def test_saved_grades_give_every_table(run: FinishedRun) -> None:
    tables = ["systems", "by_type", "effects", "paired", "mcnemar", "weights", "sole_cause", "criteria", "wins"]
    assert make("vrs", run) == files(*tables, "accept_counts", figures=["by_type"])
    said = (run.output / "findings.md").read_text(encoding="utf-8")
    assert "paper" not in said, "the run's findings are about the run"


def test_the_papers_own_numbers_are_shown_where_they_are_asked_for_and_named_as_the_papers(run: FinishedRun) -> None:
    asked = replace(run, inputs={**run.inputs, "published": True})
    assert {"published.csv", "versions.csv"} <= make("vrs", asked)
    said = (run.output / "findings.md").read_text(encoding="utf-8")
    assert "## The paper (arXiv 2605.17554), not this run" in said and "30 printed numbers" in said
    with pytest.raises(InputError, match="neither true nor false"):
        study("vrs").check({"published": "yes"})
    systems = pl.read_csv(run.output / "systems.csv")
    macro = run.scores.filter(pl.col("variant") == "vrs", pl.col("aggregation") == "macro")
    assert dict(systems.select("agent", "vrs").iter_rows()) == pytest.approx(
        dict(macro.select("agent", "value").iter_rows()), abs=1e-6
    )
    assert run.calls.is_empty(), "nobody was asked"


def test_the_embedded_judge_refuses_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rules for questions of kind verifiers"):
        run_experiment("vrs", tmp_path, *DATA, "metric.vrs.saved=null")
