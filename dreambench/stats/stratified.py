"""Samples drawn more densely in some strata than in others, and datasets pooled by size: weights that put it right."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.stats.results import Estimate, Values, as_array, no_estimate, require_columns, require_share


def weighted_mean(values: Values, weights: Values) -> Estimate:
    """Sum of weight x value over sum of weights, without an interval; a missing value takes its weight with it.

    For parts that are known as numbers only: families of a benchmark, means of datasets by their number of tasks.
    Weights must not be negative.
    """
    method = "weighted mean"
    parts, shares = as_array(values), as_array(weights)
    if len(parts) != len(shares):
        raise InputError(Problem("weights", f"there are {len(shares)} for {len(parts)} values", ("one per value",)))
    if np.isnan(shares).any() or (shares < 0).any():
        raise InputError(Problem("weights", "one is missing or negative", ("0 or more for every value",)))
    known = ~np.isnan(parts)
    n, total = int(known.sum()), float(shares[known].sum())
    if n == 0 or total == 0:
        return no_estimate(method, n, "all values are missing" if n == 0 else "the weights sum to zero")
    return Estimate(float((parts[known] * shares[known]).sum() / total), None, None, method, n)


def stratum_weights(strata: Sequence[Hashable] | pl.Series, population: Mapping[Hashable, float]) -> list[float]:
    """Weight of each sampled unit: the size of its stratum in the population over its size in the sample.

    Scaled to mean 1, for use as `sample_weights`. Raises InputError where a sampled stratum is not in the population or a
    stratum with members was never sampled, which no weight can put right.
    """
    drawn = list(strata)
    counts: dict[Hashable, int] = {}
    for stratum in drawn:
        counts[stratum] = counts.get(stratum, 0) + 1
    _check_strata(counts, population)
    if not drawn:
        return []
    total = sum(population[stratum] for stratum in counts)
    return [population[stratum] / counts[stratum] * len(drawn) / total for stratum in drawn]


def stratified_mean(
    table: pl.DataFrame,
    population: Mapping[Hashable, float],
    *,
    value: str = "value",
    stratum: str = "stratum",
    level: float = 0.95,
    finite: bool = True,
) -> Estimate:
    """Mean of the population from a stratified random sample, one row per sampled unit (Cochran 1977, ch. 5).

    `population` gives the number of units in each stratum. t interval with Satterthwaite's degrees of freedom;
    `finite` takes out what was sampled without replacement (a stratum read in full adds no error; set False for
    sizes that are mere proportions). Missing values are left out, as if missing at random within the stratum. A stratum
    with one value has no variance: no interval.
    """
    require_share("level", level)
    require_columns(table, value, stratum)
    method = "stratified mean, t"
    rows = table.select(pl.col(value).cast(pl.Float64).alias("y"), pl.col(stratum).alias("s")).fill_nan(None).drop_nulls()
    if rows.height == 0:
        return no_estimate(method, 0, "all values are missing")
    parts = rows.group_by("s").agg(n=pl.len(), mean=pl.mean("y"), var=pl.var("y")).sort("s")
    _check_strata(dict(zip(parts["s"], parts["n"], strict=True)), population)
    sizes = np.array([population[key] for key in parts["s"]], dtype=np.float64)
    n = parts["n"].to_numpy().astype(np.float64)
    if finite and (sizes < n).any():
        raise InputError(Problem("population", "a stratum is smaller than its sample", ("sizes", "finite=False for shares")))
    share = sizes / sizes.sum()
    mean = float(share @ parts["mean"].to_numpy())
    left = 1 - n / sizes if finite else np.ones(len(n))
    open_strata = left > 0
    if (n[open_strata] < 2).any():
        return no_estimate(method, rows.height, "a stratum has one value", value=mean)
    pieces = (share**2 * left * parts["var"].fill_null(0.0).to_numpy() / n)[open_strata]
    if not pieces.sum() > 1e-24:
        return no_estimate(method, rows.height, "no spread within the strata", value=mean)
    from scipy.special import stdtrit

    df = float(pieces.sum() ** 2 / (pieces**2 / (n[open_strata] - 1)).sum())
    half = float(stdtrit(df, 0.5 + level / 2)) * float(np.sqrt(pieces.sum()))
    return Estimate(mean, mean - half, mean + half, method, rows.height)


def _check_strata(counts: Mapping[Hashable, int], population: Mapping[Hashable, float]) -> None:
    unknown = [str(key) for key in counts if key not in population]
    unsampled = [str(key) for key, size in population.items() if size > 0 and key not in counts and counts]
    odd = [str(key) for key in counts if key in population and not population[key] > 0]
    problems = [
        Problem("strata", f"{', '.join(names)}: {what}", tuple(str(key) for key in population))
        for names, what in ((unknown, "not in the population"), (unsampled, "never sampled"), (odd, "sampled, but of size 0"))
        if names
    ]
    if problems:
        raise InputError(*problems)
