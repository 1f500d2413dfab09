"""Do raters, or judges, agree? Kendall's W on rankings, Cohen's kappa on labels (more raters: module `raters`).

Agreement coefficients are 1 for perfect and 0 for chance agreement. Their intervals treat the units as a sample of
independent clusters: name the task of each unit in `clusters` when several units share one. A coefficient is undefined
where chance agreement is 1, that is, when only one label was used.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.stats.labels import Clusters, Codes, Labels, clustered_interval, codes, is_blank, order_labels
from dreambench.stats.results import (
    FloatArray,
    Rows,
    TestResult,
    Values,
    as_array,
    no_test,
    require_choice,
    require_share,
)

WEIGHTS = ("none", "linear", "quadratic")


@dataclass(frozen=True, slots=True)
class Kappa:
    """Chance-corrected agreement with what it rests on.

    `observed` and `expected` are (weighted) agreement rates in [0, 1]. `rates` has label, a, b: how often each rater
    used each label; a kappa cannot be read without these base rates.
    """

    value: float | None
    low: float | None
    high: float | None
    observed: float | None
    expected: float | None
    rates: pl.DataFrame
    method: str
    n: int
    reason: str | None = None


def kendalls_w(raters: Rows) -> TestResult:
    """Kendall's coefficient of concordance over raters, each with one score per item, corrected for ties.

    `effect` is W in [0, 1]; statistic m(k-1)W is chi-square with k-1 degrees of freedom for m raters and k items
    (Kendall and Babington Smith 1939); that p is rough below about 8 items. `n` counts raters; an item that any rater
    misses is left out.
    """
    from scipy.stats import rankdata

    scores = _stack(raters)
    scores = np.round(scores[:, ~np.isnan(scores).any(axis=0)], 12)
    m, k = scores.shape
    if m < 2 or k < 2:
        return no_test("Kendall's W", m, "fewer than two raters" if m < 2 else "fewer than two items rated by all")
    ranks = rankdata(scores, axis=1)
    spread = ((ranks - (k + 1) / 2) ** 2).sum()
    if spread == 0:
        return no_test("Kendall's W", m, "every rater ties all items")
    w = float(((ranks.sum(axis=0) - m * (k + 1) / 2) ** 2).sum() / (m * spread))
    return kendalls_w_test(min(w, 1.0), m, k)


def kendalls_w_test(w: float, raters: int, items: int) -> TestResult:
    """The chi-square test of a given W, for example one printed in a paper."""
    if not 0 <= w <= 1:
        raise InputError(Problem("w", f"{w} is no coefficient of concordance", ("0 to 1",)))
    if raters < 2 or items < 2:
        return no_test("Kendall's W", raters, "fewer than two raters or items", effect=w)
    from scipy.special import chdtrc

    statistic = raters * (items - 1) * w
    return TestResult(statistic, float(chdtrc(items - 1, statistic)), w, "Kendall's W", raters)


def cohens_kappa(
    a: Labels,
    b: Labels,
    *,
    weights: str = "none",
    labels: Sequence[Hashable] | None = None,
    clusters: Clusters | None = None,
    sample_weights: Values | None = None,
    level: float = 0.95,
) -> Kappa:
    """Cohen's kappa of two raters, plain (1960) or weighted (1968) by distance of ordered labels.

    `labels` gives the order (default: sorted); weighted kappa uses their positions. Interval: large-sample delta method
    (Fleiss, Cohen and Everitt 1969), summed over `clusters` where given. `sample_weights` undo a stratified sample (see
    `stratum_weights`). Units that miss a label are left out.
    """
    require_choice("weights", weights, WEIGHTS)
    require_share("level", level)
    method = "Cohen's kappa" if weights == "none" else f"Cohen's kappa, {weights} weights"
    first, second, groups, given = _pairs(a, b, clusters, sample_weights)
    order = order_labels([*first, *second], labels)
    n, size = len(given), len(order)
    position = {label: i for i, label in enumerate(order)}
    x = np.array([position[label] for label in first], dtype=np.int64)
    y = np.array([position[label] for label in second], dtype=np.int64)
    share = given / given.sum() if n else given
    rate_a, rate_b = (np.bincount(z, weights=share, minlength=size) for z in (x, y))
    rates = pl.DataFrame({"label": [str(label) for label in order], "a": rate_a, "b": rate_b}, schema=_RATE_SCHEMA)
    if n == 0:
        return Kappa(None, None, None, None, None, rates, method, 0, "no unit has both labels")
    apart = _distance(size, weights)
    missed, chance = float(share @ apart[x, y]), float(rate_a @ apart @ rate_b)
    observed, expected = 1 - missed, 1 - chance
    if chance < 1e-12:
        return Kappa(None, None, None, observed, expected, rates, method, n, "both raters used one and the same label")
    pull = (apart @ rate_b)[x] + (rate_a @ apart)[y] - 2 * chance
    influence = share * (-(apart[x, y] - missed) / chance + missed / chance**2 * pull)
    got = clustered_interval(1 - missed / chance, influence, groups, level, method)
    return Kappa(got.value, got.low, got.high, observed, expected, rates, method, n, got.reason)


def _pairs(
    a: Labels, b: Labels, clusters: Clusters | None, given: Values | None
) -> tuple[list[Hashable], list[Hashable], Codes, FloatArray]:
    first, second = list(a), list(b)
    groups: list[Hashable] = list(clusters) if clusters is not None else list(range(len(first)))
    weight = as_array(given) if given is not None else np.ones(len(first))
    if not len(first) == len(second) == len(groups) == len(weight):
        raise InputError(Problem("a and b", "lengths differ", ("one label, cluster and weight per unit",)))
    if (weight < 0).any() or np.isnan(weight).any():
        raise InputError(Problem("sample_weights", "one is missing or negative", ("0 or more for every unit",)))
    kept = [i for i in range(len(first)) if not (is_blank(first[i]) or is_blank(second[i])) and weight[i] > 0]
    return [first[i] for i in kept], [second[i] for i in kept], codes([groups[i] for i in kept]), weight[kept]


def _distance(size: int, weights: str) -> FloatArray:
    steps: FloatArray = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]).astype(np.float64)
    if weights == "none":
        return np.asarray(steps > 0, dtype=np.float64)
    return np.asarray((steps / max(size - 1, 1)) ** (1 if weights == "linear" else 2))


def _stack(raters: Rows) -> FloatArray:
    rows = [as_array(rater) for rater in raters]
    if len({len(row) for row in rows}) > 1:
        raise InputError(Problem("raters", "they score different numbers of items", ("one score or None per item",)))
    return np.vstack(rows) if rows else np.empty((0, 0))


_RATE_SCHEMA = {"label": pl.String, "a": pl.Float64, "b": pl.Float64}
