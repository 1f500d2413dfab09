"""The study of other systems: judges stay apart, shares are named, and the published overall rate is computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.config.studies import load_study
from dreambench.metrics.aggregation import SCORE_SCHEMA
from dreambench.metrics.deepconsult.votes import DIMENSIONS
from dreambench.reporting.study import StudyRun
from dreambench.runs.folder import RunFolder


def score(**keys: Any) -> dict[str, Any]:
    row = dict.fromkeys(SCORE_SCHEMA)
    row |= {"dataset": "d", "agent": "a", "perturbation": "clean", "dose": 0.0, "metric": "safe", "judge": "j", "n_tasks": 3}
    row |= {"rubric": "default", "variant": "f1@64", "unit": "share", "primary": True, "aggregation": "macro", "value": 0.5}
    return row | {"n_items": 9, "n_excluded": 0, "excluded_why": "", "interval": "t"} | keys


def study(folder: Path, rows: list[dict[str, Any]]) -> tuple[list[dict[str, str]], str]:
    run = RunFolder(folder)
    run.study.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, schema=SCORE_SCHEMA).write_parquet(run.scores)
    judges = {"j": {"note": "weak baseline"}, "k": {"note": ""}}
    run.summary.write_text(json.dumps({"run": "x", "judges": judges}))
    written = load_study("systems").make(StudyRun(run))
    table = next(path for path in written if path.suffix == ".csv")
    return pl.read_csv(table, infer_schema=False).to_dicts(), (run.study / "findings.md").read_text()


def test_judges_and_samples_are_never_mixed(tmp_path: Path) -> None:
    rows = [
        score(),
        score(judge="k", value=0.7),
        score(rubric="default,sentences=8", value=0.1),
        score(perturbation="omission"),
    ]
    table, findings = study(tmp_path, rows)
    assert [(row["judge"], row["rubric"], row["value"], row["judge_note"] or "") for row in table] == [
        ("j", "default", "0.5", "weak baseline"),
        ("k", "default", "0.7", ""),
        ("j", "default,sentences=8", "0.1", "weak baseline"),
    ]
    assert "safe (f1@64) by j: a 50.00 n=3*" in findings
    assert "safe (f1@64) by k: a 70.00 n=3*" in findings
    assert "safe[default,sentences=8] (f1@64) by j: a 10.00 n=3*" in findings


def test_the_overall_net_win_rate_is_the_mean_of_the_dimensions(tmp_path: Path) -> None:
    rates = dict(zip(DIMENSIONS, (1.0, 0.0, None, 0.5), strict=True))
    rows = [
        score(metric="deepconsult", variant=f"{name}_net_win_rate", primary=False, aggregation="micro", value=rate)
        for name, rate in rates.items()
    ]
    _, findings = study(tmp_path, rows)
    assert "deepconsult overall net win rate of a by j, as published: 37.50" in findings
