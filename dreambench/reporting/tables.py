"""The table that a run prints: agent x metric, one block per judge, values with intervals and n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dreambench.runs.assembly import CLEAN, CODE

SAVED = "saved"
"""Stands in the `rubric` column of verdicts that a benchmark's own evaluator saved: shown by their primary variant alone."""
FEW_TASKS = 20
"""Below this many tasks an interval is marked (METRICS 0)."""


def format_value(value: float | None, unit: str) -> str:
    """Shares x100 with two decimals, counts as they are; an en dash where there is no value."""
    if value is None:
        return "–"
    return f"{100 * value:.2f}" if unit in ("share", "signed") else f"{value:,.1f}"


def format_cell(row: Mapping[str, Any]) -> str:
    """`62.10 [58.00, 66.20] n=8*`: value, interval and number of tasks; `!k` counts reports without a value."""
    unit = row["unit"]
    text = format_value(row["value"], unit)
    if row["low"] is not None:
        text += f" [{format_value(row['low'], unit)}, {format_value(row['high'], unit)}]"
    text += f" n={row['n_tasks']}" + ("*" if row["n_tasks"] < FEW_TASKS else "")
    return text + (f" !{row['n_excluded']}" if row["n_excluded"] else "")


def shown_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """The rows that the run's table shows: macro means of primary variants and of every count and share of code metrics."""
    lead = pl.col("primary") | ((pl.col("judge") == CODE) & (pl.col("rubric") != SAVED))
    return scores.filter(pl.col("aggregation") == "macro", lead)


def score_tables(scores: pl.DataFrame) -> list[Table]:
    """One rich table per judge (a column per metric), then one per metric that code counts (a column per variant)."""
    shown = shown_scores(scores)
    judged = shown.filter(pl.col("judge") != CODE).with_columns(column=metric_label())
    counted = shown.filter(pl.col("judge") == CODE).with_columns(column=pl.col("variant"))
    tables = [_table(f"judge: {name}", rows) for (name,), rows in judged.group_by("judge", maintain_order=True)]
    return tables + [
        _table(f"{name}, counted by code", rows) for (name,), rows in counted.group_by("metric", maintain_order=True)
    ]


def _table(title: str, rows: pl.DataFrame) -> Table:
    columns = rows["column"].unique(maintain_order=True).to_list()
    table = Table(title=Text(title), title_justify="left", pad_edge=False)
    table.add_column("agent", overflow="fold")
    for column in columns:  # on a narrow terminal a cell goes on in the next line: nothing is cut
        table.add_column(Text(column), justify="right", overflow="fold")
    labelled = rows.with_columns(line=_line_label()).sort("agent", pl.col("perturbation") != CLEAN, "perturbation", "dose")
    for (line,), part in labelled.group_by("line", maintain_order=True):
        cells = {row["column"]: format_cell(row) for row in part.iter_rows(named=True)}
        table.add_row(Text(line), *(Text(cells.get(column, "")) for column in columns))
    return table


def _line_label() -> pl.Expr:
    """The agent; for a changed report also its arm: `good · omission 0.5 seed 1`."""
    arm = pl.format("{} · {} {} seed {}", "agent", "perturbation", "dose", "perturbation_seed")
    return pl.when(pl.col("perturbation") == CLEAN).then("agent").otherwise(arm)


def metric_label() -> pl.Expr:
    """`wq`, or `wq[terse]` where a metric is asked with another rubric than its default."""
    usual = pl.col("rubric").is_in(["", "default"])
    return pl.when(usual).then("metric").otherwise(pl.format("{}[{}]", "metric", "rubric"))


def excluded_lines(scores: pl.DataFrame) -> list[str]:
    """One line for every shown score that leaves reports out, saying how many and why."""
    rows = shown_scores(scores).filter(pl.col("n_excluded") > 0).with_columns(line=_line_label())
    return [
        f"{row['line']} / {row['metric']} {row['variant']} / {row['judge']}: {row['n_excluded']} of "
        f"{row['n_excluded'] + row['n_tasks']} reports have no value ({row['excluded_why']})"
        for row in rows.iter_rows(named=True)
    ]


def print_run(console: Console, scores: pl.DataFrame, notes: Sequence[str]) -> None:
    """The tables, then how to read them, then every note."""
    for table in score_tables(scores):
        console.print(table)
    shown = shown_scores(scores)
    intervals = ", ".join(shown.filter(pl.col("low").is_not_null())["interval"].unique().sort()) or "none"
    console.print(
        f"x100, macro mean over tasks [95 % interval: {intervals}] n = tasks; * fewer than {FEW_TASKS} tasks; "
        "!k: k reports without a value; counts are not scaled",
        style="dim",
        highlight=False,
        markup=False,
    )
    for note in [*excluded_lines(scores), *notes]:
        console.print(note, highlight=False, markup=False)
