"""`export --to inspect`: the run's own numbers, sample by sample, in Inspect's log format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.apps.conftest import JudgedRuns, command


def exported(run: Path, folder: Path) -> list[dict[str, Any]]:
    ran = command("export", str(run), "--to", "inspect", "--out", str(folder))
    assert ran.code == 0, ran.err
    paths = sorted(folder.glob("*.json"))
    assert f"wrote {len(paths)} logs to {folder}" in ran.out
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*_.*_[0-9a-f]{6}\.json", path.name) for path in paths)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def test_one_log_per_agent_with_the_runs_own_numbers(runs: JudgedRuns, tmp_path: Path) -> None:
    logs = exported(runs.first, tmp_path / "logs")
    scores = pl.read_parquet(runs.first / "scores.parquet").filter(pl.col("primary"), pl.col("aggregation") == "macro")
    reports = pl.read_parquet(runs.first / "reports.parquet")
    values = pl.read_parquet(runs.first / "report_scores.parquet").filter(pl.col("primary"))
    assert {log["eval"]["model"] for log in logs} == set(reports["agent"])
    for log in logs:
        agent = log["eval"]["model"]
        assert (log["version"], log["status"]) == (2, "success")
        assert log["eval"]["created"].endswith("+00:00") and log["stats"]["completed_at"] >= log["stats"]["started_at"]
        for score in log["results"]["scores"]:
            (mean,) = scores.filter(
                pl.col("agent") == agent, pl.col("metric") == score["scorer"], pl.col("judge") == score["params"]["judge"]
            )["value"]
            assert score["metrics"]["mean"]["value"] == mean
            assert score["scored_samples"] + score["unscored_samples"] == len(log["samples"])
        for sample in log["samples"]:
            text = reports.filter(pl.col("report") == sample["metadata"]["report"]).row(0, named=True)
            assert sample["output"]["choices"][0]["message"]["content"] == text["text"]
            assert (sample["id"], sample["input"], sample["epoch"]) == (text["task"], text["query"], 1)
            mine = values.filter(pl.col("report") == text["report"])
            assert len(sample["scores"]) + len(sample["metadata"]["unscored"]) == mine.height
            for name, score in sample["scores"].items():
                metric, _, judge = name.partition("/")
                (value,) = mine.filter(pl.col("metric") == metric, pl.col("judge") == judge)["value"]
                assert score["value"] == value
                assert {item["label"] for item in score["metadata"]["items"]}


def test_equal_runs_give_equal_files_and_nothing_else_is_touched(runs: JudgedRuns, tmp_path: Path) -> None:
    before = sorted(path.name for path in runs.first.iterdir())
    assert exported(runs.first, tmp_path / "a") == exported(runs.first, tmp_path / "b")
    assert sorted(path.name for path in runs.first.iterdir()) == before


def test_a_score_that_is_missing_is_absent_and_said(runs: JudgedRuns, tmp_path: Path) -> None:
    run = tmp_path / "drb-0123456789ab"
    run.mkdir()
    for name in ("journal.jsonl", "judgments.parquet", "scores.parquet", "reports.parquet", "config.yaml"):
        (run / name).write_bytes((runs.first / name).read_bytes())
    summary = json.loads((runs.first / "summary.json").read_text(encoding="utf-8"))
    summary.update(complete=False, cells={"finished": 20, "before": 0, "owed": 4})
    (run / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    values = pl.read_parquet(runs.first / "report_scores.parquet")
    lost = pl.col("metric") == "wq"
    values.with_columns(
        value=pl.when(~lost).then("value"), why=pl.when(lost).then(pl.lit("refusal")).otherwise("why")
    ).write_parquet(run / "report_scores.parquet")
    logs = exported(run, tmp_path / "logs")
    assert {log["status"] for log in logs} == {"cancelled"}
    for log in logs:
        for sample in log["samples"]:
            assert not any(name.startswith("wq") for name in sample["scores"])
            assert sample["metadata"]["unscored"]["wq/litellm"] == "refusal"
        (wq,) = [score for score in log["results"]["scores"] if score["scorer"] == "wq"]
        assert (wq["scored_samples"], wq["unscored_samples"]) == (0, len(log["samples"]))


def test_inspect_reads_the_logs(runs: JudgedRuns, tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="install inspect-ai to read the logs with it")
    written = exported(runs.first, tmp_path / "logs")
    assert len(log.list_eval_logs(str(tmp_path / "logs"))) == len(written)
    for path, wrote in zip(sorted((tmp_path / "logs").glob("*.json")), written, strict=True):
        read = log.read_eval_log(str(path))
        assert read.status == log.read_eval_log(str(path), header_only=True).status == "success"
        assert [sample.id for sample in read.samples] == [sample["id"] for sample in wrote["samples"]]


def test_wrong_words_are_told(runs: JudgedRuns) -> None:
    ran = command("export", str(runs.first), "--to", "inspct")
    assert ran.code == 1 and "did you mean inspect?\n  allowed: inspect\n  type: --to inspect" in ran.err
    assert command("export", str(runs.first)).code == 1
