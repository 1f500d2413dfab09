"""What a run prints: values by their unit, cells with interval, n and what was left out."""

from __future__ import annotations

from dreambench.reporting.tables import format_cell, format_value


def test_values_are_shown_by_their_unit() -> None:
    assert format_value(0.6767, "share") == "67.67"
    assert format_value(1628.0, "count") == "1,628.0"
    assert format_value(None, "share") == "–"


def test_a_cell_shows_interval_tasks_small_samples_and_exclusions() -> None:
    row = {"value": 0.5, "low": 0.25, "high": 0.75, "unit": "share", "n_tasks": 8, "n_excluded": 2}
    assert format_cell(row) == "50.00 [25.00, 75.00] n=8* !2"
    assert format_cell({**row, "low": None, "n_tasks": 30, "n_excluded": 0}) == "50.00 n=30"
