"""Does a score go down (or up) step by step with the dose? Tests against an ordered alternative, and the share that does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from dreambench.stats.results import (
    Estimate,
    FloatArray,
    Rows,
    TestResult,
    as_array,
    no_estimate,
    no_test,
    present,
    require_choice,
    require_columns,
)

DIRECTIONS = ("decreasing", "increasing")
DIGITS = 12


def page_trend(table: pl.DataFrame, doses: Sequence[str], *, direction: str = "decreasing") -> TestResult:
    """Page's L test (1963) over related samples: one row per report, one column per dose in rising order.

    One-sided for `direction`. Exact null distribution where rows have no ties and it is feasible, else normal with the
    permutation variance, which allows for ties. Rows that miss a value are left out; rows are independent. `effect` is
    the mean Spearman correlation of a row with the dose order (rows of ties count 0).
    """
    require_choice("direction", direction, DIRECTIONS)
    require_columns(table, *doses)
    from scipy.stats import norm, page_trend_test, rankdata

    rows = np.column_stack([as_array(table[name]) for name in doses]) if doses else np.empty((0, 0))
    rows = np.round(rows[~np.isnan(rows).any(axis=1)], DIGITS)
    reports, steps = rows.shape
    method = f"Page's L, {direction}"
    if steps < 3 or reports < 2:
        return no_test(method, reports, "fewer than two complete reports" if steps >= 3 else "fewer than three doses")
    ranks = rankdata(rows if direction == "increasing" else -rows, axis=1)
    order = np.arange(1, steps + 1)
    centred = ranks - (steps + 1) / 2
    spread = (centred**2).sum(axis=1)
    if not spread.any():
        return no_test(method, reports, "all values are equal within every report")
    slack = float(((order - order.mean()) ** 2).sum())
    along = centred @ (order - order.mean())
    effect = float(np.divide(along, np.sqrt(spread * slack), out=np.zeros(reports), where=spread > 0).mean())
    if all(len(np.unique(row)) == steps for row in rows):
        found = page_trend_test(ranks, ranked=True)
        return TestResult(float(found.statistic), float(found.pvalue), effect, f"{method}, {found.method}", reports)
    z = float(along.sum() / np.sqrt(slack * spread.sum() / (steps - 1)))
    return TestResult(float((ranks @ order).sum()), float(norm.sf(z)), effect, f"{method}, normal with ties", reports)


def jonckheere(groups: Rows, *, direction: str = "decreasing") -> TestResult:
    """Jonckheere-Terpstra test (1954) over independent groups in rising order of dose.

    One-sided for `direction`; normal approximation with the variance corrected for ties (Hollander and Wolfe 1999,
    6.19). Missing values are left out. `effect` is Kendall's tau-b between dose and value, `n` counts values.
    """
    require_choice("direction", direction, DIRECTIONS)
    from scipy.stats import kendalltau, norm

    samples = [np.round(present(group), DIGITS) for group in groups]
    samples = [sample for sample in samples if len(sample)]
    method = f"Jonckheere-Terpstra, {direction}"
    values = np.concatenate(samples) if samples else np.empty(0)
    n = len(values)
    if len(samples) < 2:
        return no_test(method, n, "fewer than two groups with values")
    if values.min() == values.max():
        return no_test(method, n, "all values are equal")
    labels = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    statistic = _jonckheere_sum(samples)
    sizes = np.array([len(sample) for sample in samples], dtype=np.float64)
    ties = np.unique(values, return_counts=True)[1].astype(np.float64)
    mean, variance = (n**2 - (sizes**2).sum()) / 4, _jonckheere_variance(n, sizes, ties)
    z = float((statistic - mean) / np.sqrt(variance))
    effect = float(kendalltau(labels, values).statistic)
    return TestResult(statistic, float(norm.sf(z if direction == "increasing" else -z)), effect, method, n)


def monotone_share(table: pl.DataFrame, doses: Sequence[str], *, direction: str = "decreasing") -> Estimate:
    """Share of reports whose score never moves against `direction` from dose to dose and ends up past its start.

    One row per report, columns in rising order of dose; rows that miss a value are left out. Interval: Wilson (1927).
    """
    require_choice("direction", direction, DIRECTIONS)
    require_columns(table, *doses)
    rows = np.column_stack([as_array(table[name]) for name in doses]) if doses else np.empty((0, 0))
    rows = np.round(rows[~np.isnan(rows).any(axis=1)], DIGITS)
    method, n = f"monotone {direction}, Wilson", len(rows)
    if rows.shape[1] < 2 or n == 0:
        return no_estimate(method, n, "fewer than two doses" if n else "no complete reports")
    from scipy.stats import binomtest

    steps = np.diff(rows, axis=1) * (1 if direction == "increasing" else -1)
    passed = int(((steps >= 0).all(axis=1) & (steps.sum(axis=1) > 0)).sum())
    interval = binomtest(passed, n).proportion_ci(0.95, method="wilson")
    return Estimate(passed / n, float(interval.low), float(interval.high), method, n)


def _jonckheere_sum(samples: list[FloatArray]) -> float:
    """Pairs of values in two groups that rise with the group; a tie counts one half."""
    total = 0.0
    for i, lower in enumerate(samples):
        for upper in samples[i + 1 :]:
            below = np.searchsorted(lower, upper, side="left").sum()
            up_to = np.searchsorted(lower, upper, side="right").sum()
            total += float(below + up_to) / 2
    return total


def _jonckheere_variance(n: int, sizes: FloatArray, ties: FloatArray) -> float:
    def third(x: FloatArray | float) -> float:
        return float(np.sum(x * (x - 1) * (2 * x + 5)))

    def fall(x: FloatArray, k: int) -> float:
        return float(np.prod([x - i for i in range(k)], axis=0).sum())

    variance = (third(float(n)) - third(sizes) - third(ties)) / 72 + fall(sizes, 2) * fall(ties, 2) / (8 * n * (n - 1))
    if n > 2:
        variance += fall(sizes, 3) * fall(ties, 3) / (36 * n * (n - 1) * (n - 2))
    return variance
