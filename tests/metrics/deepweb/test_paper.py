"""What the paper's published tables let us compute again, from its own numbers (real data, by DREAMBENCH_DATA)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.deepweb import analysis
from dreambench.metrics.deepweb.dataset import UNPUBLISHED, MatrixDataset
from dreambench.metrics.deepweb.importer import read_dimensions
from dreambench.metrics.deepweb.metric import DeepWeb
from dreambench.metrics.deepweb.model import Family, MatrixTask, ReleasedRun, overall, verdict
from dreambench.metrics.metric import Subject
from dreambench.records import Report, Task

CASES = 100
OPUS = "Claude Opus 4.7"


@pytest.fixture(scope="module")
def paper(real_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((real_data / "deepweb" / "paper_tables.json").read_text(encoding="utf-8"))
    return found


def test_the_overall_scores_follow_from_the_families(paper: dict[str, Any]) -> None:
    assert len(paper["table1"]) == 9
    for row in paper["table1"]:
        values = dict(zip(paper["table1_columns"], row, strict=True))
        families = {family: values[family.value] for family in Family}
        assert overall(families) == pytest.approx(values["overall"], abs=0.015), values["model"]


def test_the_policy_on_missing_runs_moves_the_second_model_to_rank_seven(paper: dict[str, Any]) -> None:
    excluded = {row[0]: row[1] for row in paper["table1"]}
    zero = {
        name: analysis.with_missing_as_zero(mean, paper["missing_runs"].get(name, 0), CASES) for name, mean in excluded.items()
    }
    assert zero[OPUS] == pytest.approx(26.43, abs=0.005)
    assert (analysis.ranks(excluded)[OPUS], analysis.ranks(zero)[OPUS]) == (2, 7)


def test_most_failures_are_of_derivation_and_calibration(paper: dict[str, Any]) -> None:
    modes = paper["failure_modes_percent"]
    assert {group: sum(shares.values()) for group, shares in modes.items()} == {"top4": 100, "other5": 100}
    assert {group: analysis.deep_share(shares) for group, shares in modes.items()} == {"top4": 71, "other5": 76}


def test_the_mean_correlation_of_models(paper: dict[str, Any]) -> None:
    rhos = analysis.off_diagonal(paper["spearman"])
    assert len(rhos) == 36
    assert sum(rhos) / 36 == pytest.approx(0.6111, abs=5e-5)
    assert round(sum(rhos) / 36, 2) == paper["spearman_mean_off_diagonal"]
    assert (min(rhos), max(rhos)) == (0.35, 0.79)
    assert sum(paper["domains"].values()) == CASES


def test_the_mean_row_is_pooled_over_runs(paper: dict[str, Any]) -> None:
    """Not a mean of models: 27.17 is the paper's figure for the 874 runs (FORMATS 1.5)."""
    runs = {row[0]: CASES - paper["missing_runs"].get(row[0], 0) for row in paper["table1"]}
    pooled = sum(row[1] * runs[row[0]] for row in paper["table1"]) / sum(runs.values())
    assert sum(runs.values()) == 874
    assert pooled == pytest.approx(27.17, abs=0.01)


def test_a_released_record_is_aggregated_from_its_cells_not_from_its_rounded_averages(paper: dict[str, Any]) -> None:
    """The one real question of the sample, and the eight exact averages of its case."""
    question = paper["score_record_shape"]["q_scores"]["Q2"]
    cells: dict[str, float] = question["per_entity"]
    assert 100 * sum(cells.values()) / 8 == 56.25
    assert question["avg"] == 56.2
    exact = [62.5, 56.25, 46.875, 25, 81.25, 50, 84.375, 68.75]
    tiers = {f"Q{number}": _cells(mean) for number, mean in enumerate(exact, 1)} | {"Q2": cells}
    entities = ("OpenAI", "Anthropic", "Google DeepMind", "Meta AI", "xAI", "Mistral AI", "Cohere", "01.AI (Zero-One AI)")
    task = MatrixTask(id="01", question="?", entities=entities, dimensions=read_dimensions(8, {}))
    run = ReleasedRun(tiers=tiers, overall_pct=paper["score_record_shape"]["overall_pct"])
    metric = DeepWeb(name="deepweb", shelf=RubricShelf([bundled("rubrics")]), scores="released")
    assert metric.prepare(MatrixDataset(matrices={"01": task}, released={("01", "a"): run})) == []
    subject = Subject(Task("01", "?", "deepweb"), Report("01", "a", UNPUBLISHED))
    rows = [row for row in asyncio.run(metric.measure(subject, None, 0)) if row.value is not None]
    assert len(rows) == 64
    mean = 100 * sum(row.value or 0 for row in rows) / 64
    assert mean == run.overall_pct == 59.375
    assert verdict(mean) == paper["score_record_shape"]["verdict"]


def _cells(mean: float) -> dict[str, float]:
    """Tiers of eight entities with this mean (x100), under the keys that the scores use."""
    names = ["OpenAI", "Anthropic", "Google DeepMind", "Meta AI", "xAI", "Mistral AI", "Cohere", "01.AI"]
    quarters, tiers = round(mean * 8 / 25), []
    for left in range(8, 0, -1):
        best = next(tier for tier in (4, 2, 1, 0) if tier <= quarters and quarters - tier <= 4 * (left - 1))
        tiers.append(best / 4)
        quarters -= best
    assert quarters == 0
    return dict(zip(names, tiers, strict=True))
