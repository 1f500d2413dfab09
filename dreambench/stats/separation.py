"""How well a score tells two kinds of report apart: the chance that a clean one scores above a perturbed one.

A tie counts one half; .5 is chance. A clean report and its perturbed versions are not independent: name the task of each
in `clusters`, and the variance sums what belongs together (Obuchowski 1997); with one report per cluster it is DeLong's
(1988).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.stats.labels import codes
from dreambench.stats.results import Estimate, FloatArray, Values, as_array, no_estimate, require_share

Clusters = Sequence[Hashable] | pl.Series


def auc(
    high: Values,
    low: Values,
    *,
    high_clusters: Clusters | None = None,
    low_clusters: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """P(a value of `high` exceeds one of `low`), ties one half, with its interval; missing values are left out.

    Interval: clustered DeLong variance on the logit scale, t with clusters - 1 degrees of freedom. At 0 and 1, where
    that variance is zero, and where it cannot be had: the score interval on the Hanley-McNeil variance (Newcombe 2006,
    method 5) with clusters as sample sizes. `n` counts the clusters; give both sides' clusters or none.
    """
    require_share("level", level)
    x, groups_x = _side(high, high_clusters, "high")
    y, groups_y = _side(low, low_clusters, "low")
    if (high_clusters is None) != (low_clusters is None):
        raise InputError(Problem("clusters", "only one side has them", ("both sides", "none")))
    if high_clusters is None:
        groups_y = [("low", group) for group in groups_y]
    coded = codes([*groups_x, *groups_y])
    in_x, in_y, n = coded[: len(x)], coded[len(x) :], len(set(coded))
    method = "AUC, DeLong" if high_clusters is None else "AUC, DeLong clustered"
    if not len(x) or not len(y):
        return no_estimate(method, n, "one side has no values")
    above, below = _placements(x, y), 1 - _placements(y, x)
    value = float(above.mean())
    if n < 2:
        return no_estimate(method, n, "one cluster", value=value)
    error = _error(above - value, below - value, in_x, in_y, n)
    sizes = (len(set(in_x)), len(set(in_y)))
    if not 1e-12 < value < 1 - 1e-12 or error < 1e-12:
        return _score_interval(value, *sizes, n, level)
    return _logit_interval(value, error, n, level, method)


def _side(values: Values, clusters: Clusters | None, name: str) -> tuple[FloatArray, list[Hashable]]:
    array = as_array(values)
    groups: list[Hashable] = list(clusters) if clusters is not None else list(range(len(array)))
    if len(groups) != len(array):
        raise InputError(Problem(f"{name}_clusters", f"there are {len(groups)} for {len(array)} values", ("one per value",)))
    known = ~np.isnan(array)
    return np.round(array[known], 12), [group for group, kept in zip(groups, known, strict=True) if kept]


def _placements(values: FloatArray, others: FloatArray) -> FloatArray:
    """For each value, the share of the others below it, ties one half."""
    ordered = np.sort(others)
    ranks = np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")
    return np.asarray(ranks / (2 * len(others)), dtype=np.float64)


def _error(above: FloatArray, below: FloatArray, in_x: np.ndarray, in_y: np.ndarray, n: int) -> float:
    """Standard error from placements around the AUC, summed over clusters; each side has its own correction."""
    x = np.bincount(in_x, weights=above, minlength=n)
    y = np.bincount(in_y, weights=below, minlength=n)
    has_x, has_y = len(set(in_x)), len(set(in_y))
    if min(has_x, has_y) < 2:
        return 0.0
    m, k = len(above), len(below)
    own = (x**2).sum() * has_x / (has_x - 1) / m**2 + (y**2).sum() * has_y / (has_y - 1) / k**2
    shared = 2 * (x * y).sum() * n / (n - 1) / (m * k)
    return float(np.sqrt(max(own + shared, 0.0)))


def _logit_interval(value: float, error: float, n: int, level: float, method: str) -> Estimate:
    from scipy.special import expit, logit, stdtrit

    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error / (value * (1 - value))
    centre = float(logit(value))
    return Estimate(value, float(expit(centre - half)), float(expit(centre + half)), method, n)


def _score_interval(value: float, m: int, k: int, n: int, level: float) -> Estimate:
    from scipy.optimize import brentq
    from scipy.stats import norm

    z = float(norm.ppf(0.5 + level / 2))
    half = (m + k) / 2 - 1

    def gap(theta: float) -> float:
        spread = theta * (1 - theta) * (1 + half * (1 - theta) / (2 - theta) + half * theta / (1 + theta)) / (m * k)
        return (theta - value) ** 2 - z**2 * spread

    low = 0.0 if value < 1e-12 else float(brentq(gap, 0.0, value - 1e-12 if value > 1e-9 else value))
    high = 1.0 if value > 1 - 1e-12 else float(brentq(gap, value + 1e-12, 1.0))
    return Estimate(value, low, high, "AUC, Newcombe score", n)
