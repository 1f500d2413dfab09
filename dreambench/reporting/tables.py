"""The table that a run prints: agent x metric, one block per judge, values with intervals and n."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dreambench.reporting.shifts import shift_scores
from dreambench.runs.assembly import CLEAN, CODE
from dreambench.runs.tables import by_role
from dreambench.stats.few import FEW_TASKS, FEWEST_TASKS

SHIFT = "shift vs clean, paired"
"""Changed minus clean, paired by task: how the tables of shifts are called."""
SAVED = "saved"
"""Stands in the `rubric` column of verdicts that a benchmark's own evaluator saved: shown by their primary variant alone."""
CLAIMS = {"ci": "cited claims"}
"""What a metric's claims are called where it does not take all of a report's."""
FEW_CLAIMS = 5
"""Below this many claims a report, a score over the claims that could be decided is marked."""
SHOWN_AGENTS = 6
"""Agents named in a line on undecided claims; of more, their number is told."""
TOO_FEW = "†"
LEGEND = f"* fewer than {FEW_TASKS} tasks; {TOO_FEW} fewer than {FEWEST_TASKS}: too few for an interval"
"""What the marks of a cell mean."""


def format_value(value: float | None, unit: str) -> str:
    """Shares x100 with two decimals, counts as they are; an en dash where there is no value."""
    if value is None:
        return "–"
    return f"{100 * value:.2f}" if unit in ("share", "signed") else f"{value:,.1f}"


def format_cell(row: Mapping[str, Any]) -> str:
    """`62.10 [58.00, 66.20] n=8*`: value, interval and number of tasks; `!k` counts reports without a value."""
    unit = row["unit"]
    text = format_value(row["value"], unit) + format_interval(row, unit)
    text += f" n={row['n_tasks']}{few_mark(row['n_tasks'])}"
    return text + (f" !{row['n_excluded']}" if row["n_excluded"] else "")


def format_shift(row: Mapping[str, Any]) -> str:
    """A cell whose value is a difference: `-3.20 [-5.10, -1.30] n=8*`."""
    text = format_cell(row)
    return f"+{text}" if row["value"] is not None and row["value"] >= 0 else text


def format_interval(row: Mapping[str, Any], unit: str) -> str:
    """` [58.00, 66.20]` of a row with `low`, `high` and `n_tasks`; empty without an interval or below FEWEST_TASKS."""
    if row["low"] is None or row["n_tasks"] < FEWEST_TASKS:
        return ""
    return f" [{format_value(row['low'], unit)}, {format_value(row['high'], unit)}]"


def few_mark(n: int) -> str:
    """What stands behind a number of tasks: nothing, `*` or TOO_FEW, as LEGEND says."""
    return TOO_FEW if n < FEWEST_TASKS else "*" if n < FEW_TASKS else ""


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


def shift_tables(shifts: pl.DataFrame) -> list[Table]:
    """One rich table per judge: how far each arm moves each metric from the clean reports; none for a run without arms."""
    shown = shown_scores(shifts).filter(pl.col("judge") != CODE).with_columns(column=metric_label())
    counted = shown_scores(shifts).filter(pl.col("judge") == CODE).with_columns(column=pl.col("variant"))
    parts = [(f"judge: {name}", rows) for (name,), rows in shown.group_by("judge", maintain_order=True)]
    parts += [(f"{name}, counted by code", rows) for (name,), rows in counted.group_by("metric", maintain_order=True)]
    return [_table(f"{title}: {SHIFT}", rows, format_shift) for title, rows in parts]


def _table(title: str, rows: pl.DataFrame, cell: Callable[[Mapping[str, Any]], str] = format_cell) -> Table:
    columns = rows["column"].unique(maintain_order=True).to_list()
    table = Table(title=Text(title), title_justify="left", pad_edge=False)
    table.add_column("agent", overflow="fold")
    for column in columns:  # on a narrow terminal a cell goes on in the next line: nothing is cut
        table.add_column(Text(column), justify="right", overflow="fold")
    labelled = rows.with_columns(line=_line_label()).sort("agent", pl.col("perturbation") != CLEAN, "perturbation", "dose")
    for (line,), part in labelled.group_by("line", maintain_order=True):
        cells = {row["column"]: cell(row) for row in part.iter_rows(named=True)}
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


def ledger_lines(calls: pl.DataFrame) -> list[str]:
    """What a run has bought from models, a line per role; none for judges that answer in this process."""
    lines = []
    for row in by_role(calls).filter(pl.col("prompt_tokens") > 0).iter_rows(named=True):
        unknown = f" and {row['unpriced_calls']:,} calls of unknown price" if row["unpriced_calls"] else ""
        lines.append(
            f"bought for {row['role']}: {row['calls']:,} calls, {row['prompt_tokens']:,} prompt tokens "
            f"({row['cached_tokens']:,} cached), {row['completion_tokens']:,} answer tokens "
            f"({row['reasoning_tokens']:,} reasoning), ${row['money']:,.4f}{unknown}"
        )
    return lines


def excluded_lines(scores: pl.DataFrame) -> list[str]:
    """One line for every shown score that leaves reports out, saying how many and why."""
    rows = shown_scores(scores).filter(pl.col("n_excluded") > 0).with_columns(line=_line_label())
    return [
        f"{row['line']} / {row['metric']} {row['variant']} / {row['judge']}: {row['n_excluded']} of "
        f"{row['n_excluded'] + row['n_tasks']} reports have no value ({row['excluded_why']})"
        for row in rows.iter_rows(named=True)
    ]


def undecided_lines(scores: pl.DataFrame) -> list[str]:
    """One line per judge and metric that leaves `unverifiable` claims out: how many of an agent's claims could be decided.

    Only agents whose share is below 100 %, the smallest first. The share is pooled over the agent's claims (its number stands
    beside it); `strict` counts the others 0, x100 like the table.
    """
    clean = scores.filter(pl.col("perturbation") == CLEAN).with_columns(column=metric_label())
    keys = ["judge", "metric", "column", "agent"]
    strict = clean.filter(pl.col("variant") == "strict", pl.col("aggregation") == "macro").select(*keys, strict="value")
    undecided = clean.filter(pl.col("variant") == "label_unverifiable", pl.col("aggregation") == "micro", pl.col("value") > 0)
    rows = undecided.join(strict, on=keys).sort("judge", "column", pl.col("value") * -1, "agent")
    lines = []
    for (judge, metric, column), part in rows.group_by("judge", "metric", "column", maintain_order=True):
        shown = [_decided(row) for row in part.head(SHOWN_AGENTS).iter_rows(named=True)]
        more = [f"{part.height - SHOWN_AGENTS} more agents"] if part.height > SHOWN_AGENTS else []
        lines.append(
            f"{column} by {judge}, {CLAIMS.get(str(metric), 'claims')} that could be decided: {'; '.join([*shown, *more])}"
        )
    return lines


def _decided(row: Mapping[str, Any]) -> str:
    few = f", fewer than {FEW_CLAIMS} claims a report" if row["n_items"] < FEW_CLAIMS * row["n_tasks"] else ""
    strict = format_value(row["strict"], "share")
    return f"{row['agent']} {100 * (1 - row['value']):.2f} % of {row['n_items']} (strict {strict}{few})"


def print_run(console: Console, scores: pl.DataFrame, values: pl.DataFrame, notes: Sequence[str]) -> None:
    """The tables of `scores`, what arms shift (from `values`, the report scores), how to read both, then every note."""
    for table in [*score_tables(scores), *shift_tables(shift_scores(values))]:
        console.print(table)
    shown = shown_scores(scores)
    with_interval = shown.filter(pl.col("low").is_not_null(), pl.col("n_tasks") >= FEWEST_TASKS)
    intervals = ", ".join(with_interval["interval"].unique().sort()) or "none"
    if not shown.is_empty():
        console.print(
            f"x100, macro mean over tasks [95 % interval: {intervals}] n = tasks; {LEGEND}; "
            "!k: k reports without a value; counts are not scaled",
            style="dim",
            highlight=False,
            markup=False,
        )
    for note in [*undecided_lines(scores), *excluded_lines(scores), *notes]:
        console.print(note, highlight=False, markup=False)
