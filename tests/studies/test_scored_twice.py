"""Comparisons by hand: pairs of sides, shifts over tasks, rankings, calls a report, and panels that can be drawn."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.studies.inputs import StudySettings, existing_file, finished_runs, read_settings
from dreambench.studies.panels import interval_panels
from dreambench.studies.scored_twice import both_sides, calls_per_report, ranking_agreement, reads_wording, shift

ROWS = [
    {"task": "t", "agent": "x", "way": "a", "value": 0.2},
    {"task": "t", "agent": "x", "way": "a", "value": 0.4},  # a second repeat
    {"task": "t", "agent": "x", "way": "b", "value": 0.5},
    {"task": "t", "agent": "y", "way": "a", "value": 0.9},  # the other side has no value
    {"task": "t", "agent": "y", "way": "b", "value": None},
    {"task": "u", "agent": "x", "way": "a", "value": 0.1},
    {"task": "u", "agent": "x", "way": "b", "value": 0.5},
]


def test_sides_are_paired_by_report_and_shifts_are_means_over_tasks() -> None:
    pairs = both_sides(pl.DataFrame(ROWS), "way", "a", "b")
    assert pairs.rows() == [("t", "x", pytest.approx(0.3), 0.5), ("u", "x", 0.1, 0.5)]
    moved = shift(pairs)
    assert moved.value == pytest.approx(0.3)  # .2 and .4
    assert moved.n == 2


def test_fewer_than_three_agents_rank_nothing() -> None:
    found = ranking_agreement(both_sides(pl.DataFrame(ROWS), "way", "a", "b"))
    assert (found["tau"], found["tasks"], found["no_ranking"]) == (None, 0, 2)


def run(**tables: Any) -> Any:
    return SimpleNamespace(**tables)


def test_calls_and_tokens_per_report() -> None:
    cells = [("c1", "r1", "clean"), ("c2", "r2", "clean"), ("c3", "r1", "omission")]
    judgments = pl.DataFrame(
        [{"metric": "m", "cell": cell, "report": report, "perturbation": arm, "repeat": 0} for cell, report, arm in cells] * 2
    )
    call = {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.5, "seconds": 1.0}
    calls = pl.DataFrame(
        [{"cell": "c1", **call}, {"cell": "c1", **call, "cost": None}, {"cell": "c2", **call}, {"cell": "c3", **call}]
    )
    (row,) = calls_per_report(run(judgments=judgments, calls=calls), ["metric"]).iter_rows(named=True)
    assert (row["reports"], row["calls"], row["tokens"]) == (2, 1.5, 18.0)
    assert row["cost"] == 0.5  # what is known: the other report's price is not


def test_a_panel_reads_wording_when_a_member_does() -> None:
    rules, model = {"judge": "embedded"}, {"judge": "llm"}
    judges = {"e": rules, "m": model, "p": {"judge": "panel", "members": [rules, model]}, "q": {"members": [rules, rules]}}
    found = run(summary={"judges": judges})
    assert [reads_wording(found, name) for name in "empq"] == [False, True, True, False]


def test_panels_are_drawn_with_and_without_intervals(tmp_path: Path) -> None:
    rows = [
        {"p": "one", "r": "x", "s": "a", "value": 0.5, "low": None, "high": 0.6},
        {"p": "two", "r": "y", "s": "b", "value": None},
    ]
    table = pl.DataFrame(
        rows, schema={"p": pl.String, "r": pl.String, "s": pl.String, **dict.fromkeys(("value", "low", "high"), pl.Float64)}
    )
    written = interval_panels(table, tmp_path, "f", panel="p", row="r", series="s", label="l")
    assert [path.name for path in written] == ["f.svg", "f.png"]


class Settings(StudySettings):
    files: tuple[str, ...] = ()


def test_inputs_are_checked_by_key() -> None:
    assert read_settings(Settings, {"files": ["a"]}).files == ("a",)
    with pytest.raises(InputError, match=r"study_inputs\.file: no such key; did you mean files"):
        read_settings(Settings, {"file": []})


def test_what_is_no_run_and_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run: it has no summary\.json"):
        finished_runs([tmp_path], "runs")
    with pytest.raises(InputError, match="is no file"):
        existing_file(tmp_path, "ratings")
