"""`check`, `report`, `ls`, `show` and `cache`: what runs left behind, read again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

from dreambench.config.explain import group_options
from dreambench.judges.kinds import kind_names
from tests.apps.conftest import ClaimRuns, JudgedRuns, command, json_of


def test_a_complete_run_is_complete(runs: JudgedRuns) -> None:
    ran = command("check", str(runs.first))
    assert ran.code == 0
    assert ran.out == f"{runs.first.name}: complete, 24 cells done, 0 failed, 0 not begun\n"


def test_what_is_owed_and_why_is_read_from_the_journal(runs: JudgedRuns, tmp_path: Path) -> None:
    broken = tmp_path / "drb-broken"
    shutil.copytree(runs.first, broken)
    shutil.copytree(runs.second, tmp_path / "drb-whole")
    lines = [json.loads(line) for line in (broken / "journal.jsonl").read_text(encoding="utf-8").splitlines()]
    wq, *others = [line for line in lines if line["type"] == "cell" and line["columns"]["metric"] == "wq"]
    wq["owed"] = True
    wq["judgments"][0].update(status="judge_error", reason_code="refusal", rationale="the model\nrefused")
    kept = [wq, *others[1:], *(line for line in lines if line["type"] == "cell" and line["columns"]["metric"] != "wq")]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in kept)
    (broken / "journal.jsonl").write_text(text + '{"type":"cell","torn', encoding="utf-8")
    ran = command("check", str(tmp_path))
    assert ran.code == 2
    assert (
        "drb-broken: incomplete, 22 cells done, 1 failed, 1 not begun\n"
        "  wq / litellm: 1 items judge_error (refusal): the model refused\n"
    ) in ran.out
    assert "drb-whole: complete" in ran.out
    (broken / "summary.json").unlink()
    said = json.loads(command("check", str(broken), "--json").out)
    assert (said[0]["open"], said[0]["complete"]) == (None, False)
    refused = command("report", str(broken))
    assert refused.code == 1
    assert "no attempt at this run has ended yet (summary.json not written)" in refused.err


def test_a_report_is_the_run_s_table_again(runs: JudgedRuns) -> None:
    said = json_of("report", runs.first.name)
    stored = pl.read_parquet(runs.first / "scores.parquet")
    assert said["notes"] == []
    assert said["scores"] == json.loads(json.dumps(stored.to_dicts()))
    ran = command("report", str(runs.first))
    assert "judge: litellm" in ran.out and "citations, counted by code" in ran.out


def test_a_report_aggregates_anew(runs: JudgedRuns, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(runs.first, changed)
    items = pl.read_parquet(changed / "judgments.parquet")
    items.with_columns(value=pl.when(pl.col("metric") == "da").then(1.0).otherwise("value")).write_parquet(
        changed / "judgments.parquet"
    )
    said = json_of("report", str(changed))
    assert {row["value"] for row in said["scores"] if row["metric"] == "da" and row["variant"] == "citing_only"} == {1.0}
    assert said["notes"] == ["these scores differ from those that the run stored: metrics or scoring have changed since"]


@pytest.mark.parametrize(("which", "variant"), [("pages", "harmonic"), ("no_tools", "ca")])
def test_a_report_leads_with_what_the_run_s_tools_allowed(which: str, variant: str, claim_runs: ClaimRuns) -> None:
    run: Path = getattr(claim_runs, which)
    said = json_of("report", str(run))
    assert said["scores"] == json.loads(json.dumps(pl.read_parquet(run / "scores.parquet").to_dicts()))
    assert {row["variant"] for row in said["scores"] if row["primary"]} == {variant}
    assert not [note for note in said["notes"] if "differ" in note]


@pytest.mark.parametrize(("threshold", "code"), [("0.0", 0), ("0.9", 100)])
def test_a_threshold_is_judged_on_the_run_s_own_variant(
    threshold: str, code: int, claim_runs: ClaimRuns, tmp_path: Path
) -> None:
    shutil.copytree(claim_runs.pages, tmp_path / "run")
    config = tmp_path / "run" / "config.yaml"
    stored = yaml.safe_load(config.read_text(encoding="utf-8"))
    stored["metric"]["ci"]["threshold"] = float(threshold)
    stored["metric"]["ci"]["threshold_on"] = "mean"  # of two tasks
    config.write_text(yaml.safe_dump(stored), encoding="utf-8")
    ran = command("report", str(tmp_path / "run"))
    assert ran.code == code
    assert "/ ci harmonic / embedded: value" in ran.out and "no report was scored" not in ran.out


def test_a_report_of_metrics_that_refuse_to_be_without_tools(claim_runs: ClaimRuns, tmp_path: Path) -> None:
    """No tool is opened and no key asked for: the run's tools need one, and lie on the network."""
    shutil.copytree(claim_runs.pages, tmp_path / "run")
    config = tmp_path / "run" / "config.yaml"
    stored = yaml.safe_load(config.read_text(encoding="utf-8"))
    stored["metric"]["rq"] = {"_target_": "dreambench.metrics.rq.ReasoningQuality"}
    stored["tools"] = {"_target_": "dreambench.tools.search.brave.BraveTools"}
    config.write_text(yaml.safe_dump(stored), encoding="utf-8")
    said = json_of("report", str(tmp_path / "run"))
    assert {row["variant"] for row in said["scores"] if row["primary"]} == {"harmonic"}


def test_every_option_is_listed_with_its_purpose() -> None:
    said = json_of("ls")
    assert {group: sorted(options) for group, options in said.items()} == group_options()
    assert all(purpose for options in said.values() for purpose in options.values())
    assert "  embedded " in command("ls", "judge").out and "metric=" not in command("ls", "judge").out
    assert command("ls", "judge").out.startswith(command("show", "judge").out)


def test_kinds_are_listed_with_who_answers_them() -> None:
    rows = {row["kind"]: row for row in json_of("ls", "kinds")}
    assert set(rows) == set(kind_names())
    assert rows["score"]["embedded"] == "yes" and rows["rewrite"]["embedded"] == ""
    assert all(row["litellm"] == "yes" for row in rows.values())


def test_runs_are_listed_newest_first(runs: JudgedRuns) -> None:
    rows = json_of("ls", "runs")
    assert [row["run"] for row in rows] == [runs.second.name, runs.first.name]
    assert rows[0]["metrics"] == "wq,da,citations" and rows[0]["judges"] == "litellm" and rows[0]["status"] == "complete"


def test_an_option_is_shown_with_its_keys(tmp_path: Path) -> None:
    said = json_of("show", "judge/litellm")
    assert said["keys"]["_target_"] == "dreambench.judges.llm.LLMJudge"
    own = tmp_path / "conf" / "judge"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text("# @package judge.mine\n# Mine alone.\n_target_: x.Y\n", encoding="utf-8")
    ran = command("show", "judge/mine", "--config-dir", str(tmp_path / "conf"))
    assert ran.out == (own / "mine.yaml").read_text(encoding="utf-8")


def test_exported_answers_score_the_run_again_without_a_server(runs: JudgedRuns, tmp_path: Path) -> None:
    exported = json_of("cache", "export", str(runs.first), str(tmp_path / "answers.jsonl"))
    keys = pl.read_parquet(runs.first / "calls.parquet")["key"].n_unique()
    assert exported["answers"] == keys
    to = f"paths.cache={tmp_path / 'cache'}"
    assert json_of("cache", "import", str(tmp_path / "answers.jsonl"), to)["added"] == keys
    assert json_of("cache", "import", str(tmp_path / "answers.jsonl"), to)["there already"] == keys
    asked = len(runs.stub.requests)
    ran = command(*runs.overrides("one"), to, f"paths.outputs={tmp_path / 'out'}", "cache.mode=replay")
    assert ran.code == 0, ran.err
    assert len(runs.stub.requests) == asked
    assert pl.read_parquet(tmp_path / "out" / runs.first.name / "scores.parquet").equals(
        pl.read_parquet(runs.first / "scores.parquet"), null_equal=True
    )
    assert json_of("cache", "size", to)["answers"] == keys
    assert json_of("cache", "prune", "--older-than", "1", to)["forgotten"] == 0
    assert json_of("cache", "prune", "--older-than", "0.0000001", to)["forgotten"] == keys
    assert json_of("cache", "size", to)["answers"] == 0


def test_a_replay_without_answers_measures_what_needs_none(runs: JudgedRuns, tmp_path: Path) -> None:
    line = [*runs.overrides("never_asked"), f"paths.outputs={tmp_path}", f"paths.cache={tmp_path / 'cache'}"]
    ran = command(*line, "cache.mode=replay")
    assert ran.code == 2 and "answers are missing: run once without cache.mode=replay to get them" in ran.out
    (path,) = tmp_path.glob("*/scores.parquet")
    scores = pl.read_parquet(path).filter("primary", pl.col("aggregation") == "macro").drop_nulls("value")
    wanted = pl.read_parquet(runs.first / "scores.parquet").filter("primary", pl.col("aggregation") == "macro")
    counted = wanted.filter(pl.col("judge") == "code").select("agent", "metric", "value")
    assert counted.height > 0
    assert scores.select("agent", "metric", "value").sort("agent", "metric").equals(counted.sort("agent", "metric"))


def test_a_file_that_was_cut_short_adds_nothing(runs: JudgedRuns, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    assert command("cache", "export", str(runs.first), str(file)).code == 0
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    ran = command("cache", "import", str(file), f"paths.cache={tmp_path / 'cache'}")
    assert ran.code == 1 and "it was cut short" in ran.err
    file.write_text("\n".join([*lines[:3], '{"key": 1}']) + "\n", encoding="utf-8")
    assert f"{file}:4: is no answer" in command("cache", "import", str(file), f"paths.cache={tmp_path / 'cache'}").err
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["ls", "jugde"], "error: jugde: there is no such group; did you mean judge?\n"),
        (["show", "judge/embeded"], "error: judge/embeded: there is no such option; did you mean judge/embedded?\n"),
        (["show", "jugde"], "error: jugde: there is no such group; did you mean judge?\n"),
        (["ls", "runs", "nowhere"], "error: nowhere: is no folder\n"),
        (["check", "nowhere"], "error: nowhere: is no run folder, and no run below outputs\n"),
        (["cache", "prune"], "error: cache prune: takes --older-than 90\n"),
        (["cache", "export", "x"], "error: cache export: takes RUN FILE\n"),
        (["cache", "size", "path.cache=x"], "error: path.cache=x: is no key of cache\n"),
        (["cache", "import", "none.jsonl"], "error: none.jsonl: cannot be read: "),
        (["chek"], "error: chek: there is no such verb; did you mean check?\n"),
    ],
)
def test_mistakes(line: list[str], said: str, runs: JudgedRuns) -> None:
    ran = command(*line)
    assert ran.code == 1 and ran.err.startswith(said)
