"""Measures one report with one metric and gives its values, as a run would."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

import polars as pl

from dreambench.judges.judge import Judge
from dreambench.metrics.aggregation import report_values
from dreambench.metrics.metric import Metric, Subject
from dreambench.records import Judgment, Report, Task
from dreambench.runs.tables import ITEM_SCHEMA

TASK = Task("t", "How did bridges change?", "d", date(2025, 1, 1))


def judgments(metric: Metric, text: str, judge: Judge | None = None, repeat: int = 0) -> list[Judgment]:
    """The rows that `metric` makes of a report with `text`."""
    return asyncio.run(metric.measure(subject(text), judge, repeat))


def subject(text: str) -> Subject:
    """A report with this text to TASK."""
    return Subject(TASK, Report(TASK.id, "a", text))


def item_table(metric: Metric, rows: Sequence[Judgment], judge: str = "j", repeat: int = 0) -> pl.DataFrame:
    """The rows as they would stand in `judgments.parquet`."""
    shared: dict[str, Any] = {"task": TASK.id, "report": "r", "agent": "a", "metric": metric.id, "judge": judge}
    shared |= {"rubric": metric.rubric_variant, "repeat": repeat}
    return pl.DataFrame([{**shared, **asdict(row)} for row in rows], schema=ITEM_SCHEMA)


def values(metric: Metric, rows: Sequence[Judgment]) -> dict[str, float | None]:
    """Variant -> value of the report that the rows are about."""
    table = report_values(item_table(metric, rows), [metric])
    return dict(table.select("variant", "value").iter_rows())
