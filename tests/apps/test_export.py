"""`export --to inspect`: the run's own numbers, sample by sample, in Inspect's log format."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
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
    line = ["export", str(runs.first), "--to", "inspect", "--out", str(tmp_path / "a")]
    again = command(*line)
    assert again.code == 1
    assert again.err == (
        f"error: {tmp_path / 'a'}: holds something already; nothing is overwritten unless you say so\n"
        "  allowed: another --out, --replace: an earlier export of this run is replaced\n"
    )
    assert command(*line, "--replace").code == 0
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
    assert ran.code == 1
    assert "did you mean inspect?\n  allowed: inspect, parquet, mlflow, wandb\n  type: --to inspect" in ran.err
    assert command("export", str(runs.first)).code == 1


def primary(run: Path) -> pl.DataFrame:
    return pl.read_parquet(run / "scores.parquet").filter(pl.col("primary"), pl.col("aggregation") == "macro")


def expected(run: Path) -> dict[str, float]:
    """`agent/metric.variant/judge` and its interval, from the run's own table."""
    found = {}
    for row in primary(run).iter_rows(named=True):
        name = f"{row['agent']}/{row['metric']}.{row['variant']}/{row['judge']}"
        known = {name: row["value"], f"{name}.low": row["low"], f"{name}.high": row["high"], f"{name}.n": row["n_tasks"]}
        found |= {key: value for key, value in known.items() if value is not None}
    return found


def test_mlflow_gets_scores_intervals_settings_and_files(
    runs: JudgedRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    ran = command("export", str(runs.first), "--to", "mlflow", "--out", str(tmp_path / "ml"))
    assert ran.code == 0, ran.err
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'ml' / 'mlflow.db'}")
    (experiment,) = [one for one in client.search_experiments() if one.name == "dreambench"]
    (logged,) = client.search_runs([experiment.experiment_id])
    assert f"logged as MLflow run {logged.info.run_id} of experiment dreambench" in ran.out
    assert (logged.info.run_name, logged.info.status) == (runs.first.name, "FINISHED")
    wanted = expected(runs.first)
    assert any(name.endswith(".low") for name in wanted)
    assert {name: value for name, value in logged.data.metrics.items() if not name.startswith("spent.")} == wanted
    summary = json.loads((runs.first / "summary.json").read_text(encoding="utf-8"))
    assert logged.data.metrics["spent.money"] == summary["spent"]["money"] > 0
    assert logged.data.params["judge.litellm.model"] == "openai/one"
    assert logged.data.tags["dreambench.run"] == summary["run"]
    for name in ("report.html", "scores.parquet", "config.yaml", "summary.json"):
        kept = Path(client.download_artifacts(logged.info.run_id, name, str(tmp_path)))
        assert kept.read_bytes() == (runs.first / name).read_bytes()
    line = ["export", str(runs.first), "--to", "mlflow", "--out", str(tmp_path / "ml")]
    assert "experiment dreambench: holds something already; " in command(*line).err
    again = command(*line, "--replace")
    assert ", 1 earlier deleted" in again.out
    assert len(client.search_runs([experiment.experiment_id])) == 1


def test_wandb_gets_the_same_offline(runs: JudgedRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    for name in ("WANDB_MODE", "WANDB_PROJECT", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    ran = command("export", str(runs.first), "--to", "wandb", "--out", str(tmp_path / "wb"))
    assert ran.code == 0, ran.err
    wandb.teardown()  # as at the end of a process: its service writes the last of a run's file after the run has finished
    line = ["export", str(runs.first), "--to", "wandb", "--out", str(tmp_path / "wb")]
    assert "holds something already; " in command(*line).err
    ran = command(*line, "--replace")
    wandb.teardown()
    (folder,) = (tmp_path / "wb" / "wandb").glob("offline-run-*")
    assert "(offline); send it: wandb sync " in ran.out and folder.name in ran.out
    (file,) = folder.glob("run-*.wandb")
    records = list(wandb_records(file))
    (run,) = [record.run for record in records if record.HasField("run")]
    summary_id = json.loads((runs.first / "summary.json").read_text(encoding="utf-8"))["run"]
    assert (run.project, run.run_id, run.display_name) == ("dreambench", summary_id, runs.first.name)
    config = {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in run.config.update}
    assert config["judge.litellm.model"] == "openai/one"
    summary = {}
    for record in records:
        if record.HasField("summary"):
            updates = record.summary.update
            summary |= {item.key or item.nested_key[0]: json.loads(item.value_json) for item in updates}
    assert {name: value for name, value in summary.items() if name in expected(runs.first)} == expected(runs.first)
    names = {entry.path for record in records if record.HasField("artifact") for entry in record.artifact.manifest.contents}
    assert {"report.html", "scores.parquet", "config.yaml"} <= names
    (table,) = folder.glob("files/media/table/*.json")
    rows = json.loads(table.read_text(encoding="utf-8"))
    assert rows["columns"] == primary(runs.first).columns and len(rows["data"]) == primary(runs.first).height


def wandb_records(file: Path) -> Iterator[Any]:
    """The records of a transaction log: LevelDB's format (blocks of 32 KiB, headers of 7 bytes) after a head of 7 bytes."""
    from wandb.proto import wandb_internal_pb2

    data, at, parts = file.read_bytes(), 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            record = wandb_internal_pb2.Record()
            record.ParseFromString(parts)
            yield record
            parts = b""


def test_equal_names_of_agents_stay_apart_and_perturbed_texts_are_named() -> None:
    from dreambench.reporting.tracked import _name

    row = {"agent": "a&b", "perturbation": "clean", "dose": None, "perturbation_seed": None, "rubric": "default"}
    row |= {"metric": "wq", "variant": "mean", "judge": "j[1]"}
    first = _name(row, {})
    assert first == "a-b/wq.mean/j-1-"
    assert _name(row | {"agent": "a%b"}, {first: 1.0, f"{first}.low": 0.5}) == f"{first}~2"
    arm = {"perturbation": "omission", "dose": 0.5, "perturbation_seed": 0, "rubric": "terse"}
    assert _name(row | arm, {}) == "a-b.omission.0.5.0/wq.terse.mean/j-1-"
