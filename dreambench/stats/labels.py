"""What agreement coefficients share: reading labels, and intervals from the influence of each unit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.stats.results import Estimate, FloatArray, no_estimate

Labels = Sequence[Hashable | None] | pl.Series
Clusters = Sequence[Hashable] | pl.Series
Codes = npt.NDArray[np.int64]


def clustered_interval(value: float, influence: FloatArray, groups: Codes, level: float, method: str) -> Estimate:
    """t interval from the influence of each unit, summed over its cluster; cut to [-1, 1]."""
    from scipy.special import stdtrit

    n, sums = len(influence), np.bincount(groups, weights=influence)
    used = len(np.unique(groups))
    if used < 2:
        return no_estimate(method, n, "one cluster" if n > 1 else "one unit", value=value)
    error = float(np.sqrt((sums**2).sum() * used / (used - 1)))
    if error < 1e-12:
        return no_estimate(method, n, "no spread over units", value=value)
    half = float(stdtrit(used - 1, 0.5 + level / 2)) * error
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), method, n)


def label_counts(
    units: Sequence[Sequence[Hashable | None]], clusters: Clusters | None, *, complete: bool
) -> tuple[FloatArray, Codes]:
    """How often each unit got each label (units without a gap only, if `complete`), and the cluster of each unit."""
    groups: list[Hashable] = list(clusters) if clusters is not None else list(range(len(units)))
    if len(groups) != len(units):
        raise InputError(Problem("clusters", f"there are {len(groups)} for {len(units)} units", ("one per unit",)))
    kept = [i for i, unit in enumerate(units) if not complete or not any(is_blank(label) for label in unit)]
    order = order_labels([label for i in kept for label in units[i] if not is_blank(label)], None)
    position = {label: k for k, label in enumerate(order)}
    counts = np.zeros((len(kept), len(order)))
    for row, i in enumerate(kept):
        for label in units[i]:
            if label is not None and not is_blank(label):
                counts[row, position[label]] += 1
    return counts, codes([groups[i] for i in kept])


def order_labels(found: list[Hashable], labels: Sequence[Hashable] | None) -> list[Hashable]:
    """The distinct labels in the given order, else sorted; raises InputError on a label that is not among them."""
    if labels is None:
        distinct = set(found)
        try:
            return sorted(distinct)  # type: ignore[type-var]
        except TypeError:
            return sorted(distinct, key=str)
    unknown = sorted({str(label) for label in found if label not in set(labels)})
    if unknown:
        raise InputError(Problem("labels", f"{', '.join(unknown)} not among them", [str(label) for label in labels]))
    return list(labels)


def is_blank(label: Hashable | None) -> bool:
    """Whether a label is missing (None or NaN)."""
    return label is None or (isinstance(label, float) and np.isnan(label))


def codes(groups: list[Hashable]) -> Codes:
    """The groups as numbers from 0, in order of first appearance."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(group, len(known)) for group in groups], dtype=np.int64)
