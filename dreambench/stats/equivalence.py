"""Is a shift small enough not to matter? Two one-sided tests (TOST, Schuirmann 1987) against a margin set beforehand.

A difference that is not significant is no proof of equality; here the burden is turned round: p is the chance of data
this close to zero if the true difference were at the margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dreambench.errors import InputError, Problem
from dreambench.stats.results import Values, aligned, present, require_share


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Mean difference a - b with its 1 - 2 alpha interval; equivalent means that the interval lies inside +-margin.

    `p` is the larger of the two one-sided p values. All are in the units of the scores.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    equivalent: bool | None
    margin: float
    method: str
    n: int
    reason: str | None = None


def equivalent_paired(a: Values, b: Values, *, margin: float, alpha: float = 0.05) -> Equivalence:
    """TOST on paired values, one of each per task; assumes independent tasks and about normal differences.

    Differences that are all equal have no standard error, so no p; they are still shown.
    """
    _check(margin, alpha)
    first, second = aligned(a=a, b=b)
    differences, n = first - second, len(first)
    method = "TOST, paired t"
    if n == 0:
        return Equivalence(None, None, None, None, None, margin, method, 0, "all pairs miss a value")
    value = float(differences.mean())
    if n == 1:
        return Equivalence(value, None, None, None, None, margin, method, 1, "one pair has no spread")
    error = float(differences.std(ddof=1) / np.sqrt(n))
    return _tost(value, error, n - 1, margin, alpha, method, n)


def equivalent_independent(a: Values, b: Values, *, margin: float, alpha: float = 0.05) -> Equivalence:
    """TOST on two independent samples with Welch's standard error and degrees of freedom (1947)."""
    _check(margin, alpha)
    first, second = present(a), present(b)
    n = len(first) + len(second)
    method = "TOST, Welch t"
    if min(len(first), len(second)) < 2:
        value = float(first.mean() - second.mean()) if len(first) and len(second) else None
        return Equivalence(value, None, None, None, None, margin, method, n, "a sample has fewer than two values")
    parts = np.array([first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)])
    value, error = float(first.mean() - second.mean()), float(np.sqrt(parts.sum()))
    df = float(parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum()) if error > 0 else 1.0
    return _tost(value, error, df, margin, alpha, method, n)


def _tost(value: float, error: float, df: float, margin: float, alpha: float, method: str, n: int) -> Equivalence:
    from scipy.special import stdtr, stdtrit

    if not error > 1e-12 * max(1.0, abs(value)):
        return Equivalence(value, None, None, None, None, margin, method, n, "no spread to test against")
    p = max(float(stdtr(df, -(value + margin) / error)), float(stdtr(df, (value - margin) / error)))
    half = float(stdtrit(df, 1 - alpha)) * error
    return Equivalence(value, value - half, value + half, p, p < alpha, margin, method, n)


def _check(margin: float, alpha: float) -> None:
    require_share("alpha", alpha)
    if not margin > 0:
        raise InputError(Problem("margin", f"{margin} leaves nothing equivalent", ("more than 0",), "margin=0.05"))
