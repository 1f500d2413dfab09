"""`compare`: paired differences, config changes and flipped items of finished runs, and refusals in words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from dreambench.metrics.aggregation import SCORING_VERSION
from tests.apps.conftest import ClaimRuns, JudgedRuns, command, json_of

ALLOWED = ["--allow", "judge"]


def changed(run: Path, to: Path, **summary: object) -> Path:
    """A copy of a run whose summary says something else."""
    shutil.copytree(run, to)
    path = to / "summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **summary}), encoding="utf-8")
    return to


def test_differences_are_paired_by_task(runs: JudgedRuns) -> None:
    (result,) = json_of("compare", runs.first.name, str(runs.second), *ALLOWED)
    values = {side: pl.read_parquet(run / "report_scores.parquet") for side, run in (("a", runs.first), ("b", runs.second))}
    for row in result["scores"]:
        if row["metric"] != "wq":
            continue
        a, b = (
            table.filter(pl.col("primary"), pl.col("metric") == "wq", pl.col("agent") == row["agent"]).sort("task")["value"]
            for table in values.values()
        )
        assert row["difference"] == pytest.approx((b - a).mean())
        assert row["low"] < row["difference"] < row["high"]
        assert row["p"] <= row["p_adjusted"] <= 1
        assert row["n_tasks"] == len(a)
    assert result["config"] == [{"key": "judge.litellm.model", "first": "openai/one", "second": "openai/two"}]
    assert result["allowed"] == {"judge": ["litellm.model: openai/one -> openai/two"]}


def test_items_are_matched_by_their_hash(runs: JudgedRuns) -> None:
    (result,) = json_of("compare", str(runs.first), str(runs.second), *ALLOWED)
    counts = {row["metric"]: row for row in result["item_counts"]}
    assert counts["citations"]["flipped"] == counts["citations"]["revalued"] == 0
    assert counts["wq"]["in_both"] == 80 and counts["wq"]["only_first"] == 0
    flips = [row for row in result["items"] if row["flipped"]]
    assert counts["da"]["flipped"] == len(flips) > 0
    items = [pl.read_parquet(run / "judgments.parquet").filter(metric="da") for run in (runs.first, runs.second)]
    labels = [dict(zip(zip(table["report"], table["item"], strict=True), table["label"], strict=True)) for table in items]
    assert len(flips) == sum(labels[0][key] != labels[1][key] for key in labels[0])


def test_the_table_says_what_differs(runs: JudgedRuns) -> None:
    ran = command("compare", str(runs.first), str(runs.second), *ALLOWED, "--items", "2")
    assert ran.code == 0, ran.err
    assert "allowed although judge differs: litellm.model: openai/one -> openai/two" in ran.out
    assert "  judge.litellm.model: openai/one -> openai/two" in ran.out
    assert "flipped items (the first 2 of " in ran.out


def test_tasks_that_were_asked_in_other_words_are_named(runs: JudgedRuns, tmp_path: Path) -> None:
    other = changed(runs.first, tmp_path / "other")
    texts = pl.read_parquet(other / "reports.parquet")
    task = texts["task"].unique().sort()[0]
    query = pl.when(pl.col("task") == task).then(pl.lit("Another question?")).otherwise("query")
    texts.with_columns(query=query).write_parquet(other / "reports.parquet")
    ran = command("compare", str(runs.first), str(other))
    assert "queries: 1 tasks have another query text in the second run" in ran.out and f": {task}\n" in ran.out
    (result,) = json_of("compare", str(runs.first), str(other))
    assert result["reports"]["other_queries"] == [task]
    assert "queries:" not in command("compare", str(runs.first), str(runs.first)).out


def test_what_needs_one_value_per_task_has_the_name_of_such_a_variant(claim_runs: ClaimRuns) -> None:
    pages, none = str(claim_runs.pages), str(claim_runs.no_tools)
    (result,) = json_of("compare", pages, pages)
    stored = pl.read_parquet(claim_runs.pages / "scores.parquet").filter(aggregation="macro", variant="per_task")
    assert {row["variant"] for row in result["scores"]} == {"per_task"}
    assert {row["agent"]: row["first"] for row in result["scores"]} == pytest.approx(
        dict(zip(stored["agent"], stored["value"], strict=True))
    )
    said = "paired differences need one value per task. The run's table shows ci harmonic"
    assert len(result["notes"]) == 1 and said in result["notes"][0]
    assert result["notes"][0].split()[:2] == ["ci", "per_task"]
    assert said in command("compare", pages, pages).out.replace("\n", " ")
    (result,) = json_of("compare", none, none)
    assert {row["variant"] for row in result["scores"]} == {"ca"} and result["notes"] == []


def test_reports_that_differ_are_counted_and_named(claim_runs: ClaimRuns, tmp_path: Path) -> None:
    pages, other = claim_runs.pages, tmp_path / "other"
    shutil.copytree(pages, other)
    table = pl.read_parquet(other / "reports.parquet")
    edited = table.with_row_index().with_columns(
        text=pl.when(pl.col("index") < 6).then(pl.col("text") + " More.").otherwise("text")
    )
    edited.drop("index").reverse().write_parquet(other / "reports.parquet")
    (same,) = json_of("compare", str(pages), str(pages))
    assert same["reports"] == {"compared": 8, "differ": [], "other_queries": []}
    (result,) = json_of("compare", str(pages), str(other))
    places = sorted(table.head(6).select("task", "agent").rows())
    assert result["reports"]["compared"] == 8
    assert [(one["task"], one["agent"]) for one in result["reports"]["differ"]] == places
    shown = ", ".join("/".join(place) for place in places[:5])
    said = " ".join(command("compare", str(pages), str(other)).out.split())
    assert f"reports: 6 of 8 differ between the runs (part of what follows is about other texts): {shown} and 1 more" in said
    said = " ".join(command("compare", str(pages), str(pages)).out.split())
    assert "reports: 8 of the same task and agent in both runs, all with the same text" in said


def test_a_run_that_kept_no_reports_is_not_taken_for_the_same(claim_runs: ClaimRuns, tmp_path: Path) -> None:
    shutil.copytree(claim_runs.pages, tmp_path / "bare")
    (tmp_path / "bare" / "reports.parquet").unlink()
    ran = command("compare", str(claim_runs.pages), str(tmp_path / "bare"))
    assert ran.code == 0 and "reports: whether they differ is not known, bare keeps no reports.parquet" in ran.out
    (result,) = json_of("compare", str(claim_runs.pages), str(tmp_path / "bare"))
    assert result["reports"] == {"compared": None, "differ": None, "other_queries": None}


def test_other_judges_are_refused(runs: JudgedRuns) -> None:
    ran = command("compare", str(runs.first), str(runs.second))
    assert ran.code == 1 and ran.out == ""
    assert ran.err == (
        f"error: {runs.first.name} and {runs.second.name}: cannot be compared, judge differs: "
        "litellm.model: openai/one -> openai/two\n  type: --allow judge\n"
    )


def test_other_protocols_and_scoring_are_refused(runs: JudgedRuns, tmp_path: Path) -> None:
    other = changed(runs.first, tmp_path / "other", scoring=0)
    items = pl.read_parquet(other / "judgments.parquet")
    task = items["task"][0]
    here = (pl.col("metric") == "wq") & (pl.col("task") == task)
    for run, protocol in ((other, "bbbb"), (changed(runs.first, tmp_path / "same"), "aaaa")):
        items.with_columns(protocol=pl.when(here).then(pl.lit(protocol)).otherwise("protocol")).write_parquet(
            run / "judgments.parquet"
        )
    ran = command("compare", str(tmp_path / "same"), str(other))
    assert ran.code == 1
    assert ran.err == (
        f"error: same and other: cannot be compared, protocol differs: wq of task {task}: aaaa -> bbbb\n"
        "  type: --allow protocol,scoring\n"
        f"same and other: cannot be compared, scoring differs: scoring version {SCORING_VERSION} -> 0\n"
        "  type: --allow protocol,scoring\n"
    )
    assert command("compare", str(tmp_path / "same"), str(other), "--allow=protocol,scoring").code == 0


def test_one_agent_each_is_one_pair(runs: JudgedRuns, tmp_path: Path) -> None:
    for name, agents in (("before", ["agent-a", "old"]), ("after", ["agent-a", "new"])):
        run = changed(runs.first, tmp_path / name)
        for table in ("judgments", "report_scores"):
            rows = pl.read_parquet(run / f"{table}.parquet")
            known = rows["agent"].unique().sort().to_list()[:2]
            kept = rows.filter(pl.col("agent").is_in(known)).with_columns(pl.col("agent").replace(known, agents))
            kept.write_parquet(run / f"{table}.parquet")
    (result,) = json_of("compare", str(tmp_path / "before"), str(tmp_path / "after"))
    assert {row["agent"] for row in result["scores"]} == {"agent-a", "old -> new"}
    assert {row["reason"] for row in result["scores"]} == {"no task differs"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            ["x"],
            "error: compare: needs two runs or more\n  type: python -m dreambench compare RUN_A RUN_B (list them: ls runs)\n",
        ),
        (
            ["a", "b", "--allow", "protocl"],
            "error: --allow: protocl is no kind of difference; did you mean protocol?\n"
            "  allowed: protocol, judge, scoring, metric\n  type: --allow protocol\n",
        ),
        (
            ["a", "b", "--alow", "judge"],
            "error: --alow: is no option of compare; did you mean --allow?\n  allowed: --allow, --help, --items, --json\n",
        ),
        (["nowhere", "b"], "error: nowhere: is no run folder, and no run below outputs\n"),
        (["outputs", "b"], "error: outputs: is no run folder, it holds 2: name one\n"),
    ],
)
def test_mistakes(line: list[str], said: str, runs: JudgedRuns) -> None:
    ran = command("compare", *line)
    assert ran.code == 1
    assert ran.err.startswith(said)
