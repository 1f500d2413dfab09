"""RACE in the item table: two rows per criterion (`target`, `reference`), whose weights let anyone recompute every score.

`family` is the dimension, `value` the score / 10, `weight` the criterion's final share of the total (dimension weight
included). T and R are sums of value x weight over the rows of one label; a score is T / (T + R).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import polars as pl

from dreambench.metrics.metric import Variant
from dreambench.metrics.race.formula import DIMENSIONS, HIGHEST, Criteria, Point
from dreambench.metrics.race.saved import OVERALL
from dreambench.records import Judgment, Status, item_id

Side = Literal["first", "second"]
TARGET, REFERENCE = "target", "reference"
NO_ENTRIES = "no_entries"
UNANSWERED = "not_scored"


def point_rows(task_id: str, points: Iterable[Point], target: Side, part: float, cost: float | None) -> list[Judgment]:
    """The rows of one answer in which the report under test was shown `target`; `part` scales their weights.

    `cost` of the whole call stands at its first row.
    """
    rows: list[Judgment] = []
    for number, point in enumerate(points):
        for label in (TARGET, REFERENCE):
            side = target if label == TARGET else _other(target)
            score, share = (point.first, point.first_share) if side == "first" else (point.second, point.second_share)
            given = score is not None
            rows.append(
                Judgment(
                    item_id(task_id, f"{number} {point.dimension} {point.criterion} {label} {side}"),
                    point.dimension,
                    label,
                    score / HIGHEST if score is not None else None,
                    Status.SCORED if given else Status.UNANSWERED,
                    weight=share * part,
                    reason_code=point.odd if given else point.odd or UNANSWERED,
                    rationale=f"{point.criterion}: {point.reason}" if point.reason else point.criterion,
                    cost=cost if not rows else None,
                )
            )
    return rows


def empty_rows(task_id: str, criteria: Criteria, points: Sequence[Point]) -> list[Judgment]:
    """A row of weight 0 for each dimension without any score: the original scorer gives such a dimension 0."""
    scored = {point.dimension for point in points if point.first is not None}
    return [
        Judgment(item_id(task_id, f"{NO_ENTRIES} {d}"), d, TARGET, 0.0, weight=0.0, reason_code=NO_ENTRIES)
        for d in criteria.lists
        if d not in scored
    ]


def _other(side: Side) -> Side:
    return "second" if side == "first" else "first"


def point_variants(*, zero: bool) -> list[Variant]:
    """Overall and the four dimensions; with `zero`, 0 / 0 is 0 (as the original has it), else it has no value."""
    weighted = pl.col("value") * pl.col("weight")
    target, total = weighted.filter(pl.col("label") == TARGET).sum(), weighted.sum()
    below = pl.when(total > 0).then(total).otherwise(1.0) if zero else total
    return [
        Variant(OVERALL, target, below),
        *(Variant(dimension, target, below, only=pl.col("family") == dimension) for dimension in DIMENSIONS),
    ]


def saved_variants() -> list[Variant]:
    """The saved scores as they are."""
    return [
        Variant(family, pl.col("value").sum(), pl.len(), only=pl.col("family") == family) for family in (OVERALL, *DIMENSIONS)
    ]
