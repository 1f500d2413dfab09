"""Agreement of any number of raters on labels: Fleiss' kappa, and Krippendorff's alpha where there are gaps or scales."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from dreambench.errors import InputError, Problem
from dreambench.stats.labels import Clusters, Codes, clustered_interval, is_blank, label_counts, order_labels
from dreambench.stats.resampling import Seed, draw_counts, generator
from dreambench.stats.results import Estimate, FloatArray, as_array, no_estimate, require_choice, require_share

LEVELS = ("nominal", "ordinal", "interval")


def fleiss_kappa(
    units: Sequence[Sequence[Hashable | None]], *, clusters: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Fleiss' kappa (1971) of two or more raters, one list of labels per unit, any raters, as many for each unit.

    Units with a missing label are left out. Interval: delta method over units or `clusters` (Gwet 2008).
    """
    require_share("level", level)
    counts, groups = label_counts(units, clusters, complete=True)
    method, n = "Fleiss' kappa", len(counts)
    if n == 0:
        return no_estimate(method, 0, "no unit has all labels")
    raters = counts.sum(axis=1)
    if len(set(raters)) > 1:
        raise InputError(Problem("units", "they have different numbers of labels", ("the same number of labels in each",)))
    if raters[0] < 2:
        return no_estimate(method, n, "fewer than two raters")
    rates = counts / raters[0]
    same = ((counts**2).sum(axis=1) - raters[0]) / (raters[0] * (raters[0] - 1))
    base = rates.mean(axis=0)
    chance = float((base**2).sum())
    if 1 - chance < 1e-12:
        return no_estimate(method, n, "only one label was used")
    agreed = float(same.mean())
    pull = 2 * (rates @ base - chance)
    influence = ((same - agreed) / (1 - chance) - (1 - agreed) / (1 - chance) ** 2 * pull) / n
    return clustered_interval((agreed - chance) / (1 - chance), influence, groups, level, method)


def krippendorffs_alpha(
    units: Sequence[Sequence[Hashable | None]],
    *,
    seed: Seed,
    scale: str = "nominal",
    clusters: Clusters | None = None,
    level: float = 0.95,
    draws: int = 2000,
) -> Estimate:
    """Krippendorff's alpha (2011) for any number of raters with gaps, one list of labels per unit.

    `scale`: nominal, ordinal (sortable labels) or interval (numbers). Interval: percentile bootstrap over units or
    `clusters`. A unit with fewer than two labels pairs nothing and is left out. Disagreement is a squared distance: of
    indicators, of pooled mid-ranks, of the numbers themselves, which gives the three scales one formula.
    """
    require_choice("scale", scale, LEVELS)
    require_share("level", level)
    method = f"Krippendorff's alpha, {scale}, bootstrap percentile"
    counts, groups, values = _pairable(units, clusters, scale)
    n = len(counts)
    if n == 0:
        return no_estimate(method, 0, "no unit has two labels")
    coded, order = np.unique(groups, return_inverse=True)
    whole = float(_alpha(counts, np.ones((1, n)), scale, values)[0])
    if np.isnan(whole):
        return no_estimate(method, n, "only one label was used")
    if len(coded) < 2:
        return no_estimate(method, n, "one cluster" if clusters is not None else "one unit", value=whole)
    if whole > 1 - 1e-12:
        return no_estimate(method, n, "perfect agreement has no spread", value=whole)
    drawn = _alpha(counts, draw_counts(len(coded), draws, generator(seed))[:, order], scale, values)
    defined = drawn[np.isfinite(drawn)]
    said = f"undefined in {draws - len(defined)} of {draws} draws" if len(defined) < draws else None
    if len(defined) < 0.95 * draws:
        return no_estimate(method, n, str(said), value=whole)
    low, high = np.quantile(defined, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(whole, float(low), float(high), method, n, said)


def _alpha(counts: FloatArray, times: FloatArray, scale: str, values: FloatArray) -> FloatArray:
    """Alpha for each row of unit multiplicities; NaN where one label only occurs."""
    m = counts.sum(axis=1)
    if scale == "nominal":
        squares = [(column[None, :], column[None, :]) for column in counts.T]
    elif scale == "interval":
        squares = [((counts @ values)[None, :], (counts @ values**2)[None, :])]
    else:
        seen = times @ counts
        ranks = np.cumsum(seen, axis=1) - seen / 2
        squares = [(ranks @ counts.T, ranks**2 @ counts.T)]
    total = times @ m
    within, across = np.zeros(len(times)), np.zeros(len(times))
    for first, second in squares:
        within += (times * ((m * second - first**2) / (m - 1))).sum(axis=1)
        across += ((times * second).sum(axis=1) * total - (times * first).sum(axis=1) ** 2) / (total - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(across > 1e-12, 1 - within / across, np.nan)


def _pairable(
    units: Sequence[Sequence[Hashable | None]], clusters: Clusters | None, scale: str
) -> tuple[FloatArray, Codes, FloatArray]:
    counts, groups = label_counts(units, clusters, complete=False)
    order = order_labels([label for unit in units for label in unit if not is_blank(label)], None)
    values = np.zeros(len(order))
    if scale == "interval":
        values = as_array([float(label) for label in order])  # type: ignore[arg-type]
        values = values - (values.mean() if len(values) else 0.0)
    kept = counts.sum(axis=1) >= 2
    counts, groups = counts[kept], groups[kept]
    return counts, _by_content(counts, groups), values


def _by_content(counts: FloatArray, groups: Codes) -> Codes:
    """Clusters numbered by what is in them, so that the order of the units cannot change a draw."""
    distinct, inner = np.unique(groups, return_inverse=True)
    if not len(distinct):
        return groups
    sums = np.zeros((len(distinct), counts.shape[1]))
    np.add.at(sums, inner, counts)
    place = np.empty(len(distinct), dtype=np.int64)
    place[np.lexsort(sums.T[::-1])] = np.arange(len(distinct))
    return np.asarray(place[inner])
