"""The dose studies run from their option files to tables, figure and findings, and what they print is what the run holds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dreambench.config.studies import load_study
from dreambench.errors import ConfigError
from dreambench.runs.folder import RunFolder
from dreambench.studies.study import make_study
from tests.experiments.conftest import TinyRun

TINY = ["dataset.agents=[good]", "dataset.ids=[saturn-moons,marine-sulphur-cap]"]


@pytest.fixture(scope="module")
def injection(tiny_run: TinyRun) -> Path:
    return tiny_run("factual_injection", *TINY, "metric=[fact,citations]", "perturbation.factual_injection.dose=[0.5,1]")


def test_a_dose_study_writes_its_tables_figure_and_findings(injection: Path) -> None:
    written = {path.name for path in (injection / "study").iterdir()}
    assert {"factual_injection.csv", "factual_injection.md", "factual_injection.tex", "factual_injection.svg"} <= written
    assert {"factual_injection.png", "factual_injection_means.csv", "planted.csv", "findings.md"} <= written


def test_the_table_says_what_the_scores_of_the_run_say(injection: Path) -> None:
    table = pl.read_csv(injection / "study" / "factual_injection.csv")
    row = table.row(by_predicate=pl.col("metric") == "fact", named=True)
    scores = pl.read_parquet(injection / "report_scores.parquet").filter(pl.col("metric") == "fact", pl.col("primary"))
    clean = scores.filter(pl.col("perturbation") == "clean")["value"].mean()
    full = scores.filter(pl.col("perturbation") != "clean", pl.col("dose") == 1.0)["value"].mean()
    assert (row["n_tasks"], row["clean"], row["full"]) == (2, pytest.approx(clean, abs=1e-4), pytest.approx(full, abs=1e-4))
    assert row["shift"] == pytest.approx(full - clean, abs=1e-4)
    assert row["relative"] == pytest.approx((full - clean) / clean, abs=1e-3)


def test_a_metric_that_reads_no_facts_does_not_move(injection: Path) -> None:
    table = pl.read_csv(injection / "study" / "factual_injection.csv")
    row = table.row(by_predicate=pl.col("metric") == "citations", named=True)
    assert row["shift"] == 0.0
    assert "citations by code, factual_injection: does not move" in (injection / "study" / "findings.md").read_text()


def test_a_run_without_the_metric_in_focus_says_so(injection: Path) -> None:
    assert "the run has no factuality" in (injection / "study" / "findings.md").read_text()


def test_temporal_sensitivity_shows_topics_and_the_published_numbers_only_when_asked(tiny_run: TinyRun) -> None:
    run = tiny_run("temporal_sensitivity", *TINY, "metric=[kic]", "perturbation.one_year_back.dose=1")
    topics = pl.read_csv(run / "study" / "topics.csv")
    assert set(topics["task"]) == {"saturn-moons", "marine-sulphur-cap"}
    assert {"clean", "one_year_back", "two_years_back"} <= set(topics.columns)
    assert not (run / "study" / "published.csv").exists()
    make_study("temporal_sensitivity", RunFolder(run), {"published": True})
    assert "79.35" in (run / "study" / "published.csv").read_text()
    assert "Compare the direction" in (run / "study" / "findings.md").read_text()


def test_temporal_sensitivity_refuses_other_inputs() -> None:
    check = load_study("temporal_sensitivity").check
    check({"published": False})
    with pytest.raises(ConfigError, match="is no input of this study"):
        check({"publisht": True})
    with pytest.raises(ConfigError, match="neither true nor false"):
        check({"published": "yes"})


def test_reasoning_flaws_runs_and_shows_the_dimensions_of_wq(tiny_run: TinyRun) -> None:
    folder = tiny_run("reasoning_flaws", *TINY, "metric=[wq]", "perturbation.malformed_reasoning.dose=[1]") / "study"
    metrics = set(pl.read_csv(folder / "reasoning_flaws.csv")["metric"])
    assert {"wq", "wq organization", "wq sentence fluency"} <= metrics
