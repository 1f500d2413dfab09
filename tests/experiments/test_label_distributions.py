"""The study of label distributions: shares that add up, the parts of CI, and a run that gives no labels."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.apps.command import dreambench


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the study wrote about one task."""
    place = tmp_path_factory.mktemp("labels")
    keys = ["metric.factuality.claims=4", "dataset.limit=1", "dataset.agents=[good,stale]"]
    ran = dreambench("+experiment=label_distributions", *keys, cwd=place)
    assert ran.code == 0, ran.err
    assert "## Factuality labels" in ran.out
    (written,) = place.glob("outputs/label_distributions-*/study")
    return written


@pytest.mark.parametrize(("name", "labels"), [("factuality_labels", 4), ("citation_labels", 5)])
def test_the_shares_of_an_agents_labels_add_up_to_one(folder: Path, name: str, labels: int) -> None:
    table = pl.read_csv(folder / f"{name}.csv")
    sums = table.group_by("judge", "agent").agg(pl.col("share").sum(), pl.len(), pl.col("claims").sum())
    assert sums["share"].to_list() == pytest.approx([1.0, 1.0], abs=1e-5)
    assert sums["len"].to_list() == [labels, labels]
    assert all(0 < claims <= (4 if name == "factuality_labels" else 99) for claims in sums["claims"])


def test_ci_is_the_harmonic_mean_of_its_parts(folder: Path) -> None:
    table = pl.read_csv(folder / "citation_integrity.csv")
    assert table["agent"].to_list() == ["good", "stale"]
    for row in table.iter_rows(named=True):
        assert row["CI"] == pytest.approx(2 * row["CA"] * row["CF"] / (row["CA"] + row["CF"]), abs=1e-5)
    text = (folder / "findings.md").read_text(encoding="utf-8")
    assert f"CA {100 * table['CA'][0]:.1f} %" in text


def test_a_run_without_labels_says_which_metrics_give_some(tmp_path: Path) -> None:
    ran = dreambench("metric=[length]", "study=label_distributions", "dataset.limit=1", cwd=tmp_path)
    assert ran.code == 1
    assert "no metric of the run gives any" in ran.err and "metric=[factuality,ci]" in ran.err
