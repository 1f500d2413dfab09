"""Rank tests and correlations of two scores of the same units. Units that miss a value are left out; units are independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from dreambench.stats.results import (
    FloatArray,
    TestResult,
    Values,
    aligned,
    no_test,
    require_choice,
    require_columns,
    require_share,
    to_table,
)

KINDS = ("pearson", "spearman", "kendall")
DIGITS = 12


def wilcoxon(a: Values, b: Values) -> TestResult:
    """Wilcoxon signed-rank test (1945) of paired values, two-sided; zero differences are left out.

    Exact for up to 50 pairs without ties or zeros, else normal with tie correction. `effect` is the matched-pairs
    rank-biserial correlation (Kerby 2014), -1 to 1, positive when a is larger; `n` counts pairs, zeros included. Assumes
    differences that are symmetric about their median. Differences are rounded to 12 digits, so that ties survive
    floating point.
    """
    first, second = aligned(a=a, b=b)
    differences = np.round(first - second, DIGITS)
    method, n = "Wilcoxon signed-rank", len(differences)
    if n == 0:
        return no_test(method, 0, "all pairs miss a value")
    if not differences.any():
        return no_test(method, n, "all differences are zero", effect=0.0)
    from scipy import stats

    found = stats.wilcoxon(differences)
    nonzero = differences[differences != 0]
    ranks = stats.rankdata(np.abs(nonzero))
    effect = float((ranks * np.sign(nonzero)).sum() / ranks.sum())
    return TestResult(float(found.statistic), float(found.pvalue), effect, method, n)


def correlation(a: Values, b: Values, *, kind: str = "spearman", level: float = 0.95) -> TestResult:
    """Pearson's r, Spearman's rho or Kendall's tau-b with p and interval, as `effect`, `low`, `high`.

    Intervals by Fisher's z with standard error 1/sqrt(n-3) for Pearson (Fisher 1921), sqrt((1 + rho^2/2)/(n-3)) for
    Spearman (Bonett and Wright 2000), sqrt(.437/(n-4)) for Kendall (Fieller, Hartley and Pearson 1957). p: t
    approximation for the first two; Kendall exact where there are no ties, else normal. Pearson's assume normal data.
    """
    require_choice("kind", kind, KINDS)
    require_share("level", level)
    x, y = aligned(a=a, b=b)
    n, method = len(x), {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall tau-b"}[kind]
    if n < 3:
        return no_test(method, n, "fewer than three units")
    if _constant(x) or _constant(y):
        return no_test(method, n, "all values of one side are equal")
    from scipy import stats

    if kind != "pearson":
        x, y = np.round(x, DIGITS), np.round(y, DIGITS)
    found = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind](x, y)
    value, p = float(np.clip(found.statistic, -1, 1)), float(found.pvalue)
    error, reason = _fisher_error(value, n, kind)
    if error is None:
        return TestResult(value, p, value, method, n, reason)
    half = float(stats.norm.ppf(0.5 + level / 2)) * error
    return TestResult(value, p, value, method, n, None, *(float(np.tanh(np.arctanh(value) + side)) for side in (-half, half)))


def pairwise_correlations(
    table: pl.DataFrame, columns: Sequence[str], *, kind: str = "spearman", level: float = 0.95
) -> pl.DataFrame:
    """`correlation` of every pair of columns over the rows that have both (pairwise complete); columns a, b first."""
    require_columns(table, *columns)
    pairs = [(a, b) for i, a in enumerate(columns) for b in columns[i + 1 :]]
    return to_table(({"a": a, "b": b}, correlation(table[a], table[b], kind=kind, level=level)) for a, b in pairs)


def _constant(values: FloatArray) -> bool:
    return bool(np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())))


def _fisher_error(value: float, n: int, kind: str) -> tuple[float | None, str | None]:
    spare = n - (4 if kind == "kendall" else 3)
    if spare < 1:
        return None, f"{n} units are too few for an interval"
    if abs(value) > 1 - 1e-12:
        return None, "a perfect correlation has no interval"
    part = {"pearson": 1.0, "spearman": 1 + value**2 / 2, "kendall": 0.437}[kind]
    return float(np.sqrt(part / spare)), None
