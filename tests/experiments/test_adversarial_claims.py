"""The adversarial study: every claim is told apart from its false variant, and rates are what was asked for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.experiments.conftest import TinyRun


@pytest.fixture(scope="module")
def study(tiny_run: TinyRun) -> Path:
    dose = "perturbation.adversarial_claims.dose=[0.2,1]"
    return tiny_run("adversarial_claims", "metric=[fact_given]", dose, "perturbation.adversarial_claims.seed=[0,1]")


def test_all_fifteen_claims_are_judged_as_true_and_as_false_variant(study: Path) -> None:
    labels = pl.read_csv(study / "study" / "by_claim.csv")
    assert labels.height == 15
    assert labels["topic"].n_unique() == 15
    assert labels["true_claim"].null_count() == labels["false_variant"].null_count() == 0
    row = pl.read_csv(study / "study" / "adversarial_claims.csv").row(0, named=True)
    assert row["claims"] == 15


def test_means_over_claims_are_those_of_the_item_table(study: Path) -> None:
    row = pl.read_csv(study / "study" / "adversarial_claims.csv").row(0, named=True)
    items = pl.read_parquet(study / "judgments.parquet").filter(pl.col("family") == "fact")
    clean = items.filter(pl.col("perturbation") == "clean")["value"].mean()
    false = items.filter(pl.col("dose") == 1.0)["value"].mean()
    assert row["true"] == pytest.approx(clean, abs=1e-4)
    assert row["false"] == pytest.approx(false, abs=1e-4)
    assert row["change"] == pytest.approx(false - clean, abs=1e-4)


def test_a_rate_of_a_fifth_changes_three_claims_in_each_draw(study: Path) -> None:
    rates = pl.read_csv(study / "study" / "by_rate.csv")
    assert rates["rate"].to_list() == [0.0, 0.2, 1.0]
    assert rates["draws"].to_list() == [1, 2, 2]
    texts = [path.read_text() for path in (study / "perturbed").glob("*0.2*/*.json")]
    assert len(texts) == 2
    assert all('"changed": 3' in text for text in texts)
