"""Dose tables on scores made by hand: shifts, lost reports, margins, the arms' logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.studies.dose_study import contrasts, points, response_line
from dreambench.studies.dose_tables import dose_means, labelled, planted, responses

CLEAN = [0.8, 0.7, 0.9, 0.6]


def scores(full: list[float | None], metric: str = "m", perturbation: str = "p", half: float = 0.5) -> pl.DataFrame:
    """Four tasks with a report each: as they are, at dose .5 (part of the way), at dose 1."""
    rows: list[dict[str, Any]] = []
    for task, (before, after) in enumerate(zip(CLEAN, full, strict=True)):
        middle = None if after is None else before + half * (after - before)
        for dose, value in ((0.0, before), (0.5, middle), (1.0, after)):
            name = "clean" if dose == 0 else perturbation
            rows.append({"task": f"t{task}", "report": f"r{task}", "dose": dose, "value": value, "perturbation": name})
    known = {"metric": metric, "rubric": "default", "judge": "j", "variant": "v", "primary": True}
    frame = pl.DataFrame(rows, schema_overrides={"value": pl.Float64})
    return labelled(frame.with_columns(**{key: pl.lit(value) for key, value in known.items()}))


def test_shift_slope_and_auc_of_scores_that_halve() -> None:
    row = responses(scores([0.41, 0.36, 0.44, 0.31]), seed=0).row(0, named=True)
    assert (row["clean"], row["full"], row["shift"]) == pytest.approx((0.75, 0.38, -0.37))
    assert row["relative"] == pytest.approx(-0.37 / 0.75)
    assert row["slope"] == pytest.approx(-0.37, abs=1e-6)
    assert (row["auc"], row["monotone"], row["within"]) == (1.0, 1.0, False)
    assert row["smallest_dose"] == 0.5


def test_reports_that_lose_their_score_are_counted_and_left_out_of_both_means() -> None:
    row = responses(scores([0.41, 0.36, None, None]), seed=0).row(0, named=True)
    assert (row["lost"], row["n_reports"], row["clean"]) == (2, 2, pytest.approx(0.75))
    none = responses(scores([None] * 4), seed=0).row(0, named=True)
    assert (none["lost"], none["n_reports"], none["shift"]) == (4, 0, None)
    assert "4 lose theirs" in response_line({**none, "p_holm": None})


def test_a_rise_is_no_detection() -> None:
    row = responses(scores([0.91, 0.80, 0.99, 0.71]), seed=0).row(0, named=True)
    assert row["shift"] > 0
    assert row["smallest_dose"] is None


def test_scores_that_do_not_move_are_within_the_margin_without_a_test() -> None:
    row = responses(scores(list(CLEAN)), seed=0).row(0, named=True)
    assert (row["shift"], row["within"], row["tost_p"]) == (0.0, True, None)


def test_a_margin_that_is_given_is_the_margin() -> None:
    moved = scores([0.77, 0.66, 0.87, 0.57])
    assert responses(moved, seed=0, margin=0.05).row(0, named=True)["within"] is True
    assert responses(moved, seed=0, margin=0.01).row(0, named=True)["within"] is False


def test_means_start_with_the_clean_reports() -> None:
    means = dose_means(scores([0.4, 0.35, 0.45, 0.3]), seed=0)
    assert means["dose"].to_list() == [0.0, 0.5, 1.0]
    assert means["value"].to_list() == pytest.approx([0.75, 0.5625, 0.375])


def test_the_metric_in_focus_is_compared_by_shares_of_its_own_score() -> None:
    both = pl.concat([scores([0.4, 0.35, 0.45, 0.31]), scores([0.8, 0.69, 0.9, 0.6], metric="other")])
    row = contrasts(both, "m").row(0, named=True)
    assert (row["focus"], row["other"], row["n_tasks"]) == ("m", "other", 4)
    assert row["focus_change"] == pytest.approx(-1.49 / 3)
    assert row["difference"] == pytest.approx(-1.49 / 3 + 0.01 / 3)
    assert contrasts(both, "absent").is_empty()


def test_planted_reads_the_edit_logs(tmp_path: Path) -> None:
    for name, changed in (("a", 2), ("b", 0)):
        file = tmp_path / "p[0.5]" / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        log = {"kind": "p", "role": "flaw", "dose": 0.5, "eligible": 4, "changed": changed, "met": changed / 4}
        file.write_text(json.dumps(log))
    row = planted(tmp_path).row(0, named=True)
    assert (row["perturbation"], row["reports"], row["unchanged"], row["eligible"], row["changed"]) == ("p", 2, 1, 8, 2)
    assert row["met"] == pytest.approx(0.25)
    assert planted(tmp_path / "none").is_empty()


def test_points_are_of_100() -> None:
    assert points({"a": -0.123, "b": -0.2, "c": None}, "a", "b", "c") == "-12.3"
    assert points({"a": -0.123, "b": -0.2, "c": 0.1}, "a", "b", "c") == "-12.3 [-20.0, 10.0]"
