"""`new`: what it writes is run as it stands: its own tests, and the very commands that it prints."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.apps.command import ROOT
from tests.apps.conftest import DATA, Ran, command, json_of

PARTS = ("metric", "judge", "tool", "perturbation", "dataset")
COMMAND = "python -m dreambench "


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [name for name in sys.modules if name.partition(".")[0] in ("my_parts", "own")]:
        monkeypatch.delitem(sys.modules, name)


def made(*words: str) -> Ran:
    ran = command("new", *words)
    assert ran.code == 0, ran.err
    return ran


def typed(ran: Ran, what: str) -> list[str]:
    """The words of the command that `new` printed after `what: `."""
    (line,) = [line.removeprefix(f"{what}: ") for line in ran.out.splitlines() if line.startswith(f"{what}: ")]
    return shlex.split(line.removeprefix(COMMAND))


def table(name: str) -> pl.DataFrame:
    (path,) = Path("outputs").glob(f"*/{name}.parquet")
    return pl.read_parquet(path)


@pytest.mark.slow
def test_the_tests_that_come_with_the_parts_pass(tmp_path: Path) -> None:
    for part in PARTS:
        ran = made(part, f"my_{part}", "--to", "own")
        assert typed(ran, "test it") == ["python", "-m", "pytest", f"own/test_my_{part}.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "own"]
    done = subprocess.run(tests, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "11 passed" in done.stdout


def test_a_new_metric_is_measured_at_once() -> None:
    ran = made("metric", "figures")
    assert ran.out == (
        "wrote my_parts/__init__.py\nwrote my_parts/conf/metric/figures.yaml\nwrote my_parts/figures.py\n"
        "wrote my_parts/test_figures.py\ntest it: python -m pytest my_parts/test_figures.py\n"
        "use it: python -m dreambench --config-dir my_parts/conf 'metric=[figures]'\n"
    )
    used = command(*typed(ran, "use it"), "dataset.limit=1")
    assert used.code == 0, used.err
    rows = table("judgments")
    assert set(rows["metric"]) == {"figures"} and set(rows["label"]) == {"figure", "none"}
    again = command("new", "metric", "figures")
    assert again.code == 1 and again.err.startswith("error: new metric figures: there is one of that name\n")


def test_a_new_judge_answers_at_once() -> None:
    used = command(*typed(made("judge", "counter"), "use it"), "dataset.limit=1")
    assert used.code == 0, used.err
    assert set(table("judgments")["judge"]) == {"counter"}
    assert "counter: counter: counts words, reads nothing" in used.out


def test_a_new_tool_is_carried_out_at_once() -> None:
    used = command(*typed(made("tool", "lengths"), "use it"))
    assert (used.code, used.out) == (0, "42.1648 km\n"), used.err
    found = command("tool", "web_search", "fathom", "--config-dir", "my_parts/conf", "tools=lengths")
    assert "https://lengths.example/fathom" in found.out


def test_a_new_perturbation_changes_reports_at_once() -> None:
    used = command(*typed(made("perturbation", "shouting"), "use it"), "dataset.ids=common-charger", "dataset.agents=[good]")
    assert used.code == 0, used.err
    (text,) = table("reports").filter(pl.col("perturbation") == "shouting")["text"]
    (before,) = table("reports").filter(pl.col("perturbation") == "clean")["text"]
    assert text != before and text.casefold() == before.casefold()


def test_a_new_data_set_is_scored_at_once() -> None:
    used = command(*typed(made("dataset", "lengths"), "use it"), "metric=[citations]")
    assert used.code == 0, used.err
    scores = table("scores").filter(pl.col("primary"), pl.col("aggregation") == "macro")
    assert dict(scores.select("agent", "value").iter_rows()) == {"first": 0.75, "second": 0.0}


def test_a_rubric_is_asked_without_any_python() -> None:
    ran = made("metric", "candour", "--rubric")
    assert ran.out.splitlines()[:2] == [
        "wrote my_parts/conf/metric/candour.yaml",
        "wrote my_parts/rubrics/candour/quality.default.j2",
    ]
    used = command(*typed(ran, "use it"), "dataset.limit=1")
    assert used.code == 0, used.err
    use = ["--config-dir", "my_parts/conf", "paths.rubrics=[my_parts/rubrics]", "metric=[candour]"]
    planned = json_of("plan", *DATA, *use, "judge=claude_sonnet_4_5")
    assert planned["cells"] == {"candour": 8} and planned["total"]["calls"]["expected"] == 8


def test_a_new_benchmark_runs_at_once_and_its_criteria_count() -> None:
    ran = made("benchmark", "planets")
    assert "checked: 2 tasks, 4 reports of first, second; metric researchrubrics, judge embedded\n" in ran.out
    used = command(*typed(ran, "use it"))
    assert used.code == 0, used.err
    rows = table("judgments").filter(pl.col("agent") == "second", pl.col("rationale").str.contains("same direction"))
    assert rows.select("label", "weight").row(0) == ("satisfied", -4.0)
    assert set(rows["dataset"]) == {"planets"} and "Input: the data set planets (first, second).\n" in used.out
    assert command(*typed(ran, "check it again")).code == 0


def test_every_field_of_the_files_is_explained() -> None:
    made("benchmark", "planets")
    made("benchmark", "grid", "--matrix")
    fields = {"planets": ("tasks.jsonl",), "grid": ("cases.jsonl", "cells.jsonl", "model_answers.jsonl", "pages.jsonl")}
    for name, files in fields.items():
        explained = Path(f"my_parts/{name}/README.md").read_text(encoding="utf-8")
        for file in files:
            table = pl.read_ndjson(f"my_parts/{name}/{file}")
            assert f"## {file}" in explained
            missing = [column for column in table.columns if column != "case_number" and f"`{column}" not in explained]
            assert not missing


def test_a_new_matrix_is_admitted_and_runs_at_once() -> None:
    ran = made("benchmark", "grid", "--matrix")
    checked = command(*typed(ran, "check it again"))
    assert checked.code == 0 and checked.out.endswith("1 task: 1 admitted, 0 not, 0 open\n"), checked.out
    used = command(*typed(ran, "use it"))
    assert used.code == 0, used.err
    scores = table("scores").filter(pl.col("primary"), pl.col("aggregation") == "macro")
    found = dict(scores.select("agent", "value").iter_rows())
    assert found["first"] > 0.9 > 0.5 > found["second"] > 0


def test_a_broken_benchmark_is_told_where_it_is_broken() -> None:
    ran = made("benchmark", "planets")
    path = Path("my_parts/planets/tasks.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace('"weight": 3,', '"weight": "much",'), encoding="utf-8")
    checked = command(*typed(ran, "check it again"))
    assert checked.code == 1
    assert "my_parts/planets/tasks.jsonl:1" in checked.err and "rubrics[2] needs a text 'criterion' and a number" in checked.err


@pytest.mark.parametrize(
    ("part", "group", "more"),
    [
        ("judge", "judge=[mine]", ["judge.mine.model=openai/x"]),
        ("perturbation", "perturbation=[mine]", []),
        ("tool", "tools=mine", ["tools.path=pages.jsonl"]),
        ("dataset", "dataset=mine", ["dataset.reports=reports.jsonl"]),
    ],
)
def test_an_option_can_start_from_another(part: str, group: str, more: list[str]) -> None:
    start = {"judge": "litellm", "tool": "corpus", "perturbation": "omission", "dataset": "jsonl"}[part]
    ran = made(part, "mine", "--from", start)
    assert ran.out.count("wrote ") == 1
    Path("pages.jsonl").write_text('{"url": "https://a.example", "title": "A", "text": "It rained."}\n', encoding="utf-8")
    record = '{"id": "1", "query": "Why?", "agent": "a", "report": "Because it rained."}\n'
    Path("reports.jsonl").write_text(record, encoding="utf-8")
    data = [] if part == "dataset" else DATA
    planned = json_of("plan", *data, "metric=[wq]", "judge=[gpt_5_1]", "--config-dir", "my_parts/conf", group, *more)
    assert sum(planned["cells"].values()) > 0


@pytest.mark.parametrize("start", ["wq", "length"])
def test_a_metric_from_another_has_a_column_of_its_own(start: str) -> None:
    made("metric", "mine", "--from", start)
    ran = command(*DATA, "--config-dir", "my_parts/conf", f"metric=[{start},mine]", "dataset.limit=1")
    assert ran.code == 0, ran.err
    scores = table("scores").filter("primary")
    assert set(scores["metric"]) == {start, "mine"}
    both = [scores.filter(pl.col("metric") == name)["value"].to_list() for name in (start, "mine")]
    assert both[0] == both[1] != []


def test_a_data_set_from_another_has_its_own_name() -> None:
    made("dataset", "mine", "--from", "demo")
    ran = command("--config-dir", "my_parts/conf", "dataset=mine", "metric=[length]", "dataset.limit=1")
    assert ran.code == 0, ran.err
    assert set(table("scores")["dataset"]) == {"mine"}
    assert "written to outputs/mine-" in ran.out


def test_what_is_there_already_is_left_alone() -> None:
    made("metric", "mine")
    Path("my_parts/conf/metric/mine.yaml").unlink()
    ran = command("new", "metric", "mine")
    assert ran.code == 1 and ran.err.startswith("error: my_parts/mine.py: is there already\n")
    assert not Path("my_parts/conf/metric/mine.yaml").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["metrc", "x"], "error: new metrc: is no part that can be made; did you mean metric?\n"),
        (["judge", "X-1"], "error: new judge X-1: is no name\n"),
        (["judge", "litellm"], "error: new judge litellm: there is one of that name\n"),
        (["benchmark", "demo"], "error: new benchmark demo: there is one of that name\n"),
        (["judge", "x", "--from", "litelm"], "error: --from litelm: there is no such option; did you mean litellm?\n"),
        (["judge", "x", "--rubric"], "error: --rubric: is for new metric NAME without --from\n"),
        (["metric", "x", "--matrix"], "error: --matrix: is for new benchmark NAME without --from\n"),
        (["metric", "x", "--to", "my-parts"], "error: --to my-parts: Python cannot import 'my-parts'\n"),
    ],
)
def test_mistakes(line: list[str], said: str) -> None:
    ran = command("new", *line)
    assert ran.code == 1 and ran.err.startswith(said), ran.err
    assert not list(Path().rglob("*.yaml"))
