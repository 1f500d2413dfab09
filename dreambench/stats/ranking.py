"""Who is ahead, and would it stay so: rank stability under resampling, wins with shared ties, agreement on pairs.

Tables have one row per task and one column per system, higher is better; a blank is a missing run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from dreambench.stats.resampling import Seed, draw_counts, generator
from dreambench.stats.results import (
    Estimate,
    FloatArray,
    Values,
    aligned,
    as_array,
    no_estimate,
    require_choice,
    require_columns,
    require_share,
)

TIES = ("disagree", "exclude", "half", "agree")
BLOCK = 250


@dataclass(frozen=True, slots=True)
class RankStability:
    """How a ranking holds when tasks are drawn again.

    `systems` has system, value (mean over its tasks), rank (1 is best, ties share the mean rank), mean_rank, low, high
    (percentiles of the rank) and first (share of draws on rank 1, ties shared). `tau` and `rho` are the mean Kendall
    tau-b and Spearman correlation of a drawn ranking with the full one. Null where there is nothing to rank.
    """

    systems: pl.DataFrame
    tau: float | None
    rho: float | None
    n: int
    reason: str | None = None


def rank_stability(
    table: pl.DataFrame, systems: Sequence[str], *, seed: Seed, level: float = 0.95, draws: int = 2000
) -> RankStability:
    """Bootstrap over tasks of the ranking of systems by their macro mean; assumes independent tasks.

    A draw in which a system has no value at all is left out and counted in `reason`.
    """
    require_share("level", level)
    require_columns(table, *systems)
    rows = _matrix(table, systems)
    empty = [name for name, column in zip(systems, rows.T, strict=True) if np.isnan(column).all()]
    n = len(rows)
    why = "fewer than two systems" if len(systems) < 2 else f"no values for {', '.join(empty)}" if empty else None
    if why or n < 2:
        return RankStability(_empty_ranks(systems), None, None, n, why or "fewer than two tasks")
    counts = np.vstack([np.ones(n), draw_counts(n, draws, generator(seed))])
    known = ~np.isnan(rows)
    with np.errstate(invalid="ignore"):
        means = (counts @ np.nan_to_num(rows)) / (counts @ known.astype(np.float64))
    usable = np.isfinite(means).all(axis=1)
    left_out = int((~usable).sum())
    ranks, signs = _ranks(means[usable])
    share = [0.5 - level / 2, 0.5 + level / 2]
    low, high = np.quantile(ranks[1:], share, axis=0)
    best = ranks[1:] == ranks[1:].min(axis=1, keepdims=True)
    summary = pl.DataFrame(
        {
            "system": list(systems),
            "value": means[0],
            "rank": ranks[0],
            "mean_rank": ranks[1:].mean(axis=0),
            "low": low,
            "high": high,
            "first": (best / best.sum(axis=1, keepdims=True)).mean(axis=0),
        }
    )
    tau, rho = _mean_cosine(signs), _mean_cosine(ranks - ranks.mean(axis=1, keepdims=True))
    said = f"a system has no value in {left_out} of {draws} draws" if left_out else None
    return RankStability(summary, tau, rho, n, said if tau is not None else "all systems are tied")


def fractional_wins(table: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """How many tasks each system wins; k systems tied at the top get 1/k each. Columns system, wins, share, n, reason.

    `n` counts the tasks with any value: a system without a value there cannot win it. Values that differ by less than
    1e-12 are tied.
    """
    require_columns(table, *systems)
    rows = _matrix(table, systems)
    if not len(rows):
        empty = {"wins": None, "share": None, "n": 0, "reason": "all values are missing"}
        return pl.DataFrame([{"system": name, **empty} for name in systems], schema=_WIN_SCHEMA)
    top = np.nan_to_num(rows, nan=-np.inf) >= np.nanmax(rows, axis=1, keepdims=True) - 1e-12
    wins = (top / top.sum(axis=1, keepdims=True)).sum(axis=0)
    columns = {"system": list(systems), "wins": wins, "share": wins / len(rows), "n": [len(rows)] * len(systems)}
    return pl.DataFrame({**columns, "reason": [None] * len(systems)}, schema=_WIN_SCHEMA)


def pairwise_agreement(a: Values, b: Values, *, ties: str = "disagree", level: float = 0.95) -> Estimate:
    """Share of pairs of units that two raters put in the same order.

    A pair tied by both agrees with `ties` = agree, and is left out with `exclude`, as is a pair tied by one; `half`
    counts any tie as one half; `disagree` (default, as in DR3-Eval) counts any tie as a disagreement. With `agree`, a
    pair tied by one alone disagrees. Interval: jackknife over units (Arvesen 1969) with t, cut to [0, 1].
    """
    require_choice("ties", ties, TIES)
    require_share("level", level)
    x, y = aligned(a=a, b=b)
    n, method = len(x), f"pairwise agreement, ties {ties}"
    if n < 2:
        return no_estimate(method, n, "fewer than two units")
    left, right = _signs(x), _signs(y)
    tied = (left == 0) | (right == 0)
    agreed = (left == right) & ~tied if ties != "agree" else left == right
    credit = np.where(tied, 0.5, agreed) if ties == "half" else agreed.astype(np.float64)
    counted = ~(tied if ties == "exclude" else np.zeros_like(tied)) & ~np.eye(n, dtype=bool)
    credit = credit * counted
    total, pairs = credit.sum() / 2, counted.sum() / 2
    if pairs == 0:
        return no_estimate(method, n, "every pair is tied")
    value = float(total / pairs)
    rest = pairs - counted.sum(axis=1)
    if n < 3 or (rest <= 0).any():
        return no_estimate(method, n, "too few pairs for an interval", value=value)
    return _jackknife(value, (total - credit.sum(axis=1)) / rest, n, level, method)


def _jackknife(value: float, without: FloatArray, n: int, level: float, method: str) -> Estimate:
    from scipy.special import stdtrit

    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if error < 1e-12:
        return no_estimate(method, n, "no spread over units", value=value)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), method, n)


def _matrix(table: pl.DataFrame, systems: Sequence[str]) -> FloatArray:
    if not systems:
        return np.empty((0, 0))
    rows = np.column_stack([as_array(table[name]) for name in systems])
    rows = rows[~np.isnan(rows).all(axis=1)]
    # An order that does not depend on which system comes first, so that neither rows nor columns can change a draw.
    total = np.nansum(rows, axis=1)
    spread = np.nansum(rows**2, axis=1)
    return rows[np.lexsort((np.round(spread, 12), np.round(total, 12)))]


def _signs(values: FloatArray) -> FloatArray:
    apart = values[:, None] - values[None, :]
    return np.where(np.abs(apart) < 1e-12, 0.0, np.sign(apart))


def _ranks(means: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ranks (1 is best, ties share) and the signs of all pairs, per row of means."""
    size = means.shape[1]
    upper = np.triu_indices(size, 1)
    ranks, signs = [], []
    for start in range(0, len(means), BLOCK):
        block = means[start : start + BLOCK]
        apart = block[:, None, :] - block[:, :, None]
        sign = np.where(np.abs(apart) < 1e-12, 0.0, np.sign(apart))
        ranks.append((sign.sum(axis=2) + size + 1) / 2)
        signs.append(sign[:, upper[0], upper[1]])
    return np.vstack(ranks), np.vstack(signs)


def _mean_cosine(rows: FloatArray) -> float | None:
    """Mean correlation of row 0 with the others: Spearman for centred ranks, tau-b for signs of pairs."""
    sizes = np.sqrt((rows**2).sum(axis=1))
    usable = sizes[1:] > 0
    if sizes[0] == 0 or not usable.any():
        return None
    return float(((rows[1:] @ rows[0])[usable] / (sizes[1:][usable] * sizes[0])).mean())


def _empty_ranks(systems: Sequence[str]) -> pl.DataFrame:
    names = ("value", "rank", "mean_rank", "low", "high", "first")
    schema = {"system": pl.String, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame([{"system": name, **dict.fromkeys(names)} for name in systems], schema=schema)


_WIN_SCHEMA = {"system": pl.String, "wins": pl.Float64, "share": pl.Float64, "n": pl.Int64, "reason": pl.String}
