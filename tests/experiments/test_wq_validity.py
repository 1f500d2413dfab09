"""Validity of WQ: tau over queries by hand, saved results beside a run of the demo and, where given, of the benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.metrics.race.formula import DIMENSIONS
from dreambench.reporting.finished import FinishedRun
from tests.experiments.running import files, make, report_values, run_experiment, study

validity = study("wq_validity")


def test_tau_is_averaged_over_queries() -> None:
    wq = {"one": (0.1, 0.2, 0.3), "two": (0.3, 0.2, 0.1), "three": (0.2, 0.2, 0.2)}
    race = (0.4, 0.5, 0.6)
    values = report_values(
        [
            {"metric": metric, "variant": variant, "primary": metric == "wq", "task": task, "agent": agent, "value": value}
            for task, given in wq.items()
            for metric, variant, scores in (("wq", "mean", given), ("race", "readability", race))
            for agent, value in zip("xyz", scores, strict=True)
        ]
    )
    pairs = validity.paired(validity.wq_scores(values), validity.race_scores(values))
    (row,) = validity.between_agents(pairs).iter_rows(named=True)
    assert row["tau"] == pytest.approx(0.0)  # 1 and -1
    assert (row["queries"], row["no_ranking"], row["agents"]) == (2, 1, 3)
    own = {row["agent"]: row["rho"] for row in validity.within_agents(pairs).iter_rows(named=True)}
    assert own == {"x": None, "y": None, "z": None}  # RACE gives each agent the same score every time


def saved(folder: Path, agent: str, scores: dict[str, float]) -> Path:
    path = folder / f"{agent}.jsonl"
    rows = [{"id": task, "overall_score": value, **dict.fromkeys(DIMENSIONS, value)} for task, value in scores.items()]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_saved_results_stand_beside_a_demo_run(demo_run: FinishedRun, tmp_path: Path) -> None:
    wq = validity.wq_scores(demo_run.report_scores)
    given = {}
    for (agent,), part in wq.group_by("agent"):
        given[str(agent)] = str(saved(tmp_path, str(agent), dict(part.select("task", "one").iter_rows())))
    inputs = {"saved": given}
    validity.check(inputs)
    assert make("wq_validity", FinishedRun(demo_run.folder, inputs)) == files(
        "wq_validity", "by_agent", figures=["wq_validity"]
    )
    table = pl.read_csv(demo_run.output / "wq_validity.csv")
    assert table["race"][0] == "readability"
    assert set(table["tau"]) == {1.0}  # the saved scores are WQ's own
    assert set(table["queries"]) == {2}


def test_race_must_come_from_one_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of the same reports are needed"):
        validity.check({})
    with pytest.raises(InputError, match="from two places"):
        validity.check({"saved": {"x": "a.jsonl"}, "from_run": True})
    with pytest.raises(InputError, match=r"study_inputs\.saved\.x"):
        validity.check({"saved": {"x": str(tmp_path / "missing.jsonl")}})


def test_agents_that_the_run_does_not_have_are_named(demo_run: FinishedRun, tmp_path: Path) -> None:
    inputs = {"saved": {"nobody": saved(tmp_path, "nobody", {"saturn-moons": 0.5})}}
    with pytest.raises(InputError, match="fluent_wrong"):
        validity.make(FinishedRun(demo_run.folder, inputs))


def test_the_benchmark_s_own_results(real_data: Path, tmp_path: Path) -> None:
    drb = real_data / "drb"
    data = ["dataset=drb", f"dataset.reports={drb / 'claude-3-7-sonnet.jsonl'}", f"dataset.queries={drb / 'query.jsonl'}"]
    results = drb / "race_claude-3-7-sonnet_raw_results.jsonl"
    inputs = f"study_inputs.saved={{claude-3-7-sonnet: '{results}'}}"
    run = run_experiment("wq_validity", tmp_path, *data, "dataset.language=en", "dataset.limit=4", inputs)
    race = validity._read(validity.read_settings(validity.Inputs, run.inputs))
    table = validity.within_agents(validity.paired(validity.wq_scores(run.report_scores), race))
    assert set(table["queries"]) == {4}
    assert table.height == len(DIMENSIONS) + 1
