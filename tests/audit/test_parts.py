"""Ranking, cost, reliability and the held-out set, on tables made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.audit.cost import cost_table
from dreambench.audit.holdout import holdout_cells
from dreambench.audit.ranking import ranking
from dreambench.audit.reliability import reliability
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.folder import RunFolder

KEYS = {"rubric": "default", "variant": "v", "primary": True, "unit": "share", "perturbation": "clean", "repeat": 0}


def run_of(folder: Path, **tables: pl.DataFrame) -> FinishedRun:
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    return FinishedRun(RunFolder(folder))


def cell(metric: str, role: str, verdict: str, beyond: bool | None = None) -> dict[str, Any]:
    name = f"{role}{verdict}"
    return {
        "metric": metric, "judge": "j", "role": role, "verdict": verdict, "beyond": beyond, "auc": 0.5, "perturbation": name,
        "shift": -0.1,
    }  # fmt: skip


def test_metrics_are_ranked_by_what_they_catch_per_dollar_and_free_ones_lead() -> None:
    cells = pl.DataFrame(
        [
            cell("dear", "flaw", "sees", True),
            cell("dear", "flaw", "blind"),
            cell("cheap", "flaw", "sees", True),
            cell("alarmed", "flaw", "sees", False),
            cell("alarmed", "placebo", "false alarm"),
            cell("code", "flaw", "sees", True),
        ],
        schema_overrides={"beyond": pl.Boolean},
    )
    names = ["dear", "cheap", "alarmed", "code"]
    costs = pl.DataFrame({"metric": names, "judge": ["j"] * 4, "money": [2.0, 0.5, 0.1, 0.0], "calls": [4.0, 1.0, 1.0, 0.0]})
    ranked = ranking(cells, costs)
    assert ranked["metric"].to_list() == ["code", "cheap", "dear", "alarmed"]
    assert ranked["per_unit"].to_list() == [None, 2.0, 0.5, 0.0]
    assert ranked["unit"].to_list() == ["free", "dollar", "dollar", "dollar"]
    assert ranking(cells, costs.with_columns(money=pl.lit(0.0)))["unit"].to_list()[1:] == ["call"] * 3


def test_costs_are_per_report_and_count_cached_answers_with_their_price(tmp_path: Path) -> None:
    cells = ["a", "b", "c"]
    judgments = pl.DataFrame({"cell": cells, "metric": ["m", "m", "k"], "rubric": [""] * 3, "judge": ["j", "j", "code"]})
    calls = pl.DataFrame(
        {
            "cell": ["a", "a", "b"], "prompt_tokens": [10, 20, 30], "completion_tokens": [1, 1, 1], "cost": [0.1, 0.2, 0.3],
            "seconds": [1.0, 2.0, 0.0], "source": ["provider", "provider", "cache"],
        }
    )  # fmt: skip
    rows = {row["metric"]: row for row in cost_table(run_of(tmp_path, judgments=judgments, calls=calls)).to_dicts()}
    assert (rows["m"]["reports"], rows["m"]["calls"], rows["m"]["prompt_tokens"]) == (2, 1.5, 30.0)
    assert rows["m"]["money"] == pytest.approx(0.3)
    assert rows["m"]["seconds"] == pytest.approx(1.5 * 3 / 2)  # a cached answer takes what the others took
    assert (rows["k"]["calls"], rows["k"]["money"], rows["k"]["seconds"]) == (0.0, 0.0, 0.0)


def test_reliability_of_repeats_and_of_two_judges(tmp_path: Path) -> None:
    values = {"r1": (0.2, 0.3), "r2": (0.5, 0.4), "r3": (0.7, 0.6), "r4": (0.9, 0.8), "r5": (0.1, 0.2)}
    scores = [
        {**KEYS, "metric": "m", "judge": judge, "task": report, "report": report, "repeat": repeat, "value": value[repeat]}
        for report, value in values.items()
        for judge in ("a", "b")
        for repeat in (0, 1)
    ]
    items = [
        {
            "metric": "m", "rubric": "default", "judge": judge, "perturbation": "clean", "status": "scored", "task": report,
            "report": report, "family": "f", "item": "i", "repeat": 0, "label": str(number if judge == "a" else number + 1),
        }
        for number, report in enumerate(values)
        for judge in ("a", "b")
    ]  # fmt: skip
    table = reliability(run_of(tmp_path, report_scores=pl.DataFrame(scores), judgments=pl.DataFrame(items)))
    found = {(row["between"], row["measure"]): row["value"] for row in table.to_dicts()}
    assert found["repeats of a", "ICC(1,1)"] == pytest.approx(found["repeats of b", "ICC(1,1)"])
    assert 0.8 < found["repeats of a", "ICC(1,1)"] < 1
    assert found["a / b", "Kendall tau-b"] == pytest.approx(1.0)
    assert found["all judges", "Kendall's W"] == pytest.approx(1.0)
    assert 0 < found["a / b", "Cohen's kappa, quadratic weights over items"] < 1


def test_a_held_out_flaw_is_paired_by_task_and_stands_beside_its_perturbation(tmp_path: Path) -> None:
    drops = {"t1": 0.2, "t2": 0.3, "t3": 0.25, "t4": 0.35}
    scores = [
        {
            **KEYS,
            "metric": "m",
            "judge": "j",
            "agent": agent,
            "task": task,
            "value": 0.8 - (drop if agent == "omission" else 0.0),
        }
        for task, drop in drops.items()
        for agent in ("clean", "omission", "unknown_flaw")
    ]
    cells = pl.DataFrame([{**cell("m", "flaw", "sees", True), "perturbation": "omission"}])
    held = holdout_cells(run_of(tmp_path, report_scores=pl.DataFrame(scores)), cells, margin=0.05, seed=0)
    rows = {row["perturbation"]: row for row in held.to_dicts()}
    assert rows["omission"]["shift"] == pytest.approx(-0.275)
    assert (rows["omission"]["verdict"], rows["omission"]["same_verdict"]) == ("sees", True)
    assert (rows["unknown_flaw"]["verdict"], rows["unknown_flaw"]["perturber_verdict"]) == ("blind", None)
