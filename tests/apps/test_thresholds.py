"""`metric.<name>.threshold=...` gates a run: exit 100 and a line that says which score, its value and its lower bound."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from dreambench.commands.main import main_code
from dreambench.metrics.aggregation import SCORE_SCHEMA
from dreambench.metrics.length import Length
from dreambench.runs.thresholds import Threshold, check_thresholds

RUN = ["metric=[citations]", "dataset.limit=5"]
FAILED = re.compile(
    r"threshold FAILED: badly_cited / citations attribution / code: value 0\.\d{4}, lower bound (0\.\d{4}) < threshold 0\.3"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gate")


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_below_the_threshold_is_exit_100_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code([*RUN, "metric.citations.threshold=0.3"]) == 100
    shown = capsys.readouterr().out
    found = FAILED.search(shown)
    assert found and float(found[1]) < 0.3


def test_a_threshold_is_no_part_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code([*RUN, "metric.citations.threshold=0.01"]) == 0
    shown = capsys.readouterr().out
    assert "0 cells judged, 20 from before" in shown
    assert shown.count("threshold reached: ") == 4


def test_what_is_unknown_fails_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["metric=[citations]", "dataset.limit=1", "metric.citations.threshold=0"]) == 100
    said = "1 task is too few for a lower bound, 5 are needed (metric.citations.threshold_on=mean compares the mean): "
    assert f"{said}cannot be shown to reach threshold 0\n" in capsys.readouterr().out


FEW = ["metric=[citations]", "dataset.limit=4", "dataset.agents=[good]"]


def test_few_tasks_have_no_bound_to_rely_on_and_the_mean_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code([*FEW, "metric.citations.threshold=0.01"]) == 100
    said = "4 tasks are too few for a lower bound, 5 are needed (metric.citations.threshold_on=mean compares the mean): "
    assert f"{said}cannot be shown to reach threshold 0.01\n" in capsys.readouterr().out
    on_mean = "metric.citations.threshold_on=mean"
    assert main_code([*FEW, "metric.citations.threshold=0.01", on_mean]) == 0
    reached = (
        r"threshold reached: good / citations attribution / code: value 0\.\d{4} >= threshold 0\.01, on the mean of 4 tasks\n"
    )
    assert re.search(reached, capsys.readouterr().out)
    assert main_code([*FEW, "metric.citations.threshold=0.99", on_mean]) == 100
    assert re.search(r"value 0\.\d{4} < threshold 0\.99, on the mean of 4 tasks\n", capsys.readouterr().out)


def test_no_value_and_no_row_fail() -> None:
    metric = Length(name="length", shelf=None)  # type: ignore[arg-type]
    row = {
        **dict.fromkeys(SCORE_SCHEMA),
        "agent": "a",
        "judge": "code",
        "metric": "length",
        "rubric": "",
        "variant": metric.primary,
        "primary": True,
        "aggregation": "macro",
        "perturbation": "clean",
        "n_tasks": 0,
        "n_excluded": 2,
        "excluded_why": "judge_error",
    }
    least = {"length": Threshold(5.0)}
    (empty,) = check_thresholds(pl.DataFrame(schema=SCORE_SCHEMA), {"length": metric}, least)
    (excluded,) = check_thresholds(pl.DataFrame([row], schema=SCORE_SCHEMA), {"length": metric}, least)
    assert (empty.passed, empty.why) == (False, "no report was scored")
    assert (excluded.passed, excluded.why) == (False, "all 2 reports have none (judge_error)")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "metric.citatons.threshold=0.2",
            "error: metric.citatons.threshold=0.2: citatons is not among this run's metrics; did you mean citations?\n"
            "  allowed: citations\n  type: metric.citations.threshold=0.2\n",
        ),
        (
            "metric.citations.threshold=20",
            "error: metric.citations.threshold: 20 is above every score\n"
            "  allowed: 0 to 1\n  type: metric.citations.threshold=0.2\n",
        ),
        (
            "metric.citations.threshold=-1",
            "error: metric.citations.threshold: input should be greater than or equal to 0, got -1\n  allowed: 0.0 or more\n",
        ),
        (
            "metric.citations.threshold_on=median",
            "error: metric.citations.threshold_on: input should be 'bound' or 'mean', got 'median'\n  allowed: bound, mean\n",
        ),
        (
            "metric.citations.treshold=0.2",
            "error: metric.citations.treshold=0.2: no such key; did you mean metric.citations.threshold?\n"
            "  allowed: metric.citations.id, metric.citations.threshold, metric.citations.threshold_on\n"
            "  type: metric.citations.threshold=0.2\n",
        ),
    ],
)
def test_mistakes(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["metric=[citations]", line]) == 1
    assert capsys.readouterr().err == said
