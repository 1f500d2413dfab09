"""The study of other systems and its experiments: offline runs, own data, judges apart, the published overall rate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.config.studies import load_study
from dreambench.metrics.aggregation import SCORE_SCHEMA
from dreambench.metrics.deepconsult.votes import DIMENSIONS
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.folder import RunFolder
from tests.apps.command import ROOT
from tests.experiments.running import files, make, run_experiment
from tests.support.openai_stub import OpenAIStub

DATA = ROOT / "tests" / "data"
ONE = ["dataset.ids=[leap-second]", "dataset.agents=[good]"]


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
    run.config.write_text("dataset: {reports: mine}\nmetric: {safe: {saved: demo}}\n")
    written = load_study("systems").make(FinishedRun(run))
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
    assert "safe (f1@64) by j: a 50.00 n=3†" in findings
    assert "safe (f1@64) by k: a 70.00 n=3†" in findings
    assert "safe[default,sentences=8] (f1@64) by j: a 10.00 n=3†" in findings


def test_the_overall_net_win_rate_is_the_mean_of_the_dimensions(tmp_path: Path) -> None:
    rates = dict(zip(DIMENSIONS, (1.0, 0.0, None, 0.5), strict=True))
    rows = [
        score(metric="deepconsult", variant=f"{name}_net_win_rate", primary=False, aggregation="micro", value=rate)
        for name, rate in rates.items()
    ]
    _, findings = study(tmp_path, rows)
    assert "deepconsult overall net win rate of a by j, as published: 37.50" in findings


@pytest.mark.parametrize("name", ["researchrubrics", "deepresearchgym", "safe", "liveresearchbench", "dr3"])
def test_an_experiment_runs_offline_by_the_embedded_judge(name: str, tmp_path: Path) -> None:
    smaller = ["metric.safe.sentences=2"] if name == "safe" else []
    run = run_experiment(name, tmp_path, *ONE, *smaller)
    assert make("systems", run) == files("systems")
    table = pl.read_csv(run.output / "systems.csv")
    assert set(table["metric"]) == {name} and set(table["judge"]) == {"embedded"}
    assert table["judge_note"].str.contains("weak baseline").all()
    assert set(run.judgments["status"]) <= {"scored", "not_applicable"}
    led = table.filter(pl.col("primary"), pl.col("aggregation") == "macro")
    assert led["value"].null_count() == 0 or name == "safe"


def test_deepconsult_runs_from_saved_votes(tmp_path: Path) -> None:
    run = run_experiment("deepconsult", tmp_path)
    make("systems", run)
    assert "as published: 75.00" in (run.output / "findings.md").read_text()
    assert run.calls.is_empty(), "nobody was asked"


def test_human_labels_are_scored_as_the_experiment_says(tmp_path: Path) -> None:
    """S 2, NS 1 at K = 64; the record without annotations is a missing run."""
    file = DATA / "safe" / "factscore.jsonl"
    fields = ["dataset.fields.id=topic", "dataset.fields.query=input", "dataset.fields.report=output"]
    own = ["dataset=jsonl", "dataset.ids=null", f"dataset.reports={file}", *fields, f"metric.safe.saved={file}"]
    run = run_experiment("safe", tmp_path, *own)
    (score,) = run.scores.filter(pl.col("variant") == "f1@64")["value"]
    assert score == pytest.approx(2 * (2 / 3) * (2 / 64) / (2 / 3 + 2 / 64))


def test_a_judge_of_a_contestants_family_is_a_finding_of_the_run(tmp_path: Path) -> None:
    own = ["dataset=deepresearchgym", "dataset.ids=null", f"dataset.reports={DATA}/deepresearchgym/reports/sys_one"]
    with OpenAIStub() as stub:
        judge = ["judge=litellm", "judge.litellm.model=openai/gpt-test", f"judge.litellm.api_base={stub.url}"]
        parts = ["metric.deepresearchgym.parts=[quality]", "dataset.agent=gpt-5"]
        run = run_experiment("deepresearchgym", tmp_path, *own, *judge, *parts)
        assert len(stub.requests) == 6
    family = "judge litellm (openai/gpt-test) and agent gpt-5 are of one family (OpenAI): the judge may favour its own"
    assert family in run.summary["findings"]
