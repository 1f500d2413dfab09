"""Whole runs at small size: offline with the embedded judge, of released scores alone, and with a scripted model."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.metrics.deepweb import analysis, people
from dreambench.runs.assembly import assemble
from dreambench.runs.execute import RunResult
from tests.metrics.deepweb.release import write_hub
from tests.metrics.deepweb.running import configured, run
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub

OPEN = {"2_ferries": {"Q4 of 01.Ferry", "Q4 of Nordlinie AG", "Q7 of 01.Ferry"}, "100_dianche": {"Q1 of 青江汽车"}}
"""Cells that code cannot settle, by case: a rule in words, a reference in words, another currency."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hub(tmp_path_factory.mktemp("hub"))


@pytest.fixture(scope="module")
def offline(hub: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[RunResult, Path]:
    return run(tmp_path_factory.mktemp("offline"), "+experiment=deepweb", f"dataset.path={hub}")


def value(table: pl.DataFrame, agent: str, variant: str, aggregation: str = "macro") -> Any:
    found = table.filter(pl.col("agent") == agent, pl.col("variant") == variant, pl.col("aggregation") == aggregation)
    return found.select("value", "n_tasks", "n_excluded", "excluded_why").row(0)


def test_the_experiment_runs_offline(offline: tuple[RunResult, Path]) -> None:
    result, study = offline
    scores = result.tables["scores"]
    assert value(scores, "bad-model", "score") == (0.0, 2, 1, "missing_run")
    assert value(scores, "bad-model", "missing_zero") == (0.0, 3, 0, "")
    cells = people.typed_cells(result.tables["judgments"])
    by_case = cells.filter(pl.col("agent") == "good-model").group_by("task").agg(pl.col("value").mean(), pl.len())
    assert dict(by_case.select("task", "len").iter_rows()) == {"2_ferries": 14, "10_lakes": 4, "100_dianche": 2}
    assert value(scores, "good-model", "score")[0] == pytest.approx(by_case["value"].mean())
    names = {path.name for path in study.iterdir()}
    assert {"leaderboard.csv", "families.csv", "cases.csv", "wins.csv", "usage.csv", "failures.csv", "sample.csv"} <= names
    assert "rank 1" in (study / "findings.md").read_text(encoding="utf-8")
    assert "weak baseline" in (study / "findings.md").read_text(encoding="utf-8")


def test_code_and_rules_say_which_cells_they_grade(offline: tuple[RunResult, Path]) -> None:
    rows = offline[0].tables["judgments"].filter(pl.col("agent") == "good-model", pl.col("family") != "failure")
    said = {row["rationale"].split(" (")[0]: (row["value"], row["reason_code"]) for row in rows.iter_rows(named=True)}
    assert said["Q1 x 01.Ferry"] == (1.0, "within_tolerance")
    assert said["Q1 x Nordlinie AG"] == (0.25, "far_off")
    assert said["Q3 x 01.Ferry"] == (1.0, "abstains_with_reason")
    assert said["Q3 x Nordlinie AG"] == (0.5, "range_with_method")
    assert said["Q6 x Nordlinie AG"] == (0.0, "no_answer")
    assert said["Q7 x 01.Ferry"] == (1.0, "judged_words")
    assert said["Q4 x 01.Ferry"] == (None, "cannot_tell"), "the rules do not read a rule's words"
    texts = {row["report"]: row["text"] for row in pl.read_parquet(offline[0].folder.reports).iter_rows(named=True)}
    (row,) = rows.filter(pl.col("rationale").str.starts_with("Q7 x Nordlinie")).iter_rows(named=True)
    assert texts[row["report"]][row["report_start"] : row["report_end"]] == "minus 6% https://press.example/n"


def test_the_same_command_again_judges_nothing(hub: Path, offline: tuple[RunResult, Path]) -> None:
    again, _ = run(offline[0].folder.root.parents[1], "+experiment=deepweb", f"dataset.path={hub}")
    assert (again.outcome.finished, again.outcome.before) == (0, 6)


def test_a_labelled_sample_comes_back_as_kappa_by_type(hub: Path, offline: tuple[RunResult, Path], tmp_path: Path) -> None:
    rows = list(csv.DictReader((offline[1] / "sample.csv").open(encoding="utf-8")))
    assert {row["type"] for row in rows} == {"precise", "range", "not_available"}
    for number, row in enumerate(rows):
        row["human_tier"] = "0.5" if row["type"] == "range" and number % 2 else row["tier"]
        row["human_mode"] = row["mode"]
    sheet = tmp_path / "labelled.csv"
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, people.SHEET)
        writer.writeheader()
        writer.writerows(rows)
    kappas = {(row["labels"], row["type"]): row["kappa"] for row in people.agreement(people.read_sheet(sheet))}
    assert kappas["tier", "not_available"] == kappas["tier", "precise"] == kappas["mode", "all"] == 1.0
    assert kappas["tier", "range"] < kappas["tier", "all"] < 1.0
    _, study = run(
        offline[0].folder.root.parents[1], "+experiment=deepweb", f"dataset.path={hub}", f"study_inputs.sheet={sheet}"
    )
    assert (study / "kappa.csv").is_file()


def test_a_sheet_with_other_labels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("task,type,tier,human_tier,human_mode\nt,precise,1,0.75,bad luck\n")
    with pytest.raises(InputError, match=r"human_tier is '0\.75'") as caught:
        people.read_sheet(tmp_path / "s.csv")
    assert "human_mode is 'bad luck'" in str(caught.value)


def test_released_scores_need_no_judge(hub: Path, tmp_path: Path) -> None:
    released = [
        "dataset=deepweb",
        f"dataset.path={hub}",
        "dataset.without_text=keep",
        "metric=deepweb",
        "metric.deepweb.scores=released",
    ]
    result, _ = run(tmp_path, *released)
    scores = result.tables["scores"]
    assert value(scores, "good-model", "score")[:2] == (0.4375, 1)
    assert value(scores, "good-model", "score")[3] == "not_released"
    assert set(scores["judge"]) == {"code"}
    assert result.tables["calls"].is_empty()


def test_left_cells_are_unanswered_and_counted(hub: Path, tmp_path: Path) -> None:
    result, _ = run(tmp_path, "dataset=deepweb", f"dataset.path={hub}", "metric=deepweb", "metric.deepweb.rest=leave")
    assert "missing_zero" not in set(result.tables["scores"]["variant"]), "missing runs are not among the reports"
    left = result.tables["judgments"].filter(pl.col("status") == "unanswered")
    assert left.height == sum(map(len, OPEN.values()))
    assert set(left["reason_code"]) == {"rule_in_words", "words", "other_currency"}


@pytest.fixture(scope="module")
def asked(hub: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunResult, list[dict[str, Any]]]]:
    with OpenAIStub() as stub:
        model = ["judge=litellm", "judge.litellm.model=openai/any", f"judge.litellm.api_base={stub.url}"]
        result, _ = run(tmp_path_factory.mktemp("asked"), "+experiment=deepweb", f"dataset.path={hub}", *model)
        yield result, stub.bodies


def test_a_model_is_asked_about_open_cells_and_failures_only(asked: tuple[RunResult, list[dict[str, Any]]]) -> None:
    result, bodies = asked
    grading = [prompt(body) for body in bodies if "Grade every cell" in prompt(body)]
    failures = [prompt(body) for body in bodies if "Every one of these answers failed" in prompt(body)]
    assert len(grading) == 2 and len(grading) + len(failures) == len(bodies)
    shown = [set(re.findall(r"^asked: (\S+ of [^(（\n]+?)(?: ?[(（].*)?$", text, re.MULTILINE)) for text in grading]
    assert sorted(shown, key=len) == sorted(OPEN.values(), key=len)
    ferries = next(text for text in grading if "fixed until 2027" in text)
    assert "rule of the cell: Q4" in ferries and "ranking swap: -0.25" in ferries
    assert "reference: 12%" in ferries and "12.3%" in ferries
    assert "900,000" not in ferries, "settled cells are not shown"
    (dianche,) = (text for text in grading if text is not ferries)
    assert "12.5亿美元" in dianche and "reference: 12.5亿元" in dianche and "is in another currency" in dianche
    assert all("data" in body["messages"][0]["content"] for body in bodies)
    judged = result.tables["judgments"].filter(pl.col("reason_code").str.starts_with("judged_"))
    undecided = result.tables["judgments"].filter(pl.col("reason_code") == "cannot_tell")
    assert judged.height + undecided.height == sum(map(len, OPEN.values()))


def test_the_failing_cells_are_shown_with_their_answers(asked: tuple[RunResult, list[dict[str, Any]]]) -> None:
    result, bodies = asked
    failures = [prompt(body) for body in bodies if "Every one of these answers failed" in prompt(body)]
    text = "\n".join(failures)
    assert "answer: 52.3% (https://blog.example/margins)" in text and "kind of reference: not_available" in text
    rows = result.tables["judgments"].filter(pl.col("family") == "failure", pl.col("status") == "scored")
    assert rows.height == text.count("kind of reference:")
    cells = people.typed_cells(result.tables["judgments"])
    assert set(cells.filter(pl.col("mode").is_not_null())["label"]) <= {"0", "0.25"}


def prompt(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"])


FROM_HUB = ["dataset=deepweb", "dataset.path=HUB", "metric=deepweb"]
RELEASED_FAILURES = [*FROM_HUB, "metric.deepweb.scores=released", "metric.deepweb.failures=true"]


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        (["metric=deepweb"], "grades the cells of matrix tasks"),
        ([*FROM_HUB, "+metric.deepweb.tolerances.relativ=1"], "relativ"),
        (RELEASED_FAILURES, "failure modes are judged from answers"),
        (["+experiment=deepweb", "dataset.path=HUB", "study_inputs.sample=some"], "a whole number from 1 is needed"),
        (["+experiment=deepweb", "dataset.path=HUB", "+study_inputs.shet=a.csv"], "is nothing that deepweb reads"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said_before(
    overrides: list[str], problem: str, hub: Path, tmp_path: Path, gateway: TestGateway
) -> None:
    given = [text.replace("HUB", str(hub)) for text in overrides]
    with pytest.raises(InputError, match=problem):
        assemble(configured(tmp_path, *given), gateway)


def test_tables_over_cases() -> None:
    scores = pl.DataFrame(
        [("c1", "a", 0.4, "X"), ("c1", "b", 0.3, "X"), ("c1", "d", None, "X"), ("c2", "a", 0.1, "Y"), ("c2", "b", 0.3, "Y"),
         ("c2", "d", 0.3, "Y"), ("c3", "a", 0.2, "Y"), ("c3", "b", 0.1, "Y"), ("c3", "d", 0.0, "Y")],
        schema=["case", "agent", "value", "domain"], orient="row",
    )  # fmt: skip
    board = {row["agent"]: row for row in analysis.leaderboard(scores).iter_rows(named=True)}
    assert (board["a"]["excluded"], board["a"]["scored"], board["a"]["missing"]) == (pytest.approx(0.7 / 3), 3, 0)
    assert (board["d"]["excluded"], board["d"]["zero"], board["d"]["missing"]) == (0.15, pytest.approx(0.1), 1)
    assert [board["a"][name] for name in ("too_easy", "pass", "too_hard")] == [1, 1, 1]
    assert board["a"]["rank_excluded"] == board["b"]["rank_excluded"] == 1
    assert dict(analysis.wins(scores).iter_rows()) == {"a": 2.0, "b": 0.5, "d": 0.5}
    cases = {row["case"]: row for row in analysis.difficulty(scores).iter_rows(named=True)}
    assert (cases["c2"]["winners"], cases["c1"]["agents"]) == ("b, d", 2)
    assert cases["c1"]["sd"] == pytest.approx(0.1 / 2**0.5)
    assert dict(analysis.domains(scores).select("domain", "runs").iter_rows()) == {"X": 2, "Y": 6}
    rhos = {(row["one"], row["other"]): row for row in analysis.model_correlations(scores).iter_rows(named=True)}
    assert rhos["a", "b"]["rho"] == pytest.approx(0.0) and rhos["a", "b"]["cases"] == 3
    assert rhos["a", "d"]["rho"] is None and rhos["a", "d"]["reason"] == "fewer than three units"
    taus = analysis.case_taus(scores)
    # c1, c2 share a and b and rank them the other way round; c1, c3 alike; c2 has b and d tied above a, c3 ranks a > b > d.
    assert taus["pairs"] == 3 and taus["no_ranking"] == 0
    assert taus["mean"] == pytest.approx((-1 + 1 - 2 / 6**0.5) / 3)
    assert taus["below_zero"] == pytest.approx(2 / 3)
