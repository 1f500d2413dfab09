"""Leaderboard: the task-weighted figures of DREAM's Table 10, intervals, and a run on the demo."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.reporting.finished import FinishedRun
from tests.experiments.running import files, make, report_values, scores, study

leaderboard = study("leaderboard")
AGENTS = ("langchain", "smolagents", "tongyi")
TABLE_10 = {  # METRICS 1.9: per data set and agent F, DA, KIC, RQ; then the published aggregates
    "DRB": ((46.02, 86.32, 64.99, 53.34), (57.64, 9.44, 74.15, 63.68), (58.58, 0, 58.53, 40.56)),
    "LRB": ((38.11, 84.00, 63.66, 59.04), (56.90, 24.41, 73.55, 68.82), (51.69, 5.71, 55.17, 46.95)),
    "RR": ((49.13, 90.00, 68.25, 57.84), (59.38, 0, 78.74, 72.15), (56.06, 0, 59.87, 46.75)),
}
AGGREGATE = ((44.64, 85.08, 65.96, 57.28), (58.15, 17.96, 75.95, 69.16), (55.09, 3.38, 57.95, 45.48))
METRICS = ("factuality", "da", "kic", "rq")
TASKS = {"DRB": 50, "LRB": 80, "RR": 101}
WITH_DOMAINS = {"DRB": 50, "LRB": 80, "RR": 5}


def published() -> pl.DataFrame:
    rows = [
        {"dataset": name, "agent": agent, "metric": metric, "value": value / 100, "n_tasks": tasks[name]}
        for name, by_agent in TABLE_10.items()
        for agent, values in zip(AGENTS, by_agent, strict=True)
        for metric, value in zip(METRICS, values, strict=True)
        for tasks in [WITH_DOMAINS if metric == "da" else TASKS]
    ]
    return leaderboard.data_set_scores(scores(rows))


def test_task_weights_give_the_published_aggregates() -> None:
    found = leaderboard.task_weighted(published(), pl.DataFrame())
    assert found.height == len(AGENTS) * len(METRICS)
    for agent, expected in zip(AGENTS, AGGREGATE, strict=True):
        for metric, value in zip(METRICS, expected, strict=True):
            (row,) = found.filter(agent=agent, metric=metric).iter_rows(named=True)
            assert 100 * row["value"] == pytest.approx(value, abs=0.0101), (agent, metric)


def test_one_data_set_has_no_aggregate() -> None:
    assert leaderboard.task_weighted(published().filter(dataset="DRB"), pl.DataFrame()).is_empty()


def test_an_agent_that_misses_a_data_set_has_no_aggregate() -> None:
    found = leaderboard.task_weighted(
        published().filter((pl.col("dataset") != "RR") | (pl.col("agent") != "tongyi")), pl.DataFrame()
    )
    assert set(found["agent"]) == {"langchain", "smolagents"}


def test_the_interval_is_stratified_by_data_set_and_left_out_where_the_score_is_no_mean() -> None:
    values = report_values(
        [{"dataset": "d", "task": f"d{n}", "agent": "x", "value": value} for n, value in enumerate((0.2, 0.4, 0.6))]
        + [{"dataset": "e", "task": f"e{n}", "agent": "x", "value": value} for n, value in enumerate((0.8, 1.0))]
    )
    board = leaderboard.data_set_scores(
        scores(
            [
                {"dataset": "d", "agent": "x", "metric": "m", "rubric": "default", "value": 0.4, "n_tasks": 3},
                {"dataset": "e", "agent": "x", "metric": "m", "rubric": "default", "value": 0.9, "n_tasks": 2},
            ]
        )
    )
    (row,) = leaderboard.task_weighted(board, values).iter_rows(named=True)
    assert row["value"] == pytest.approx(0.6)  # (3 x .4 + 2 x .9) / 5
    assert row["low"] < 0.6 < row["high"]
    # variance: (3/5)^2 x .04/3 + (2/5)^2 x .02/2 = .0064, error .08
    assert row["high"] - 0.6 == pytest.approx(0.6 - row["low"])
    assert 0.08 * 2 < row["high"] - 0.6 < 0.08 * 5
    harmonic = board.with_columns(value=pl.col("value") - 0.05)
    (row,) = leaderboard.task_weighted(harmonic, values).iter_rows(named=True)
    assert row["value"] == pytest.approx(0.55)
    assert row["low"] is None and row["interval"] == "none"


def test_the_same_data_set_twice_is_refused() -> None:
    with pytest.raises(InputError, match="scored by more than one run"):
        leaderboard.refuse_twins(pl.concat([published(), published()]))


def test_what_is_no_finished_run_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no run"):
        leaderboard.check({"runs": [str(tmp_path)]})
    with pytest.raises(InputError, match="did you mean runs"):
        leaderboard.check({"run": []})


def test_a_demo_run_becomes_the_table(demo_run: FinishedRun) -> None:
    expected = files("leaderboard", "table10", "ranks", "differences", figures=["leaderboard"])
    assert make("leaderboard", demo_run) == expected
    board = pl.read_csv(demo_run.output / "leaderboard.csv")
    assert set(board["agent"]) == {"badly_cited", "fluent_wrong", "good", "stale"}
    assert board.height == 4
    text = (demo_run.output / "findings.md").read_text(encoding="utf-8")
    assert "weak baseline" in text and "demo, wq by embedded" in text
