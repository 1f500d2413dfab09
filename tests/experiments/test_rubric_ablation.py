"""Rubric ablation: axes by name, shifts and changed items by hand, and that judges by rules are said to read no wording."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from dreambench.reporting.finished import FinishedRun
from dreambench.studies.rubric_variants import axis_of, compare_ways
from tests.experiments.running import files, make, report_values


def test_axes_are_read_from_the_variant() -> None:
    axes = {
        "default": "reference",
        "terse": "wording",
        "report_last": "order",
        "scale5": "scale",
        "default+one_by_one": "batching",
        "terse+one_by_one": "batching+wording",
        "default,both": "order",
        "my_own": "wording",
    }
    assert {way: axis_of(way, "default") for way in axes} == axes


def items(rubric: str, values: list[float]) -> list[dict[str, Any]]:
    shared = {"metric": "m", "judge": "a", "rubric": rubric, "report": "r", "perturbation": "clean", "repeat": 0}
    return [{**shared, "item": str(n), "status": "scored", "value": value} for n, value in enumerate(values)]


def test_shift_ranking_and_changed_items_by_hand() -> None:
    scores = {  # task: agent: (default, terse); terse adds .1 in task one and .3 in task two, where it turns the order around
        "one": {"x": (0.2, 0.3), "y": (0.4, 0.5), "z": (0.6, 0.7)},
        "two": {"x": (0.2, 0.7), "y": (0.4, 0.6), "z": (0.3, 0.5)},
    }
    values = report_values(
        [
            {"task": task, "agent": agent, "rubric": rubric, "value": value}
            for task, agents in scores.items()
            for agent, pair in agents.items()
            for rubric, value in zip(("default", "terse"), pair, strict=True)
        ]
    )
    judgments = pl.DataFrame([*items("default", [0.0, 1.0, 1.0]), *items("terse", [0.0, 0.0, 0.5])])
    reference, terse = compare_ways(values, judgments).iter_rows(named=True)
    assert (reference["axis"], reference["shift"]) == ("reference", None)
    assert reference["score"] == pytest.approx(0.35)
    assert terse["score"] == pytest.approx(0.55)
    assert terse["shift"] == pytest.approx(0.2)  # mean of .1 and .3
    assert terse["tau"] == pytest.approx((1 + -1 / 3) / 2)  # x<y<z kept; x<z<y against z<y<x: one pair of three agrees
    assert terse["changed"] == pytest.approx(2 / 3)
    assert terse["distance"] == pytest.approx(0.5)
    assert terse["items"] == 3
    assert terse["p_adjusted"] == pytest.approx(terse["p"])


def test_the_table_says_what_a_judge_by_rules_cannot_see(ways_run: FinishedRun) -> None:
    assert make("rubric_ablation", ways_run) == files("rubric_ablation", figures=["rubric_ablation"])
    table = pl.read_csv(ways_run.output / "rubric_ablation.csv")
    read = {(row["metric"], row["rubric"]): row["read"] or "" for row in table.iter_rows(named=True)}
    assert read["wq", "terse"].startswith("no: answers by rules, wording")
    assert read["wq", "scale5"] == "yes"
    assert read["kic", "default+one_by_one"].startswith("no: ")
    changed = dict(table.filter(metric="wq").select("rubric", "changed").iter_rows())
    assert changed["terse"] == 0 and changed["scale5"] > 0
    assert dict(table.filter(metric="kic").select("axis", "calls").iter_rows())["reference"] == 1
    assert "says nothing" in (ways_run.output / "findings.md").read_text(encoding="utf-8")
