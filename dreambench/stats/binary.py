"""Yes/no outcomes: paired by task (exact McNemar), or many items per task (GEE, clustered logistic regression)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.stats.results import FloatArray, TestResult, Values, aligned, as_array, no_test, require_columns, require_share

GEE = "GEE logit, exchangeable, bias-reduced errors"
CLUSTERED = "logistic regression, errors clustered"


def mcnemar(a: Values, b: Values) -> TestResult:
    """Exact McNemar test of two yes/no outcomes (1 or 0) on the same tasks; see `mcnemar_counts`."""
    first, second = aligned(a=a, b=b)
    _require_binary(first, second)
    return mcnemar_counts(int(((first == 1) & (second == 0)).sum()), int(((first == 0) & (second == 1)).sum()), n=len(first))


def mcnemar_counts(only_a: int, only_b: int, *, n: int | None = None) -> TestResult:
    """Exact McNemar test (1947) from the discordant counts: two-sided binomial test of only_a among them at one half.

    `effect` is the difference of the two rates when the number of pairs `n` is given, else None; `statistic` is the
    smaller discordant count. Assumes independent pairs. Without discordant pairs there is nothing to test.
    """
    pairs = only_a + only_b if n is None else n
    if min(only_a, only_b) < 0 or pairs < only_a + only_b:
        raise InputError(Problem("counts", f"{only_a} and {only_b} of {pairs} pairs are impossible", ("counts from 0 to n",)))
    effect = (only_a - only_b) / n if n else None
    if only_a + only_b == 0:
        return no_test("McNemar, exact", pairs, "no discordant pairs", effect=effect)
    from scipy.stats import binomtest

    p = float(binomtest(only_a, only_a + only_b, 0.5).pvalue)
    return TestResult(float(min(only_a, only_b)), p, effect, "McNemar, exact", pairs)


def logit_effect(
    table: pl.DataFrame, *, outcome: str = "value", predictor: str = "dose", cluster: str = "task", level: float = 0.95
) -> TestResult:
    """Change in the log odds of a yes per unit of the predictor, from many items per task.

    Method: GEE with an exchangeable correlation within clusters (Liang and Zeger 1986) and bias-reduced standard errors
    (Mancl and DeRouen 2001); where it does not converge, logistic regression with clustered errors. `effect`, `low` and
    `high` are log odds ratios; statistic and p use t with clusters - 1 degrees of freedom. `n` counts items. Assumes
    independent clusters. A separated outcome has no finite estimate and is null.
    """
    require_share("level", level)
    require_columns(table, outcome, predictor, cluster)
    rows = table.select(pl.col(outcome).cast(pl.Float64), pl.col(predictor).cast(pl.Float64), cluster).fill_nan(None)
    rows = rows.drop_nulls().sort(cluster, predictor, outcome)
    y, x = as_array(rows[outcome]), as_array(rows[predictor])
    _require_binary(y)
    reason = _why_not(y, x, rows[cluster].n_unique())
    if reason:
        return no_test(GEE, len(y), reason)
    groups = rows[cluster].rank("dense").to_numpy().astype(np.int64)
    return _fit(y, np.column_stack([np.ones(len(x)), x]), groups, level)


def _why_not(y: FloatArray, x: FloatArray, clusters: int) -> str | None:
    if len(y) == 0:
        return "all values are missing"
    if clusters < 2:
        return "one cluster"
    if y.min() == y.max():
        return "all outcomes are equal"
    if x.min() == x.max():
        return "the predictor does not vary"
    yes, no = x[y == 1], x[y == 0]
    if yes.min() >= no.max() or no.min() >= yes.max():
        return "the predictor separates the outcomes"
    return None


def _fit(y: FloatArray, design: FloatArray, groups: np.ndarray, level: float) -> TestResult:
    import statsmodels.api as sm

    method = GEE
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = sm.GEE(y, design, groups=groups, family=sm.families.Binomial(), cov_struct=sm.cov_struct.Exchangeable())
            fit: Any = model.fit(cov_type="bias_reduced")
            usable = bool(fit.converged) and _sound(fit)
        except (np.linalg.LinAlgError, ValueError, FloatingPointError):
            usable = False
        if not usable:
            method = f"{CLUSTERED} (GEE did not converge)"
            fit = sm.GLM(y, design, family=sm.families.Binomial()).fit(cov_type="cluster", cov_kwds={"groups": groups})
            usable = _sound(fit)
    if not usable:
        return no_test(method, len(y), "no finite standard error")
    return _read(fit, len(y), len(np.unique(groups)), level, method)


def _sound(fit: Any) -> bool:
    return bool(np.isfinite(fit.params).all() and np.isfinite(fit.bse).all() and (fit.bse > 0).all())


def _read(fit: Any, n: int, clusters: int, level: float, method: str) -> TestResult:
    from scipy.special import stdtr, stdtrit

    slope, error = float(fit.params[1]), float(fit.bse[1])
    half = float(stdtrit(clusters - 1, 0.5 + level / 2)) * error
    t = slope / error
    p = float(2 * stdtr(clusters - 1, -abs(t)))
    return TestResult(t, p, slope, method, n, None, slope - half, slope + half)


def _require_binary(*columns: FloatArray) -> None:
    for column in columns:
        odd = column[(column != 0) & (column != 1)]
        if len(odd):
            raise InputError(Problem("outcome", f"{odd[0]:g} is neither yes nor no", ("0", "1", "None for missing")))
