"""Report length: the table and the relation to scores by hand, and a run of the demo."""

from __future__ import annotations

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.reporting.finished import FinishedRun
from tests.experiments.running import files, make, report_values, study

length = study("report_length")


def made_up() -> pl.DataFrame:
    """Six tasks, two agents: score .1 + .2 per 1,000 words exactly."""
    rows = []
    for task in range(6):
        for place, agent in enumerate(("x", "y")):
            words = 1000.0 + 100 * task + 500 * place
            shared = {"task": f"t{task}", "agent": agent, "report": f"{agent}{task}"}
            rows.append({**shared, "metric": "length", "judge": "code", "variant": "words", "value": words})
            rows.append({**shared, "metric": "m", "value": 0.1 + 0.2 * words / 1000})
    return report_values(rows)


def test_table_11_by_hand() -> None:
    x, y = length.length_table(length.report_words(made_up())).iter_rows(named=True)
    assert (x["mean"], x["min"], x["max"], x["reports"]) == (1250, 1000, 1500, 6)
    assert x["sd"] == pytest.approx(187.0829, abs=1e-3)  # of 1000, 1100, ..., 1500
    assert y["mean"] == 1750


def test_the_slope_is_per_thousand_words() -> None:
    values = made_up()
    (row,) = length.relation_table(length.scores_with_words(values, length.report_words(values))).iter_rows(named=True)
    assert row["slope"] == pytest.approx(0.2, abs=1e-6)
    assert row["rho"] == pytest.approx(1.0)
    assert row["tau_within"] is None and row["tasks"] == 0  # two reports rank too little


def test_a_run_without_lengths_is_refused() -> None:
    assert length.report_words(report_values([{"value": 0.5}])).is_empty()


def test_a_demo_run_becomes_the_tables(demo_run: FinishedRun) -> None:
    assert make("report_length", demo_run) == files("report_length", "score_and_length", figures=["report_length"])
    table = pl.read_csv(demo_run.output / "report_length.csv")
    counted = demo_run.judgments.filter(metric="length", label="words").group_by("agent").agg(pl.col("value").mean())
    assert dict(table.select("agent", "mean").iter_rows()) == dict(counted.iter_rows())
    (relation,) = pl.read_csv(demo_run.output / "score_and_length.csv").iter_rows(named=True)
    assert relation["metric"] == "wq" and relation["reports"] == 8 and relation["tasks"] == 2


def test_the_study_says_which_metric_it_needs(ways_run: FinishedRun) -> None:
    with pytest.raises(InputError, match="needs the metric length"):
        length.make(ways_run)
