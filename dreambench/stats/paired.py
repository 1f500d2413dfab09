"""Two agents, judges or arms on the same tasks: the mean difference, and what the sample could have seen.

Tasks are independent; a task that misses one of its two values is left out of both. Power is that of the two-sided
paired t test, from the noncentral t distribution (Cohen 1988, ch. 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from dreambench.stats.intervals import mean_interval
from dreambench.stats.multiple import adjust_column
from dreambench.stats.noncentral import noncentral_t_cdf
from dreambench.stats.resampling import Seed
from dreambench.stats.results import Estimate, Values, aligned, no_estimate, require_columns, require_share

MOST_UNITS = 10_000_000


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of a - b with its interval, the p of the paired t test, d_z and the smallest difference the test would detect.

    `effect` is the mean difference over the standard deviation of the differences; `detectable` is in the units of the
    scores and does not look at the observed difference. `reason` says why something is null.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    effect: float | None
    detectable: float | None
    method: str
    n: int
    reason: str | None = None


def paired_difference(
    a: Values, b: Values, *, seed: Seed, level: float = 0.95, power: float = 0.8, draws: int = 2000
) -> PairedDifference:
    """Mean difference a - b over tasks, one value of each per task.

    Method: `mean_interval` of the differences (percentile bootstrap over tasks from 20 on, t below), p of the paired t
    test, minimum detectable difference at `power` and error 1 - `level`. Fewer than two pairs or equal differences have
    no interval and no p.
    """
    require_share("power", power)
    first, second = aligned(a=a, b=b)
    differences = first - second
    interval = mean_interval(differences, seed=seed, level=level, draws=draws)
    n = interval.n
    if interval.low is None:
        return PairedDifference(interval.value, None, None, None, None, None, interval.method, n, interval.reason)
    from scipy import stats

    sd = float(differences.std(ddof=1))
    p = float(stats.ttest_1samp(differences, 0.0).pvalue)
    detectable = minimum_detectable_difference(sd, n, level=level, power=power).value
    effect = float(differences.mean()) / sd
    return PairedDifference(interval.value, interval.low, interval.high, p, effect, detectable, interval.method, n)


def compare_pairs(
    table: pl.DataFrame, systems: list[str], *, seed: int, level: float = 0.95, draws: int = 2000
) -> pl.DataFrame:
    """Every pair of systems, from one row per task and one column per system.

    Columns: a, b, then those of `PairedDifference`, and `p_adjusted` (Holm over all pairs). Each pair uses the tasks
    that both have.
    """
    require_columns(table, *systems)
    pairs = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    rows = [_row(table, a, b, paired_difference(table[a], table[b], seed=seed, level=level, draws=draws)) for a, b in pairs]
    return adjust_column(pl.DataFrame(rows, schema=_PAIR_SCHEMA), method="holm")


def paired_power(difference: float, sd: float, n: int, *, level: float = 0.95) -> Estimate:
    """Chance that the two-sided paired t test at error 1 - level finds a true mean difference, on n tasks.

    `sd` is that of the differences over tasks, which are assumed normal. No interval is given.
    """
    require_share("level", level)
    method = "noncentral t"
    if n < 2:
        return no_estimate(method, n, "fewer than two tasks")
    if not sd > 0:
        return no_estimate(method, n, "the differences have no spread")
    return Estimate(_power(abs(difference) / sd, n, level), None, None, method, n)


def minimum_detectable_difference(sd: float, n: int, *, level: float = 0.95, power: float = 0.8) -> Estimate:
    """Smallest true mean difference that the paired t test on n tasks finds with the given power, in the units of sd."""
    require_share("level", level)
    require_share("power", power)
    method = "noncentral t"
    if n < 2:
        return no_estimate(method, n, "fewer than two tasks")
    if not sd > 0:
        return no_estimate(method, n, "the differences have no spread")
    if power <= 1 - level:
        return Estimate(0.0, None, None, method, n)
    from scipy.optimize import brentq

    upper = 1.0
    while _power(upper, n, level) < power:
        upper *= 2
    effect = float(brentq(lambda d: _power(d, n, level) - power, 0.0, upper, xtol=1e-10))
    return Estimate(effect * sd, None, None, method, n)


def tasks_needed(difference: float, sd: float, *, level: float = 0.95, power: float = 0.8) -> Estimate:
    """Smallest number of tasks on which the paired t test has the given power; `n` repeats it, 0 where there is none."""
    require_share("level", level)
    require_share("power", power)
    method = "noncentral t"
    if not sd > 0:
        return no_estimate(method, 0, "the differences have no spread")
    if difference == 0:
        return no_estimate(method, 0, "no number of tasks detects a difference of zero")
    low, high = 1, 2
    while _power(abs(difference) / sd, high, level) < power:
        low, high = high, high * 2
        if high > MOST_UNITS:
            return no_estimate(method, 0, f"more than {MOST_UNITS} tasks")
    while high - low > 1:
        middle = (low + high) // 2
        enough = _power(abs(difference) / sd, middle, level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return Estimate(float(high), None, None, method, high)


def _power(effect: float, n: int, level: float) -> float:
    from scipy.special import stdtrit

    critical = float(stdtrit(n - 1, 0.5 + level / 2))
    away = float(effect * np.sqrt(n))
    return 1 - noncentral_t_cdf(critical, n - 1, away) + noncentral_t_cdf(-critical, n - 1, away)


_PAIR_SCHEMA = {
    "a": pl.String,
    "b": pl.String,
    **dict.fromkeys(("value", "low", "high", "p", "effect", "detectable"), pl.Float64),
    "method": pl.String,
    "n": pl.Int64,
    "reason": pl.String,
}


def _row(table: pl.DataFrame, a: str, b: str, result: PairedDifference) -> dict[str, object]:
    return {"a": a, "b": b, **{name: getattr(result, name) for name in list(_PAIR_SCHEMA)[2:]}}
