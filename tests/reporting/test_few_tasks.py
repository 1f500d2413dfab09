"""What a table says of few tasks, and what an arm shifts: marks instead of noise, differences paired by task."""

from __future__ import annotations

from itertools import product
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from dreambench.metrics.aggregation import ARM, dataset_scores
from dreambench.reporting.shifts import shift_scores
from dreambench.reporting.tables import LEGEND, format_cell, format_shift, print_run
from dreambench.stats.paired import paired_difference
from dreambench.studies.findings import bounded

CLEAN = [0.10, 0.90, 0.40, 0.60, 0.20, 0.70]
"""Scores of one agent's reports on six tasks: far apart."""
CHANGED = [0.05, 0.82, 0.36, 0.53, 0.14, 0.64]
"""The same reports, every one a little worse."""


def values(tasks: int = 6) -> pl.DataFrame:
    """Report scores of two repeats, clean and changed."""
    arms = {"clean": CLEAN, "omission": CHANGED}
    rows: list[dict[str, Any]] = [
        {
            "dataset": "d", "task": f"t{task}", "report": f"r{task}", "agent": "a", "perturbation": arm,
            "dose": float(arm != "clean"),
            "perturbation_seed": None if arm == "clean" else 0, "protocol": "", "tools": "none", "metric": "wq",
            "rubric": "default",
            "judge": "j", "repeat": repeat, "variant": "mean", "unit": "share", "primary": True, "numerator": scores[task],
            "denominator": 1.0, "value": scores[task] + (0.01 if repeat else -0.01), "n_items": 1, "n_excluded": 0, "why": "",
            "micro": False, "spread": False, "harmonic_of": "",
        }
        for (arm, scores), task, repeat in product(arms.items(), range(tasks), range(2))
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("perturbation_seed").cast(pl.Int64))


def test_the_shift_is_that_of_the_paired_difference_and_surer_than_two_cells() -> None:
    (row,) = shift_scores(values()).rows(named=True)
    expected = paired_difference(CHANGED, CLEAN, seed=0)
    assert (row["value"], row["low"], row["high"]) == pytest.approx((expected.value, expected.low, expected.high))
    assert {key: row[key] for key in ARM} == {"perturbation": "omission", "dose": 1.0, "perturbation_seed": 0}
    assert row["high"] < 0, "every report fell, so the shift is told from none although the means' intervals overlap"
    scores = dataset_scores(values(), seed=0)
    assert scores["low"].max() < scores["high"].min()  # type: ignore[operator]
    assert format_shift(row).startswith("-6.") and format_shift({**row, "value": 0.01}).startswith("+1.00")


def test_a_task_with_a_value_on_one_side_is_counted_and_in_no_shift() -> None:
    lost = pl.when(pl.col("task") == "t1", pl.col("perturbation") != "clean").then(None).otherwise("value")
    (row,) = shift_scores(values().with_columns(value=lost)).rows(named=True)
    assert (row["n_tasks"], row["n_excluded"]) == (5, 1)
    assert shift_scores(values().filter(perturbation="clean")).is_empty()


@pytest.mark.parametrize(("tasks", "shown"), [(2, "50.00 n=2†"), (4, "50.00 n=4†"), (5, "44.00 [4.15, 83.85] n=5*")])
def test_few_tasks_have_a_mark_and_no_interval(tasks: int, shown: str) -> None:
    clean = dataset_scores(values(tasks).filter(perturbation="clean"), seed=0)
    (row,) = clean.rows(named=True)
    assert row["low"] is not None, "the file keeps what was calculated"
    assert format_cell(row) == shown


def test_a_run_prints_its_shifts_and_what_the_marks_mean() -> None:
    console = Console(record=True, width=200)
    print_run(console, dataset_scores(values(2), seed=0), values(2), [])
    said = console.export_text()
    assert "judge: j: shift vs clean, paired" in said
    assert "95 % interval: none" in said and LEGEND in said and "[" not in said.partition("95 %")[0].rpartition("x100")[0]


def test_findings_follow_the_tables() -> None:
    assert bounded(0.5, 0.1, 0.9, n=4) == "0.50†"
    assert bounded(0.5, 0.1, 0.9, n=5) == "0.50 [0.10, 0.90]"
    assert bounded(0.5, None, None, n=None) == "0.50"
