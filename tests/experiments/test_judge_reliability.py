"""Judge reliability: turned items, panels and the canary by hand; a run of the demo with its canary asked past the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.studies.canary import drawn_reports, match
from tests.experiments.running import TINY, files, make, report_values, run_experiment, study
from tests.support.openai_stub import OpenAIStub, saying

reliability = study("judge_reliability")
KEYS = {"metric": "m", "rubric": "default", "judge": "a"}


def item(name: str, repeat: int, value: float | None, **more: Any) -> dict[str, Any]:
    usual = {"task": "t", "agent": "x", "report": "r", "perturbation": "clean", "family": "f", "status": "scored", "label": "l"}
    return {**KEYS, **usual, "item": name, "repeat": repeat, "value": value, **more}


def test_turned_items_by_hand() -> None:
    values = {"1": (1.0, 1.0, 1.0), "2": (1.0, 0.0, 1.0), "3": (1.0, 0.5, 0.0)}
    rows = [item(name, repeat, value) for name, given in values.items() for repeat, value in enumerate(given)]
    rows += [
        item("4", repeat, value, status=status) for repeat, value, status in ((0, 1.0, "scored"), (1, None, "judge_error"))
    ]
    found = reliability.turned_items(pl.DataFrame(rows), KEYS)
    assert found["items"] == 3  # the fourth lacks repeats
    assert found["turned"] == pytest.approx(2 / 3)
    assert found["turned_pair"] == pytest.approx((0 + 2 / 3 + 1) / 3)  # pairs of repeats that differ: 0, 2 and 3 of 3


def test_repeats_by_hand() -> None:
    values = report_values(
        [
            {"report": f"r{n}", "task": f"t{n}", "repeat": repeat, "value": value}
            for n, pair in enumerate([(0.1, 0.3), (0.5, 0.5), (0.9, 0.7)])
            for repeat, value in enumerate(pair)
        ]
    )
    rows = pl.DataFrame([item("1", 0, 1.0), item("1", 1, 0.0)])
    (row,) = reliability.repeat_table(values, rows).iter_rows(named=True)
    # mean squares: between reports 2 x (.09 + 0 + .09) / 2 = .18, within (.02 + 0 + .02) / 3 = .01333
    assert row["icc"] == pytest.approx((0.18 - 0.04 / 3) / (0.18 + 0.04 / 3))
    assert row["sd"] == pytest.approx(0.0)  # both repeats have the mean .5
    assert (row["repeats"], row["reports"], row["turned"]) == (2, 3, 1.0)


def test_panels_by_hand() -> None:
    scores = {"a": (0.2, 0.4, 0.6), "b": (0.4, 0.6, 0.8), "c": (0.6, 0.2, 0.1)}
    values = report_values(
        [
            {"judge": judge, "agent": agent, "report": agent, "value": value}
            for judge, given in scores.items()
            for agent, value in zip("xyz", given, strict=True)
        ]
    )
    one, two, three = reliability.panel_table(values).iter_rows(named=True)
    assert [row["panels"] for row in (one, two, three)] == [3, 3, 1]
    assert three["distance"] == pytest.approx(0.0) and three["tau"] == pytest.approx(1.0)
    # all: (.4, .4, .5); a: .2 + 0 + .1, b: 0 + .2 + .3, c: .2 + .2 + .4, over nine
    assert one["distance"] == pytest.approx(1.6 / 9)
    assert two["distance"] < one["distance"]


def test_reliability_is_stepped_up() -> None:
    assert reliability.stepped(0.5, 3) == pytest.approx(0.75)
    assert reliability.stepped(-0.2, 3) is None


def test_the_canary_counts_what_changed_beside_what_repeats_differ_by() -> None:
    stored = pl.DataFrame([item("1", 0, 1.0), item("2", 0, 0.0), item("3", 0, 0.5), item("4", 0, 1.0)])
    now = pl.DataFrame([item("1", 0, 1.0), item("2", 0, 1.0), item("3", 0, None, status="judge_error"), item("5", 0, 1.0)])
    repeats = pl.DataFrame([{**KEYS, "turned_pair": 0.1}])
    (row,) = reliability.canary_table(match(stored, now), repeats).iter_rows(named=True)
    assert (row["asked_again"], row["unanswered"]) == (3, 1)
    assert row["changed"] == pytest.approx(0.5)
    assert row["moved"] == pytest.approx(0.5)
    assert row["changed_between_repeats"] == 0.1


def test_the_canary_draws_whole_reports_of_one_agent() -> None:
    rows = [item(str(n), 0, 1.0, task=f"t{task}", agent=agent) for n in range(10) for task in range(5) for agent in "xy"]
    tasks, agent = drawn_reports(pl.DataFrame(rows), 20, "seed")
    assert len(tasks) == 2 and agent in "xy"
    assert (tasks, agent) == drawn_reports(pl.DataFrame(rows).reverse(), 20, "seed")
    assert drawn_reports(pl.DataFrame(rows), 0, "seed") == ([], "")


def test_a_demo_run_asks_its_canary_past_the_cache(tmp_path: Path) -> None:
    small = ["metric.wq.rubric=default", "study_inputs.canary=5", "dataset.ids=saturn-moons"]
    run = run_experiment("judge_reliability", tmp_path, *TINY, *small)
    assert make("judge_reliability", run) == files("repeats", "canary", "canary_items", figures=["judge_reliability"])
    (row,) = pl.read_csv(run.output / "canary.csv").iter_rows(named=True)
    assert (row["asked_again"], row["changed"], row["unanswered"]) == (10, 0, 0)
    (calls,) = run.output.glob("canary/1/*/calls.parquet")
    assert set(pl.read_parquet(calls)["source"]) == {"provider"}
    assert "equal by construction" in (run.output / "findings.md").read_text(encoding="utf-8")


def test_the_canary_sees_that_a_model_answers_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with OpenAIStub() as stub:
        model = [
            "judge=[litellm]",
            "judge.litellm.model=openai/m",
            f"judge.litellm.api_base={stub.url}",
            "judge.litellm.seed=1",
        ]
        small = ["metric.wq.rubric=default", "dataset.ids=saturn-moons", "dataset.agents=[good]", "study_inputs.canary=5"]
        run = run_experiment("judge_reliability", tmp_path, *model, *small)
        asked = len(stub.requests)
        stub.always(saying({"reason": "now all is perfect", "score": 100}))
        make("judge_reliability", run)
        assert asked == 2 * 10 and len(stub.requests) == asked + 10
    (row,) = pl.read_csv(run.output / "canary.csv").iter_rows(named=True)
    assert row["asked_again"] == 10 and row["changed"] > 0.5 and row["moved"] > 0
    (repeats,) = pl.read_csv(run.output / "repeats.csv").iter_rows(named=True)
    assert repeats["items"] == 10 and repeats["turned"] > 0.5
    text = (run.output / "findings.md").read_text(encoding="utf-8")
    assert "10 judgments asked again" in text and "by construction" not in text


def test_wrong_inputs_are_refused() -> None:
    with pytest.raises(InputError, match=r"study_inputs\.canary"):
        reliability.check({"canary": -1})
