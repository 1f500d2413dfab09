"""RACE's arithmetic: from criteria and scores to weighted points, and from points to shares. No I/O.

With W_d the weight of dimension d and w_c the weight of criterion c in it: T_d = sum w_c t_c / sum w_c over the answered
criteria, R_d likewise for the reference; dimension score T_d / (T_d + R_d); T = sum W_d T_d, R = sum W_d R_d; overall
T / (T + R), which is not the mean of the dimension scores. An equal report gives .5. (METRICS 2, arXiv 2506.11763.)

A point carries its final share W_d w_c / sum w_c, so T and R are plain sums of share x score over the points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
HIGHEST = 10
"""Best score; scores are 0 to 10 where they are checked."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion of a dimension; `weight` is its share of the dimension."""

    text: str
    weight: float
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Criteria:
    """What reports to one task are scored by: weights of the dimensions (sum 1) and their criteria (weights sum 1)."""

    weights: Mapping[str, float]
    lists: Mapping[str, tuple[Criterion, ...]]

    def by_id(self) -> dict[str, tuple[str, Criterion]]:
        """Every criterion with its dimension, under ids `c1`, `c2`, ... in the order of DIMENSIONS."""
        pairs = [(dimension, criterion) for dimension in DIMENSIONS for criterion in self.lists.get(dimension, ())]
        return {f"c{number}": pair for number, pair in enumerate(pairs, 1)}


@dataclass(frozen=True, slots=True)
class Point:
    """One criterion's scores (0 to 10 where checked) for the reports shown first and second, with their final shares.

    A report without a score has None. `odd` is a short code for what was unusual about the answer, else empty.
    """

    dimension: str
    criterion: str
    first: float | None
    second: float | None
    first_share: float
    second_share: float
    reason: str = ""
    odd: str = ""


@dataclass(frozen=True, slots=True)
class Shares:
    """First / (first + second), overall and by dimension; None where both sides are 0 or nothing was scored."""

    overall: float | None
    dimensions: Mapping[str, float | None]


def strict_points(criteria: Criteria, scores: Mapping[str, tuple[float, float, str]]) -> list[Point]:
    """Points from (first, second, reason) by criterion id (`Criteria.by_id`). Raises KeyError when one is missing."""
    totals = {dimension: sum(c.weight for c in found) for dimension, found in criteria.lists.items()}
    points = []
    for name, (dimension, criterion) in criteria.by_id().items():
        first, second, reason = scores[name]
        share = criteria.weights[dimension] * criterion.weight / totals[dimension]
        points.append(Point(dimension, criterion.text, first, second, share, share, reason))
    return points


def shares(points: Iterable[Point]) -> Shares:
    """The first report's shares."""
    found = list(points)
    by_dimension = {d: _share([point for point in found if point.dimension == d]) for d in DIMENSIONS}
    return Shares(_share(found), by_dimension)


def _share(points: Sequence[Point]) -> float | None:
    first = sum(point.first * point.first_share for point in points if point.first is not None)
    second = sum(point.second * point.second_share for point in points if point.second is not None)
    return first / (first + second) if first + second > 0 else None


def averaged_weights(samples: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means of sampled dimension weights, scaled to sum 1, rounded to 2 decimals; readability takes what rounding leaves."""
    sums = {dimension: sum(sample[dimension] for sample in samples) for dimension in DIMENSIONS}
    total = sum(sums.values())
    rounded = {dimension: round(value / total, 2) for dimension, value in sums.items() if dimension != "readability"}
    return {**rounded, "readability": max(0.0, round(1 - sum(rounded.values()), 2))}
