"""Batching: kappa, turned labels and saved calls by hand, and a run of the demo."""

from __future__ import annotations

import polars as pl
import pytest

from dreambench.reporting.finished import FinishedRun
from tests.experiments.running import files, make, study

batching = study("batching_agreement")


def test_agreement_by_hand() -> None:
    batched = ["yes"] * 4 + ["no"] * 6
    single = ["yes"] * 3 + ["no"] * 5 + ["yes"] * 2  # one lost, two gained
    labels = pl.DataFrame({"task": [f"t{n % 5}" for n in range(10)], "batched": batched, "single": single})
    found = batching.agreement(labels)
    assert found["facts"] == 10
    assert found["equal"] == pytest.approx(0.7)
    # chance: .4 x .5 + .6 x .5 = .5, kappa (.7 - .5) / .5
    assert found["kappa"] == pytest.approx(0.4)
    assert (found["yes_only_single"], found["yes_only_batched"]) == (2, 1)
    assert found["mcnemar_p"] == pytest.approx(1.0)


def test_labels_are_paired_by_fact_and_wording() -> None:
    shared = {"metric": "kic", "judge": "a", "task": "t", "agent": "x", "report": "r", "perturbation": "clean", "repeat": 0}
    rows = [
        {"rubric": "default", "item": "1", "label": "yes", "status": "scored"},
        {"rubric": "default+one_by_one", "item": "1", "label": "no", "status": "scored"},
        {"rubric": "default+one_by_one", "item": "2", "label": "no", "status": "judge_error"},
        {"rubric": "default", "item": "2", "label": "no", "status": "scored"},
        {"rubric": "terse", "item": "1", "label": "no", "status": "scored"},
    ]
    ((keys, labels),) = batching.pairs_of_labels(pl.DataFrame([{**shared, **row} for row in rows]))
    assert keys == {"metric": "kic", "judge": "a", "wording": "default"}
    assert labels.select("item", "batched", "single").rows() == [("1", "yes", "no")]


def test_a_run_shows_what_is_saved(ways_run: FinishedRun) -> None:
    assert make("batching_agreement", ways_run) == files("batching_agreement", "turned", figures=["batching_agreement"])
    (row,) = pl.read_csv(ways_run.output / "batching_agreement.csv").iter_rows(named=True)
    facts = row["calls_single"]
    assert row["calls_batched"] == 1 and facts >= 8
    assert row["calls_saved"] == pytest.approx(1 - 1 / facts, abs=1e-4)
    assert row["equal"] == 1 and row["facts"] == 3 * facts
    assert "equal labels are no finding" in (ways_run.output / "findings.md").read_text(encoding="utf-8")
