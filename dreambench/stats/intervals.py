"""Intervals for scores of a dataset; the unit that is resampled is the task.

From 20 tasks on: percentile bootstrap. Below, where a percentile bootstrap covers too little (89 % over 8 tasks): the t
interval for means, the studentised bootstrap (Efron and Tibshirani 1993, ch. 12.5) for ratios and functions of means.
Every statistic here is a smooth function of weighted means over tasks, so its standard error comes from its gradient
(the infinitesimal jackknife, which is the delta method).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from dreambench.stats.resampling import Seed, count_blocks, generator
from dreambench.stats.results import (
    SMALL,
    Estimate,
    FloatArray,
    Values,
    aligned,
    as_array,
    finite,
    no_estimate,
    present,
    require_choice,
    require_columns,
    require_share,
    to_table,
)

Bounds = tuple[float, float]
Statistic = Callable[[Mapping[str, FloatArray]], FloatArray]

T = "t"
PERCENTILE = "bootstrap percentile"
STUDENTISED = "bootstrap studentised"
LINEARISED = "t, linearised"
AUTO = "auto"

STUDENTISED_FROM = 5
UNDEFINED_SHARE = 0.05
STEP = 1e-5


@dataclass(frozen=True, slots=True)
class Drawing:
    """An estimate that waits for bootstrap samples of `n` tasks.

    `take` makes an array with one row per sample of their task counts (shape: samples, n); `finish` gets it for all samples.
    """

    n: int
    take: Callable[[FloatArray], FloatArray]
    finish: Callable[[FloatArray], Estimate]


Plan = Estimate | Drawing
"""An estimate, or what it waits for: plans of many groups share their samples (`estimates`)."""


def estimates(plans: Sequence[Plan], *, seed: Seed, draws: int = 2000) -> list[Estimate]:
    """The estimates of many groups, in order; each as it would be alone with this seed, where the seed is a number.

    Groups with the same number of tasks use the same samples, which are drawn once.
    """
    done: dict[int, Estimate] = {}
    waiting: defaultdict[int, list[tuple[int, Drawing]]] = defaultdict(list)
    for place, plan in enumerate(plans):
        if isinstance(plan, Estimate):
            done[place] = plan
        else:
            waiting[plan.n].append((place, plan))
    for n, drawings in waiting.items():
        taken: list[list[FloatArray]] = [[] for _ in drawings]
        for counts in count_blocks(n, draws, generator(seed)):
            for (_, drawing), rows in zip(drawings, taken, strict=True):
                rows.append(drawing.take(counts))
        done |= {place: drawing.finish(np.concatenate(rows)) for (place, drawing), rows in zip(drawings, taken, strict=True)}
    return [done[place] for place in range(len(plans))]


def mean_interval(
    values: Values,
    *,
    seed: Seed,
    level: float = 0.95,
    draws: int = 2000,
    method: str = AUTO,
    bounds: Bounds | None = None,
) -> Estimate:
    """Mean over tasks with its interval, from one value per task (None: the task has no value and is left out).

    Method: percentile bootstrap over tasks from 20 tasks on, Student's t interval below; `method` forces `t` or
    `bootstrap percentile`. Assumes that tasks are independent and, for t, that their mean is about normal. `bounds`
    is the range of the score: a t interval is cut to it. One task, or equal values, give no interval.
    """
    return estimates([mean_plan(values, level=level, method=method, bounds=bounds)], seed=seed, draws=draws)[0]


def mean_plan(values: Values, *, level: float = 0.95, method: str = AUTO, bounds: Bounds | None = None) -> Plan:
    """`mean_interval`, its samples yet to be drawn."""
    require_share("level", level)
    require_choice("method", method, (AUTO, T, PERCENTILE))
    data = present(values)
    n = len(data)
    chosen = _pick(method, n, small=T)
    if n == 0:
        return no_estimate(chosen, 0, "all values are missing")
    value = float(data.mean())
    if n == 1:
        return no_estimate(chosen, 1, "one task has no spread over tasks", value=value)
    if data[0] == data[-1]:
        return no_estimate(chosen, n, "all values are equal", value=value)
    if chosen == T:
        return _t_interval(value, float(data.std(ddof=1) / np.sqrt(n)), n, level, T, bounds)
    return Drawing(n, lambda counts: counts @ data / n, lambda drawn: _percentile(value, drawn, n, level))


def ratio_interval(
    numerators: Values,
    denominators: Values,
    *,
    seed: Seed,
    level: float = 0.95,
    draws: int = 2000,
    method: str = AUTO,
    bounds: Bounds | None = None,
) -> Estimate:
    """Pooled (micro) ratio, sum of numerators over sum of denominators, with its interval clustered by task.

    One pair per task, for example supported and judged claims; denominators must not be negative. Method: percentile
    bootstrap over tasks from 20 tasks on; below, studentised bootstrap with the linearised standard error (Cochran
    1977, 6.3), or the t interval on it when there are fewer than 5 tasks or too many draws without spread. `bounds` is
    the range of the ratio: intervals are cut to it. Assumes that tasks are independent.
    """
    plan = ratio_plan(numerators, denominators, level=level, method=method, bounds=bounds)
    return estimates([plan], seed=seed, draws=draws)[0]


def ratio_plan(
    numerators: Values, denominators: Values, *, level: float = 0.95, method: str = AUTO, bounds: Bounds | None = None
) -> Plan:
    """`ratio_interval`, its samples yet to be drawn."""
    num, den = aligned(numerators=numerators, denominators=denominators)
    table = pl.DataFrame({"num": num, "den": den})
    if len(den) and den.sum() <= 0:
        return no_estimate(_pick(method, len(den), small=STUDENTISED), len(den), "the denominators sum to nothing")

    def ratio(means: Mapping[str, FloatArray]) -> FloatArray:
        return means["num"] / means["den"]

    return function_plan(table, ratio, level=level, method=method, bounds=bounds)


def function_interval(
    table: pl.DataFrame,
    statistic: Statistic,
    *,
    seed: Seed,
    columns: Sequence[str] | None = None,
    level: float = 0.95,
    draws: int = 2000,
    method: str = AUTO,
    bounds: Bounds | None = None,
) -> Estimate:
    """A smooth function of dataset means with its interval, from one row per task.

    `statistic` gets the mean of each column (of `columns`, default all) as an array over draws and returns an array:
    `lambda m: 2 * m["ca"] * m["cf"] / (m["ca"] + m["cf"])`. A task that misses a value in one column still counts in
    the others; `n` is the number of tasks with any value. Methods and assumptions as in `ratio_interval`.
    """
    plan = function_plan(table, statistic, columns=columns, level=level, method=method, bounds=bounds)
    return estimates([plan], seed=seed, draws=draws)[0]


def function_plan(
    table: pl.DataFrame,
    statistic: Statistic,
    *,
    columns: Sequence[str] | None = None,
    level: float = 0.95,
    method: str = AUTO,
    bounds: Bounds | None = None,
) -> Plan:
    """`function_interval`, its samples yet to be drawn."""
    require_share("level", level)
    require_choice("method", method, (AUTO, PERCENTILE, STUDENTISED, LINEARISED))
    names = list(columns) if columns is not None else table.columns
    require_columns(table, *names)
    rows = _rows(table, names)
    n = len(rows)
    chosen = _pick(method, n, small=STUDENTISED)
    if n == 0:
        return no_estimate(chosen, 0, "all values are missing")
    empty = [name for name, column in zip(names, rows.T, strict=True) if np.isnan(column).all()]
    if empty:
        return no_estimate(chosen, n, f"all values of {', '.join(empty)} are missing")
    model = _Means(names, rows, statistic)
    whole = np.ones((1, n))
    value = finite(float(model.value(whole)[0]))
    if value is None:
        return no_estimate(chosen, n, "the statistic is undefined at the dataset means")
    if n == 1:
        return no_estimate(chosen, 1, "one task has no spread over tasks", value=value)
    error = float(model.error(whole)[0])
    if not error > 1e-12 * max(1.0, abs(value)):
        return no_estimate(chosen, n, "no spread over tasks", value=value)
    if chosen == LINEARISED or (chosen == STUDENTISED and n < STUDENTISED_FROM):
        return _t_interval(value, error, n, level, LINEARISED, bounds)
    if chosen == PERCENTILE:
        return Drawing(n, model.value, lambda drawn: _percentile(value, drawn, n, level))
    return Drawing(
        n,
        lambda counts: np.column_stack([model.value(counts), model.error(counts)]),
        lambda drawn: _studentised(value, error, drawn[:, 0], drawn[:, 1], n, level, bounds),
    )


def mean_intervals(
    table: pl.DataFrame,
    by: Sequence[str],
    *,
    value: str = "value",
    seed: int,
    level: float = 0.95,
    draws: int = 2000,
    bounds: Bounds | None = None,
) -> pl.DataFrame:
    """`mean_interval` of each group: the keys in `by`, then value, low, high, method, n, reason; groups in key order.

    Each row of the table is one task of its group. Every group is resampled from the same seed.
    """
    require_columns(table, *by, value)
    groups = list(table.sort(*by).group_by(*by, maintain_order=True))
    plans = [mean_plan(group[value], level=level, bounds=bounds) for _, group in groups]
    found = estimates(plans, seed=seed, draws=draws)
    return to_table((dict(zip(by, keys, strict=True)), estimate) for (keys, _), estimate in zip(groups, found, strict=True))


class _Means:
    """A statistic of column means under task weights, and its linearised standard error."""

    def __init__(self, names: Sequence[str], rows: FloatArray, statistic: Statistic) -> None:
        self.names = names
        self.statistic = statistic
        self.known = (~np.isnan(rows)).astype(np.float64)
        self.rows = np.nan_to_num(rows)

    def value(self, counts: FloatArray) -> FloatArray:
        """The statistic for each row of task counts; NaN where it is undefined."""
        return self._apply(self._means(counts))

    def error(self, counts: FloatArray) -> FloatArray:
        """Its standard error for each row of task counts, with n - 1 in the denominator."""
        means = self._means(counts)
        n = counts.shape[1]
        influence = np.zeros_like(counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            for k in range(len(self.names)):
                slope = self._gradient(means, k) / (counts @ self.known[:, k])
                influence += slope[:, None] * (self.known[:, k] * (self.rows[:, k] - means[:, k : k + 1]))
            return np.asarray(np.sqrt((counts * influence**2).sum(axis=1) * n / (n - 1)))

    def _means(self, counts: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((counts @ self.rows) / (counts @ self.known))

    def _apply(self, means: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray(self.statistic(dict(zip(self.names, means.T, strict=True))), dtype=np.float64)

    def _gradient(self, means: FloatArray, column: int) -> FloatArray:
        step = STEP * np.maximum(np.abs(means[:, column]), 1e-3)
        above, below = means.copy(), means.copy()
        above[:, column] += step
        below[:, column] -= step
        return (self._apply(above) - self._apply(below)) / (2 * step)


def _rows(table: pl.DataFrame, names: Sequence[str]) -> FloatArray:
    rows = np.column_stack([as_array(table[name]) for name in names]) if names else np.empty((0, 0))
    rows = rows[~np.isnan(rows).all(axis=1)] if rows.size else rows
    return rows[np.lexsort(rows.T[::-1])] if rows.size else rows


def _pick(method: str, n: int, *, small: str) -> str:
    if method != AUTO:
        return method
    return small if n < SMALL else PERCENTILE


def _cut(low: float, high: float, bounds: Bounds | None) -> tuple[float, float]:
    return (low, high) if bounds is None else (max(low, bounds[0]), min(high, bounds[1]))


def _t_interval(value: float, error: float, n: int, level: float, method: str, bounds: Bounds | None) -> Estimate:
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Estimate(value, *_cut(value - half, value + half, bounds), method, n)


def _percentile(value: float, drawn: FloatArray, n: int, level: float) -> Estimate:
    defined = drawn[np.isfinite(drawn)]
    left_out = len(drawn) - len(defined)
    said = f"undefined in {left_out} of {len(drawn)} draws" if left_out else None
    if left_out > UNDEFINED_SHARE * len(drawn):
        return no_estimate(PERCENTILE, n, f"{said}", value=value)
    low, high = np.quantile(defined, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(value, float(low), float(high), PERCENTILE, n, said)


def _studentised(
    value: float, error: float, drawn: FloatArray, errors: FloatArray, n: int, level: float, bounds: Bounds | None
) -> Estimate:
    usable = np.isfinite(drawn) & np.isfinite(errors) & (errors > 1e-9 * error)
    left_out = int((~usable).sum())
    if left_out > UNDEFINED_SHARE * len(drawn):
        return _t_interval(value, error, n, level, LINEARISED, bounds)
    said = f"no spread in {left_out} of {len(drawn)} draws" if left_out else None
    pivots = (drawn[usable] - value) / errors[usable]
    low, high = np.quantile(pivots, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(value, *_cut(value - float(high) * error, value - float(low) * error, bounds), STUDENTISED, n, said)
