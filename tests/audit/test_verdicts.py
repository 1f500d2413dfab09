"""The rules of the verdicts, one row at a time."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from dreambench.audit.verdicts import judge_cell, with_verdicts

ROW: dict[str, Any] = {
    "metric": "m", "judge": "j", "role": "flaw", "shift": -0.2, "slope": -0.2, "p": 0.001, "p_holm": 0.01, "within": False,
    "n_tasks": 8, "n_reports": 8, "lost": 0, "unchanged": 0.0, "detectable": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "sees"),
        ({"slope": 0.2, "shift": 0.2}, "wrong way"),
        ({"within": True}, "blind"),  # significant, but too small to matter
        ({"p_holm": 0.06}, "undecided"),
        ({"p_holm": None}, "undecided"),
        ({"unchanged": 1.0}, "undecided"),
        ({"shift": None}, "undecided"),
        ({"lost": 8}, "undecided"),
        ({"role": "placebo"}, "false alarm"),
        ({"role": "placebo", "slope": 0.2, "shift": 0.2}, "false alarm"),
        ({"role": "placebo", "within": True}, "steady"),
        ({"role": "placebo", "p_holm": 0.3}, "undecided"),
    ],
)
def test_a_cell_is_judged_by_the_stated_rules(changed: dict[str, Any], verdict: str) -> None:
    assert judge_cell({**ROW, **changed})[0] == verdict


def test_an_undecided_cell_says_what_the_reports_could_have_shown() -> None:
    assert judge_cell({**ROW, "p_holm": 0.5}) == ("undecided", "8 tasks find a shift of 10.0 points or more")


def test_p_is_adjusted_within_a_metric_and_judge_and_role() -> None:
    rows = [{**ROW, "p": 0.03}, {**ROW, "p": 0.03}, {**ROW, "judge": "k", "p": 0.03}, {**ROW, "role": "placebo", "p": 0.03}]
    judged = with_verdicts(pl.DataFrame(rows).drop("p_holm"))
    assert judged["p_holm"].to_list() == pytest.approx([0.06, 0.06, 0.03, 0.03])
    assert judged["verdict"].to_list() == ["undecided", "undecided", "sees", "false alarm"]


def test_equal_shifts_of_all_tasks_are_tested_by_their_sign() -> None:
    rows = [{**ROW, "p": None, "slope": None, "shift": -0.5, "n_tasks": n, "judge": str(n)} for n in (5, 8)]
    frame = pl.DataFrame(rows, schema_overrides={"p": pl.Float64, "slope": pl.Float64}).drop("p_holm")
    judged = with_verdicts(frame)
    assert judged["p"].to_list() == pytest.approx([2 * 0.5**5, 2 * 0.5**8])
    assert judged["verdict"].to_list() == ["undecided", "sees"]
