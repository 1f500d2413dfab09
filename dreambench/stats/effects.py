"""Size of a difference in standard deviations. Cohen's reading (1988): .2 small, .5 medium, .8 large."""

from __future__ import annotations

import numpy as np

from dreambench.stats.noncentral import noncentrality
from dreambench.stats.results import Estimate, Values, aligned, no_estimate, present, require_share


def cohens_d(a: Values, b: Values, *, level: float = 0.95, correct: bool = False) -> Estimate:
    """Mean of a minus mean of b over the pooled standard deviation, for two independent samples.

    Interval: inversion of the noncentral t distribution (Steiger and Fouladi 1997), for normal samples of equal
    variance. `correct` gives Hedges' g (1981, exact gamma factor), which takes out the small-sample bias.
    """
    require_share("level", level)
    first, second = present(a), present(b)
    n_a, n_b, df = len(first), len(second), len(first) + len(second) - 2
    method = "Hedges' g, pooled sd" if correct else "Cohen's d, pooled sd"
    if min(n_a, n_b) < 1 or df < 1:
        return no_estimate(method, n_a + n_b, "too few values for a pooled standard deviation")
    pooled = float(np.sqrt((((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum()) / df))
    if not pooled > 1e-12 * max(1.0, abs(first.mean()), abs(second.mean())):
        return no_estimate(method, n_a + n_b, "no spread within the samples")
    d = float(first.mean() - second.mean()) / pooled
    return _with_interval(d, float(np.sqrt(1 / n_a + 1 / n_b)), df, n_a + n_b, level, method, correct)


def cohens_d_paired(a: Values, b: Values, *, level: float = 0.95, correct: bool = False) -> Estimate:
    """d_z: mean difference over the standard deviation of the differences; pairs with a missing value are left out.

    Interval and correction as in `cohens_d`, for normal differences.
    """
    require_share("level", level)
    first, second = aligned(a=a, b=b)
    differences, n = first - second, len(first)
    method = "Hedges' g_z, paired" if correct else "Cohen's d_z, paired"
    if n < 2:
        return no_estimate(method, n, "fewer than two pairs")
    sd = float(differences.std(ddof=1))
    if not sd > 1e-12 * max(1.0, abs(float(differences.mean()))):
        return no_estimate(method, n, "all differences are equal")
    return _with_interval(float(differences.mean()) / sd, float(np.sqrt(1 / n)), n - 1, n, level, method, correct)


def _with_interval(d: float, scale: float, df: int, n: int, level: float, method: str, correct: bool) -> Estimate:
    from scipy.special import gammaln

    factor = float(np.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / np.sqrt(df / 2)) if correct and df > 1 else 1.0
    t = d / scale
    tail = 0.5 - level / 2
    low, high = noncentrality(t, df, 1 - tail), noncentrality(t, df, tail)
    return Estimate(factor * d, factor * low * scale, factor * high * scale, method, n)
