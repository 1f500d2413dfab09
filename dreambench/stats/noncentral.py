"""The noncentral t distribution, which power and intervals of standardised differences rest on.

T = (Z + away) / S with S^2 a chi-square over its degrees of freedom, so P(T <= t) is the mean of Phi(t S - away) over S.
It is integrated over quantiles of S: the library's series is undefined (NaN) in patches of the tails that root finding
walks through.
"""

from __future__ import annotations

import functools

import numpy as np

from dreambench.stats.results import FloatArray

NODES = 400


def noncentral_t_cdf(t: float, df: int, away: float) -> float:
    """P(T <= t) for noncentrality `away`, to about 1e-6."""
    from scipy.special import ndtr

    quantiles, weights = _scale(df)
    return float(np.clip(weights @ ndtr(t * quantiles - away), 0.0, 1.0))


def noncentrality(t: float, df: int, share: float) -> float:
    """The noncentrality at which P(T <= t) is `share` (0 < share < 1)."""
    from scipy.optimize import brentq

    width = 20 + 20 * abs(t)
    return float(brentq(lambda away: noncentral_t_cdf(t, df, away) - share, -width, width, xtol=1e-10))


@functools.lru_cache(maxsize=1)
def _rule() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


@functools.lru_cache(maxsize=256)
def _scale(df: int) -> tuple[FloatArray, FloatArray]:
    from scipy.special import gammaincinv

    shares, weights = _rule()
    return np.sqrt(gammaincinv(df / 2, shares) * 2 / df), weights
