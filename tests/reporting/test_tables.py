"""What a run prints: values by their unit, cells with interval, n and what was left out."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
from rich.console import Console

from dreambench.metrics.aggregation import SCORE_SCHEMA
from dreambench.reporting.tables import SHOWN_AGENTS, format_cell, format_value, print_run, undecided_lines
from dreambench.runs.assembly import CLEAN


def test_values_are_shown_by_their_unit() -> None:
    assert format_value(0.6767, "share") == "67.67"
    assert format_value(1628.0, "count") == "1,628.0"
    assert format_value(None, "share") == "–"


def test_a_cell_shows_interval_tasks_small_samples_and_exclusions() -> None:
    row = {"value": 0.5, "low": 0.25, "high": 0.75, "unit": "share", "n_tasks": 8, "n_excluded": 2}
    assert format_cell(row) == "50.00 [25.00, 75.00] n=8* !2"
    assert format_cell({**row, "low": None, "n_tasks": 30, "n_excluded": 0}) == "50.00 n=30"


def rows(agent: str, undecided: float, strict: float, n_items: int, perturbation: str = CLEAN) -> list[dict[str, Any]]:
    """The two rows of `scores` that tell how many claims an agent's score rests on."""
    shared = {"metric": "factuality", "rubric": "default", "judge": "j", "agent": agent, "perturbation": perturbation}
    counts = {"n_tasks": 1, "n_items": n_items}
    return [
        {**shared, **counts, "variant": "label_unverifiable", "aggregation": "micro", "value": undecided},
        {**shared, **counts, "variant": "strict", "aggregation": "macro", "value": strict},
    ]


def test_a_score_over_some_of_the_claims_says_over_how_many() -> None:
    scores = pl.DataFrame([*rows("bob", 0.2, 0.5, 20), *rows("alice", 0.75, 0.25, 4), *rows("carol", 0.0, 1.0, 9)])
    assert undecided_lines(scores) == [
        "factuality by j, claims that could be decided: "
        "alice 25.00 % of 4 (strict 25.00, fewer than 5 claims a report); bob 80.00 % of 20 (strict 50.00)"
    ]
    assert undecided_lines(pl.DataFrame([*rows("carol", 0.0, 1.0, 9), *rows("bob", 0.5, 0.5, 9, "omission")])) == []


def test_citation_integrity_tells_of_cited_claims() -> None:
    scores = pl.DataFrame(rows("bob", 0.2, 0.5, 20)).with_columns(metric=pl.lit("ci"))
    assert undecided_lines(scores) == ["ci by j, cited claims that could be decided: bob 80.00 % of 20 (strict 50.00)"]


def test_many_agents_with_undecided_claims_stay_one_line() -> None:
    scores = pl.DataFrame([row for number in range(SHOWN_AGENTS + 3) for row in rows(f"a{number}", 0.5, 0.5, 10)])
    (line,) = undecided_lines(scores)
    assert line.count("strict") == SHOWN_AGENTS and line.endswith("; 3 more agents")


def test_a_run_without_scores_prints_no_legend() -> None:
    said = io.StringIO()
    values = pl.DataFrame(schema={**SCORE_SCHEMA, "task": pl.String, "report": pl.String})
    print_run(Console(file=said, width=200), pl.DataFrame(schema=SCORE_SCHEMA), values, ["a note"])
    assert said.getvalue() == "a note\n"
