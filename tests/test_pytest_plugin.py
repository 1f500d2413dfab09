"""The fixture in a test suite of somebody's own: what passes, what fails, and what a failure says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.apps.command import ROOT

SUITE = """
import sys

REPORT = "The bridge was opened in 1894 [1]. It is safe.\\n\\n[1] City records: https://records.example/bridge\\n"


def test_nothing_is_imported_before_it_is_asked_for():
    assert "polars" not in sys.modules and "dreambench.api" not in sys.modules


def test_good_enough(dreambench):
    result = dreambench(REPORT, "How old is the bridge?", at_least={"citations": 0.5}, at_most={"citations.dangling": 0})
    assert result.score("citations") == 0.5 and "note" not in result.notes


def test_not_good_enough(dreambench):
    dreambench(REPORT, "How old is the bridge?", at_least={"citations": 0.75, "citations.domains": 1})


def test_no_value(dreambench):
    dreambench("Nothing is cited here.", "How old?", at_most={"citations.dangling": 0})


def test_unknown_metric(dreambench):
    dreambench(REPORT, "How old is the bridge?", at_least={"citation": 0.5})


def test_a_run(dreambench):
    folder = dreambench.run(["dataset=demo", "dataset.limit=5", "metric.citations.threshold=0.01", "dataset.agents=[good]"])
    assert (folder / "report.html").is_file()


def test_a_run_below_its_threshold(dreambench):
    dreambench.run(["dataset=demo", "dataset.limit=5", "metric.citations.threshold=0.99", "dataset.agents=[good]"])


def test_a_run_that_cannot_start(dreambench):
    dreambench.run(["metric=[citatons]"])
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What was said of each test of the suite; `passed` for those that passed."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "test_suite.py").write_text(SUITE, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ndreambench_overrides =\n    metric=[citations]\n", encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "150"}
    line = [sys.executable, "-m", "pytest", "-p", "dreambench.pytest_plugin", "-p", "no:cacheprovider", "-rA", "--tb=short"]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    found = dict.fromkeys(re.findall(r"^PASSED test_suite\.py::(\w+)$", done.stdout, re.MULTILINE), "passed")
    for name, said in re.findall(r"^_+ (test_\w+) _+\n(.*?)(?=^_{5,}|^={5,})", done.stdout, re.MULTILINE | re.DOTALL):
        found.setdefault(name, said)
    return found


def test_what_is_good_enough_passes(ran: dict[str, str]) -> None:
    passed = {name for name, said in ran.items() if said == "passed"}
    assert passed == {"test_nothing_is_imported_before_it_is_asked_for", "test_good_enough", "test_a_run"}


def test_a_failure_says_which_bound_and_which_words(ran: dict[str, str]) -> None:
    said = ran["test_not_good_enough"].splitlines()
    assert said[:3] == [
        "dreambench: 1 of 2 bounds missed",
        "  FAILED  citations is 0.5, wanted >= 0.75",
        "  ok      citations.domains is 1, wanted >= 1",
    ]
    assert '  citations uncited: "It is safe."' in said
    assert Path(said[-1].removeprefix("page: ")).is_file()


def test_no_value_is_no_pass(ran: dict[str, str]) -> None:
    assert "  FAILED  citations.dangling is no value, wanted <= 0\n" in ran["test_no_value"]


def test_a_wrong_name_is_told(ran: dict[str, str]) -> None:
    assert "citation: no score goes by this name" in ran["test_unknown_metric"]
    assert "citations attribution by code" in ran["test_unknown_metric"]


def test_a_run_fails_by_its_interval(ran: dict[str, str]) -> None:
    said = ran["test_a_run_below_its_threshold"]
    assert said.startswith("dreambench: below_threshold\nthreshold FAILED: good / citations attribution / code: value ")
    assert "lower bound" in said and "< threshold 0.99" in said


def test_a_run_that_cannot_start_says_why(ran: dict[str, str]) -> None:
    said = ran["test_a_run_that_cannot_start"]
    assert said.startswith("dreambench: user_error\nerror: ") and "did you mean citations" in said


def test_an_installed_dreambench_brings_the_fixture_along() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["pytest11"]
    assert points == {"dreambench.pytest_plugin": "dreambench.pytest_plugin"}
