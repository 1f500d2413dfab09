"""How much of a score is the report, and how much the repeat? Variance components and intraclass correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.stats.results import (
    Estimate,
    FloatArray,
    Rows,
    as_array,
    no_estimate,
    require_choice,
    require_columns,
    require_share,
)

KINDS = ("1", "2", "3")
_SCHEMA = {
    "component": pl.String,
    "variance": pl.Float64,
    "share": pl.Float64,
    "df": pl.Int64,
    "n": pl.Int64,
    "reason": pl.String,
}


@dataclass(frozen=True, slots=True)
class _Squares:
    rows: float
    columns: float
    error: float
    within: float


def icc(targets: Rows, *, kind: str = "2", average: bool = False, level: float = 0.95) -> Estimate:
    """Intraclass correlation of repeats or judges, one row of scores per report (Shrout and Fleiss 1979).

    `kind`: 1 (repeats are exchangeable: use it for repeats of one judge), 2 (judges are a random sample, absolute
    agreement), 3 (these judges, consistency). `average` is for the mean over the row. Intervals from the F distribution
    (McGraw and Wong 1996), for normal effects. Rows with a missing score are left out; `n` counts the rows used.
    """
    require_choice("kind", kind, KINDS)
    require_share("level", level)
    method = f"ICC({kind},{'k' if average else '1'})"
    rows = [as_array(target) for target in targets]
    if len({len(row) for row in rows}) > 1:
        raise InputError(Problem("targets", "rows have different lengths", ("one score or None per repeat in each",)))
    scores = np.vstack(rows) if rows else np.empty((0, 0))
    scores = scores[~np.isnan(scores).any(axis=1)]
    n, k = scores.shape
    if n < 2 or k < 2:
        return no_estimate(method, n, "fewer than two complete rows" if n < 2 else "fewer than two repeats")
    squares = _squares(scores)
    if squares.rows + squares.within < 1e-20:
        return no_estimate(method, n, "all values are equal")
    value, low, high = {"1": _icc_one, "2": _icc_two, "3": _icc_three}[kind](squares, n, k, level)
    if value is None:
        return no_estimate(method, n, "the coefficient is undefined for these values")
    if low is None or high is None:
        return no_estimate(method, n, "no spread between repeats", value=_stepped(value, k) if average else value)
    if average:
        value, low, high = (_stepped(x, k) for x in (value, low, high))
        if value is None or low is None or high is None:
            return no_estimate(method, n, "rows are as alike as can be: the mean has no reliability")
    return Estimate(value, low, high, method, n)


def variance_components(
    table: pl.DataFrame, *, value: str = "value", task: str = "task", report: str = "report"
) -> pl.DataFrame:
    """Variance between tasks, between reports of a task, and between repeats of a report, one row per judged repeat.

    Method: nested analysis of variance with the coefficients for unequal numbers (Searle 1971, ch. 11.4); negative
    estimates are set to 0 and say so in `reason`. Columns component, variance (score units squared), share of the total,
    df, n (rows), reason. A level without replication is null. Assumes independent tasks; no normality is needed.
    """
    require_columns(table, value, task, report)
    rows = table.select(pl.col(value).cast(pl.Float64).alias("y"), pl.col(task).alias("a"), pl.col(report).alias("b"))
    rows = rows.fill_nan(None).drop_nulls().sort("a", "b", "y")
    n = rows.height
    if n == 0:
        return _component_table([None] * 3, [0, 0, 0], 0, ["all values are missing"] * 3)
    cells = rows.group_by("a", "b", maintain_order=True).agg(
        n=pl.len().cast(pl.Float64), mean=pl.mean("y"), within=((pl.col("y") - pl.mean("y")) ** 2).sum()
    )
    tasks = cells.group_by("a", maintain_order=True).agg(
        n=pl.sum("n"),
        mean=(pl.col("n") * pl.col("mean")).sum() / pl.sum("n"),
        squares=(pl.col("n") ** 2).sum(),
        within=(pl.col("n") * (pl.col("mean") - (pl.col("n") * pl.col("mean")).sum() / pl.sum("n")) ** 2).sum(),
    )
    return _components(float(cells["within"].sum()), cells, tasks, n)


def repeat_spread(
    table: pl.DataFrame, *, value: str = "value", repeat: str = "repeat", task: str = "task", level: float = 0.95
) -> Estimate:
    """Standard deviation over repeats of the dataset mean; `n` counts repeats.

    Rows of a task and repeat are averaged first; a task without a value in every repeat is left out of all (and counted
    in `reason`), so that repeats differ by the judge and not by the tasks. Interval: chi-square, for normal means.
    """
    require_columns(table, value, repeat, task)
    require_share("level", level)
    rows = table.select(y=pl.col(value).cast(pl.Float64), r=pl.col(repeat), t=pl.col(task)).fill_nan(None).drop_nulls()
    cells = rows.sort("t", "r", "y").group_by("t", "r", maintain_order=True).agg(pl.mean("y"))
    n, method = rows["r"].n_unique(), "sd over repeats, chi-square"
    if n < 2:
        return no_estimate(method, n, "fewer than two repeats")
    kept = cells.filter(pl.len().over("t") == n)
    left_out = cells["t"].n_unique() - kept["t"].n_unique()
    said = f"{left_out} tasks lack a repeat and are left out" if left_out else None
    if kept.height == 0:
        return no_estimate(method, n, "no task has every repeat")
    means = kept.group_by("r").agg(pl.mean("y")).sort("r")["y"].to_numpy()
    sd = float(means.std(ddof=1))
    if sd < 1e-12:
        return no_estimate(method, n, "all repeats are equal", value=0.0)
    from scipy.stats import chi2

    low, high = (sd * float(np.sqrt((n - 1) / chi2.ppf(share, n - 1))) for share in (0.5 + level / 2, 0.5 - level / 2))
    return Estimate(sd, low, high, method, n, said)


def _components(error: float, cells: pl.DataFrame, tasks: pl.DataFrame, n: int) -> pl.DataFrame:
    df = [tasks.height - 1, cells.height - tasks.height, n - cells.height]
    by_task = dict(zip(tasks["a"], tasks["n"], strict=True))
    size = cells["n"].to_numpy()
    inside = float((size**2 / np.array([by_task[key] for key in cells["a"]])).sum())
    totals, grand = tasks["n"].to_numpy(), float((cells["n"] * cells["mean"]).sum()) / n
    repeats = error / df[2] if df[2] else None
    reports = between = None
    if df[1]:
        per_report = (n - inside) / df[1]
        excess = float(tasks["within"].sum()) / df[1] - repeats if repeats is not None else None
        reports = excess / per_report if excess is not None else None
    if df[0] and repeats is not None:
        square = float((totals * (tasks["mean"].to_numpy() - grand) ** 2).sum()) / df[0]
        per_report, per_task = (inside - float((size**2).sum()) / n) / df[0], (n - float((totals**2).sum()) / n) / df[0]
        between = (square - repeats - per_report * (reports or 0.0)) / per_task
    why = ["fewer than two tasks", "one report per task: part of the task component", "no report is repeated"]
    missing = "needs repeats of a report"
    reasons = [None if df[i] and repeats is not None else (why[i] if not df[i] else missing) for i in range(3)]
    return _component_table([between, reports, repeats], df, n, reasons)


def _component_table(variances: list[float | None], df: list[int], n: int, reasons: Sequence[str | None]) -> pl.DataFrame:
    kept = [None if v is None else max(v, 0.0) for v in variances]
    total = sum(v for v in kept if v is not None)
    said = [
        f"estimated below zero ({v:.3g}), set to 0" if v is not None and v < -1e-12 else r
        for v, r in zip(variances, reasons, strict=True)
    ]
    shares = [v / total if v is not None and total > 0 else None for v in kept]
    return pl.DataFrame(
        {
            "component": ["task", "report", "repeat"],
            "variance": kept,
            "share": shares,
            "df": df,
            "n": [n] * 3,
            "reason": [r or ("all values are equal" if total == 0 else None) for r in said],
        },
        schema=_SCHEMA,
    )


def _squares(scores: FloatArray) -> _Squares:
    n, k = scores.shape
    grand = scores.mean()
    rows = k * ((scores.mean(axis=1) - grand) ** 2).sum()
    columns = n * ((scores.mean(axis=0) - grand) ** 2).sum()
    within = ((scores - scores.mean(axis=1, keepdims=True)) ** 2).sum()
    error = max(float(within - columns), 0.0)
    return _Squares(float(rows) / (n - 1), float(columns) / (k - 1), error / ((n - 1) * (k - 1)), float(within) / (n * (k - 1)))


_Triple = tuple[float | None, float | None, float | None]


def _icc_one(s: _Squares, n: int, k: int, level: float) -> _Triple:
    if s.within < 1e-20:
        return 1.0, None, None
    return _from_f(s.rows / s.within, n - 1, n * (k - 1), k, level)


def _icc_three(s: _Squares, n: int, k: int, level: float) -> _Triple:
    if s.error < 1e-20:
        return (1.0 if s.rows > 1e-20 else None), None, None
    return _from_f(s.rows / s.error, n - 1, (n - 1) * (k - 1), k, level)


def _from_f(f: float, df_rows: int, df_error: int, k: int, level: float) -> _Triple:
    from scipy.stats import f as fisher

    share = 0.5 + level / 2
    lower, upper = f / float(fisher.ppf(share, df_rows, df_error)), f * float(fisher.ppf(share, df_error, df_rows))
    return (f - 1) / (f + k - 1), (lower - 1) / (lower + k - 1), (upper - 1) / (upper + k - 1)


def _icc_two(s: _Squares, n: int, k: int, level: float) -> _Triple:
    from scipy.stats import f as fisher

    below = s.rows + (k - 1) * s.error + k * (s.columns - s.error) / n
    if abs(below) < 1e-20:
        return None, None, None
    value = (s.rows - s.error) / below
    if s.error < 1e-20:
        return value, None, None
    ratio = s.columns / s.error
    part = n * (1 + (k - 1) * value) - k * value
    df = (k - 1) * (n - 1) * (k * value * ratio + part) ** 2 / ((n - 1) * k**2 * value**2 * ratio**2 + part**2)
    share = 0.5 + level / 2
    upper, lower = float(fisher.ppf(share, n - 1, df)), float(fisher.ppf(share, df, n - 1))
    rest = k * s.columns + (k * n - k - n) * s.error
    low = n * (s.rows - upper * s.error) / (upper * rest + n * s.rows)
    high = n * (lower * s.rows - s.error) / (rest + n * lower * s.rows)
    return value, low, high


def _stepped(value: float, k: int) -> float | None:
    """Spearman-Brown: the reliability of the mean of k from that of one; None at its pole."""
    below = 1 + (k - 1) * value
    return k * value / below if below > 1e-9 else None
