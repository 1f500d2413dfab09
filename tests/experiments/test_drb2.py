"""The experiment on DeepResearch Bench II runs without a key, and its tables are those of its item table."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.reporting.finished import FinishedRun
from tests.apps.command import ROOT
from tests.experiments.running import files, make, run_experiment

SLICE = ROOT / "tests" / "data" / "drb2"
TASKS = SLICE / "tasks_and_rubrics.jsonl"
OWN = ["dataset=drb2", "dataset.ids=null", f"dataset.queries={TASKS}", f"dataset.reports={SLICE / 'report'}"]
DATA = [*OWN, f"metric.drb2.rubrics={TASKS}"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    recorded = [f"study_inputs.matrix={SLICE / 'matrix'}", f"study_inputs.results={SLICE / 'merged.jsonl'}"]
    traces = f"metric.drb2.traces={SLICE / 'traces'}"
    return run_experiment("drb2", tmp_path_factory.mktemp("drb2"), *DATA, *recorded, traces)


def test_run_matrix_and_saved_lines_stand_in_the_same_tables(run: FinishedRun) -> None:
    tables = files("policies", "ranks", "order_changes", "agreement", "tests", "leakage", figures=["policies"])
    assert make("drb2", run) == tables
    policies = pl.read_csv(run.output / "policies.csv")
    assert dict(policies.group_by("source", maintain_order=True).agg(pl.col("agent").sort().str.join(" ")).iter_rows()) == {
        "matrix": "gull heron tern",
        "results": "gull heron",
        "run[default,info_recall+analysis]": "gull heron",
    }
    items = run.judgments.filter(pl.col("family").is_in(["info_recall", "analysis"]))
    pooled = dict(items.group_by("agent").agg(pl.col("value").mean()).iter_rows())
    own = policies.filter(pl.col("judge") == "embedded")
    assert dict(own.select("agent", "micro").iter_rows()) == pytest.approx(pooled, abs=1e-6)
    leaks = pl.read_csv(run.output / "leakage.csv").filter(pl.col("agent") == "heron", pl.col("share") > 0)
    assert dict(leaks.select("state", "share").iter_rows()) == {"viewed_not_cited": 0.5, "cited": 0.5}


def test_presentation_is_refused_by_the_embedded_judge_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"metric.drb2.dimensions=\[info_recall,analysis\]"):
        run_experiment("drb2", tmp_path, *DATA, "metric.drb2.dimensions=null")
