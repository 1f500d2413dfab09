"""The benchmark's published score matrices (`agg_scores_*.csv`), turned back into the items that they are shares of.

A cell is a share of a task's unique items (`item_counts.csv`), so the number of satisfied items is known exactly, and the
blocked ones in total; which items they are is not. A blank cell is a run that is missing. All scores then come from the item
table as those of any other run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.judges.kinds.rubric_items import DIMENSIONS
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.aggregation import REPORT_KEYS, report_values
from dreambench.metrics.drb2.rubrics import RubricItem, TaskRubric
from dreambench.metrics.drb2.saved import Saved, missing_rows, saved_rows
from dreambench.metrics.drb2.table import ABSENT, BLOCKED, SATISFIED, THROUGH_BLOCKED, TOTAL, item_row, rubric_variants
from dreambench.metrics.metric import CodeMetric, MissingPolicy, Variant
from dreambench.records import Judgment, Task

FILES: Mapping[str, str] = {
    TOTAL: "agg_scores_total.csv",
    "info_recall": "agg_scores_inforecall.csv",
    "analysis": "agg_scores_analysis.csv",
    "presentation": "agg_scores_presentation.csv",
    BLOCKED: "agg_scores_blocked.csv",
}
COUNTS = "item_counts.csv"
BLANK = "blank_cell"
_LABELS = ("idx", "language", "theme", "avg")
_HALF_DIGIT = 5e-7
"""Shares are written with six decimals."""

_VARYING = ("task", "agent", "report", "dose", "perturbation_seed", "repeat")
_KEPT: Mapping[str, Any] = dict.fromkeys(("item", "family", "label", "status", "reason_code"), pl.String) | {
    "value": pl.Float64,
    "weight": pl.Float64,
}
"""What is kept of a judgment, with its types."""

Cells = dict[tuple[str, str], float | None]
"""(system, idx) -> share, None where the cell is blank."""


class Recorded(CodeMetric):
    """Scores that were made elsewhere, as a metric of the item table."""

    id = "drb2"
    primary = TOTAL

    def __init__(self, missing_policy: MissingPolicy = MissingPolicy.EXCLUDE) -> None:
        super().__init__(name=self.id, shelf=RubricShelf([]))
        self.missing_policy = missing_policy

    async def measure(self, subject: Any, judge: Any, repeat: int) -> list[Judgment]:
        """Nothing: the judgments are there already."""
        return []

    def variants(self) -> list[Variant]:
        return rubric_variants()


def recorded_values(items: pl.DataFrame, policy: MissingPolicy = MissingPolicy.EXCLUDE) -> pl.DataFrame:
    """`report_values` of an item table of recorded scores."""
    return report_values(items, [Recorded(policy)])


def matrix_items(folder: str, key: str) -> pl.DataFrame:
    """The item table behind the matrices of a folder. Raises DatasetError where shares are none of whole numbers of items."""
    problems = Problems()
    base = Path(folder).expanduser()
    for name in (*FILES.values(), COUNTS):
        check_exists(base / name, key, problems)
    problems.check()
    counts = _counts(base / COUNTS, problems)
    shares = {name: _cells(base / file, problems) for name, file in FILES.items()}
    problems.check()
    found = [
        (system, idx, row)
        for system, idx in shares[TOTAL]
        if idx in counts
        for row in _report(system, idx, counts[idx], shares, base, problems)
    ]
    if without := sorted({idx for _, idx in shares[TOTAL]} - set(counts)):
        problems.add(base / COUNTS, None, f"has no counts for {', '.join(without[:5])}")
    problems.check()
    return item_rows(found)


def saved_items(saved: Saved, rubrics: Mapping[str, TaskRubric]) -> pl.DataFrame:
    """The item table of a file of saved lines: every agent with every task that any line or rubric names."""
    tasks = sorted({idx for _, idx in saved.by_report} | set(rubrics), key=lambda idx: (len(idx), idx))
    return item_rows(
        (agent, idx, row)
        for agent in saved.agents
        for idx in tasks
        for row in saved_rows(Task(idx, "", "drb2"), agent, saved, rubrics.get(idx))
    )


def item_rows(found: Iterable[tuple[str, str, Judgment]]) -> pl.DataFrame:
    """(agent, task, judgment) as rows with the keys of the item table; the judge is `recorded`."""
    given = list(found)
    rows_of = [row for _, _, row in given]
    keys = {"dataset": "drb2", "metric": "drb2", "judge": "recorded", "perturbation": "clean"}
    constant = [pl.lit(keys.get(name, "")).alias(name) for name in REPORT_KEYS if name not in _VARYING]
    table = pl.DataFrame(
        {
            "task": [idx for _, idx, _ in given],
            "agent": [agent for agent, _, _ in given],
            **{name: [getattr(row, name) for row in rows_of] for name in _KEPT},
        },
        schema={"task": pl.String, "agent": pl.String, **_KEPT},
    )
    numbers = [pl.lit(0.0).alias("dose"), *(pl.lit(0, pl.Int64).alias(name) for name in ("perturbation_seed", "repeat"))]
    return table.with_columns(pl.format("{} {}", "agent", "task").alias("report"), *constant, *numbers)


def _report(
    system: str, idx: str, counts: Mapping[str, int], shares: Mapping[str, Cells], base: Path, problems: Problems
) -> Iterator[Judgment]:
    """The rows of one system's report: per dimension the satisfied items, then blocked and absent ones."""
    task = Task(idx, "", "drb2")
    total = shares[TOTAL][system, idx]
    items = [RubricItem("", dimension, f"{number}") for dimension in DIMENSIONS for number in range(counts[dimension])]
    if total is None:
        yield from missing_rows(task, BLANK, "the cell is blank", TaskRubric(tuple(items), None))
        return
    left = {
        name: _whole(base, name, system, idx, shares[name].get((system, idx)), counts[name], problems) for name in DIMENSIONS
    }
    blocked = _whole(base, BLOCKED, system, idx, shares[BLOCKED].get((system, idx)), len(items), problems)
    if sum(left.values()) != _whole(base, TOTAL, system, idx, total, len(items), problems):
        problems.add(base / FILES[TOTAL], None, f"{system}, idx {idx}: the total is not that of the dimensions")
    for item in items:
        label = ABSENT
        if left[item.dimension]:
            left[item.dimension] -= 1
            label = SATISFIED
        elif blocked:
            blocked -= 1
            label = THROUGH_BLOCKED
        yield item_row(task, item, label)
    if blocked:
        problems.add(base / FILES[BLOCKED], None, f"{system}, idx {idx}: more blocked items than unsatisfied ones")


def _whole(base: Path, name: str, system: str, idx: str, share: float | None, count: int, problems: Problems) -> int:
    """How many of `count` items a share is; a share of no whole number is a problem. No items have no share."""
    items = round((share or 0.0) * count)
    if (share is None and count) or (share is not None and abs(items - share * count) > _HALF_DIGIT * max(count, 1) * 1.01):
        problems.add(base / FILES[name], None, f"{system}, idx {idx}: {share} is no share of {count} items")
    return items


def _counts(path: Path, problems: Problems) -> dict[str, dict[str, int]]:
    found = {}
    for row in rows(path, problems):
        given = {name: row.label(name) for name in DIMENSIONS}
        if all(value.isdigit() for value in given.values()):
            found[row.label("idx")] = {name: int(value) for name, value in given.items()}
        else:
            problems.add(path, row.line, f"counts are {list(given.values())}, whole numbers are needed", DIMENSIONS)
    return found


def _cells(path: Path, problems: Problems) -> Cells:
    """The cells of one matrix; its last row and column hold means and are left out."""
    found: Cells = {}
    for row in rows(path, problems):
        idx = row.label("idx")
        if idx == "avg":
            continue
        for system in row.values:
            if system in _LABELS:
                continue
            text = row.label(system)
            try:
                found[system, idx] = float(text) if text else None
            except ValueError:
                problems.add(path, row.line, f"{system}: {text!r} is no number")
    return found
