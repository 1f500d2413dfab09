"""Scores are aggregations of the item table: worked examples, policies, exclusions, repeats, macro against micro."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from dreambench.judges.judge import Judge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.aggregation import columns_of, dataset_scores, report_values
from dreambench.metrics.metric import Metric, MissingPolicy, Subject, Unit, Variant
from dreambench.records import Judgment, Status
from dreambench.runs.tables import ITEM_SCHEMA


class Share(Metric):
    """Weighted mean of items, pooled too."""

    id = "share"
    primary = "mean"

    def __init__(self, policy: MissingPolicy = MissingPolicy.EXCLUDE, *, complete: bool = False) -> None:
        super().__init__(name="share", shelf=RubricShelf([]), missing_policy=policy)
        self.complete = complete

    def identity(self) -> dict[str, Any]:
        return {}

    def rubrics(self) -> Sequence[Rubric]:
        return []

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        return []

    def variants(self) -> Sequence[Variant]:
        weighted = (pl.col("value") * pl.col("weight")).sum()
        return [
            Variant("mean", weighted, pl.col("weight").sum(), micro=True, complete=self.complete),
            Variant("count", pl.len(), pl.lit(1), unit=Unit.COUNT, spread=True),
        ]


def items(*rows: dict[str, Any]) -> pl.DataFrame:
    """Rows of the item table; what a row does not say has a plain default."""
    plain = {
        "dataset": "d",
        "task": "t1",
        "report": "r",
        "agent": "a",
        "perturbation": "clean",
        "dose": 0.0,
        "metric": "share",
        "rubric": "",
        "judge": "j",
        "repeat": 0,
        "weight": 1.0,
        "status": "scored",
        "reason_code": "",
        "family": "f",
        "label": "l",
    }
    return pl.DataFrame([{**plain, "report": row.get("task", "t1"), **row} for row in rows], schema=ITEM_SCHEMA)


def value_of(table: pl.DataFrame, metric: Metric, variant: str = "mean") -> dict[str, Any]:
    (row,) = report_values(table, [metric]).filter(pl.col("variant") == variant).to_dicts()
    return row


def error(**keys: Any) -> dict[str, Any]:
    return {"status": Status.JUDGE_ERROR.value, "value": None, "reason_code": "timeout", **keys}


def test_a_report_is_the_weighted_mean_of_its_items() -> None:
    row = value_of(items({"value": 1.0, "weight": 3.0}, {"value": 0.0, "weight": 1.0}), Share())
    assert (row["value"], row["n_items"], row["n_excluded"], row["why"]) == (0.75, 2, 0, "")


def test_an_error_is_excluded_and_counted_never_zero() -> None:
    row = value_of(items({"value": 1.0}, error()), Share())
    assert (row["value"], row["n_items"], row["n_excluded"]) == (1.0, 1, 1)


def test_where_every_item_is_needed_a_report_with_an_error_has_no_value() -> None:
    row = value_of(items({"value": 1.0}, error()), Share(complete=True))
    assert (row["value"], row["why"]) == (None, "timeout")


def test_the_zero_policy_counts_a_missing_item_as_zero_only_when_asked() -> None:
    assert value_of(items({"value": 1.0}, error()), Share(MissingPolicy.ZERO))["value"] == 0.5


def test_the_fail_policy_gives_no_value() -> None:
    assert value_of(items({"value": 1.0}, error()), Share(MissingPolicy.FAIL))["value"] is None


def test_a_report_with_nothing_to_judge_is_not_applicable_and_not_zero() -> None:
    row = value_of(items({"status": Status.NOT_APPLICABLE.value, "value": None}), Share())
    assert (row["value"], row["why"]) == (None, "not_applicable")


def scores_of(table: pl.DataFrame, metric: Metric, variant: str = "mean") -> dict[str, dict[str, Any]]:
    scores = dataset_scores(report_values(table, [metric]), seed=0)
    return {row["aggregation"]: row for row in scores.filter(pl.col("variant") == variant).iter_rows(named=True)}


def test_macro_is_the_mean_over_tasks_and_micro_pools_items() -> None:
    table = items({"task": "t1", "value": 1.0}, *[{"task": "t2", "value": 0.0}] * 3)
    scores = scores_of(table, Share())
    assert scores["macro"]["value"] == 0.5
    assert scores["micro"]["value"] == 0.25
    assert scores["macro"]["n_tasks"] == 2
    assert scores["macro"]["n_items"] == 4


def test_repeats_are_averaged_before_tasks() -> None:
    table = items(
        {"task": "t1", "value": 1.0, "repeat": 0},
        {"task": "t1", "value": 0.0, "repeat": 1},
        {"task": "t2", "value": 1.0, "repeat": 0},
    )
    assert scores_of(table, Share())["macro"]["value"] == 0.75


def test_excluded_reports_are_counted_with_their_reason() -> None:
    scores = scores_of(items({"task": "t1", "value": 0.5}, error(task="t2")), Share())
    assert scores["macro"]["n_tasks"] == 1
    assert scores["macro"]["n_excluded"] == 1
    assert scores["macro"]["excluded_why"] == "timeout"
    assert scores["macro"]["value"] == 0.5


def test_one_task_has_no_interval_and_small_samples_use_t() -> None:
    one = scores_of(items({"value": 0.5}), Share())["macro"]
    assert (one["low"], one["high"]) == (None, None)
    three = scores_of(items(*({"task": f"t{n}", "value": n / 2} for n in range(3))), Share())["macro"]
    assert three["interval"].startswith("t")
    assert three["low"] < three["value"] < three["high"]


def test_counts_have_their_spread_over_tasks() -> None:
    table = items({"task": "t1", "value": 1.0}, *[{"task": "t2", "value": 1.0}] * 3)
    scores = scores_of(table, Share(), "count")
    assert (scores["min"]["value"], scores["max"]["value"], scores["macro"]["value"]) == (1, 3, 2)
    assert scores["sd"]["value"] == pytest.approx(2**0.5)


def test_anyone_can_recompute_a_score_with_one_expression() -> None:
    table = items(*({"task": f"t{n}", "value": v} for n in range(4) for v in (0.25, n / 4)))
    by_hand = table.group_by("task").agg(pl.col("value").mean()).select(pl.col("value").mean()).item()
    assert scores_of(table, Share())["macro"]["value"] == pytest.approx(by_hand)


def test_report_values_reads_the_columns_that_it_names() -> None:
    table = items(
        {"item": "1", "value": 1.0, "weight": 2.0}, {"item": "2", "value": 0.5}, {"item": "3", "status": "judge_error"}
    )
    for metric in (Share(), Share(MissingPolicy.ZERO)):
        read = table.select(columns_of([metric]))
        assert {"rationale", "evidence", "cost"}.isdisjoint(read.columns)
        assert report_values(read, [metric]).equals(report_values(table, [metric]))
