"""Taxonomy: clusters and agreement by hand, the demo's criteria sorted in a run, and the benchmark's where they are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.reporting.finished import FinishedRun
from dreambench.studies.similarity import in_plane, silhouettes, vectors
from tests.experiments.running import files, make, run_experiment, study

taxonomy = study("taxonomy")


def test_likeness_by_hand() -> None:
    rows = vectors(["clear headings", "clear headings", "primary sources", "headings"])
    likeness = rows @ rows.T
    assert likeness[0, 1] == pytest.approx(1.0)
    assert likeness[0, 2] == 0.0
    assert 0 < likeness[0, 3] < 1
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1, 1])
    assert in_plane(rows).shape == (4, 2)
    assert silhouettes(rows[:3], ["p", "p", "s"]) == pytest.approx([1.0, 1.0, 0.0])
    assert silhouettes(rows[:3], ["p", "s", "s"])[1] == pytest.approx(-1.0)


def test_two_judges_are_compared_by_kappa() -> None:
    labels = {"a": ["x", "x", "y", "y"], "b": ["x", "y", "y", "y"]}
    rows = [
        {"judge": judge, "task": f"t{n}", "dimension": "d", "item": str(n), "vertical": label}
        for judge, given in labels.items()
        for n, label in enumerate(given)
    ]
    (row,) = taxonomy.judge_agreement(pl.DataFrame(rows)).iter_rows(named=True)
    assert row["equal"] == 0.75
    assert row["kappa"] == pytest.approx(0.5)  # chance: .5 x .25 + .5 x .75 = .5


def test_the_demo_s_criteria_become_the_table(tmp_path: Path) -> None:
    run = run_experiment("taxonomy", tmp_path)
    assert make("taxonomy", run) == files("taxonomy", "criteria", "clusters", figures=["taxonomy"])
    table = pl.read_csv(run.output / "taxonomy.csv")
    assert table.height == 4 * 5
    sums = table.group_by("dimension").agg(pl.col("share").sum(), pl.col("share_of_weight").sum(), pl.col("criteria").sum())
    assert sums["share"].to_list() == pytest.approx([1.0] * 4)
    assert sums["share_of_weight"].to_list() == pytest.approx([1.0] * 4, abs=1e-3)
    assert set(sums["criteria"]) == {16}
    item = (
        run.judgments.filter(pl.col("agent") == "readability", pl.col("task") == "saturn-moons")
        .sort("weight")
        .row(0, named=True)
    )
    assert item["weight"] == pytest.approx(0.15 * 0.4)
    first = pl.read_csv(run.output / "criteria.csv").filter(pl.col("item") == item["item"])
    assert first["criterion"][0] == "Credible sources named in the text"


def test_a_run_of_reports_is_refused(demo_run: FinishedRun) -> None:
    with pytest.raises(InputError, match="reads the metric verticals"):
        taxonomy.make(demo_run)


def test_reports_cannot_be_sorted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="labels lists of items"):
        run_experiment("taxonomy", tmp_path, "dataset=demo")


def test_the_benchmark_s_own_criteria(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "drb" / "criteria.jsonl"
    run = run_experiment("taxonomy", tmp_path, f"dataset.path={path}", "dataset.limit=2")
    assert taxonomy.taxonomy_table(run.scores, taxonomy.sorted_criteria(run.judgments))["criteria"].sum() > 30
