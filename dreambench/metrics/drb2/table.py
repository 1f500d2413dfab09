"""DeepResearch Bench II in the item table: one row per unique rubric item and, with traces, one row on leakage.

`family` is the dimension, `label` 1, 0 or -1, `value` 1 for label 1 and else 0. A score is the weighted share of 1s; weights
are 1, or 1/k where k saved lines judge the same report. -1 is reported (`blocked`) and never subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dreambench.judges.kinds.rubric_items import DIMENSIONS
from dreambench.metrics.drb2.rubrics import RubricItem
from dreambench.metrics.drb2.traces import CITED, CLEAN, LEAKAGE, VIEWED
from dreambench.metrics.metric import Variant
from dreambench.records import Evidence, Judgment, Status, Task, item_id

TOTAL, BLOCKED, WITHOUT_BLOCKED = "total", "blocked", "without_blocked"
SATISFIED, ABSENT, THROUGH_BLOCKED = "1", "0", "-1"
LABELS = (SATISFIED, ABSENT, THROUGH_BLOCKED)


def item_row(
    task: Task,
    item: RubricItem,
    label: str,
    *,
    reason: str = "",
    quote: str = "",
    place: tuple[int, int] | None = None,
    reason_code: str = "",
    cost: float | None = None,
    weight: float = 1.0,
    line: int = 0,
) -> Judgment:
    """The row of one judged item; `line` tells apart saved lines that judge the same report."""
    start, end = place or (None, None)
    return Judgment(
        identity(task, item, line),
        item.dimension,
        label,
        1.0 if label == SATISFIED else 0.0,
        weight=weight,
        reason_code=reason_code,
        rationale=f"{item.text}: {reason}" if reason else item.text,
        report_start=start,
        report_end=end,
        evidence=(Evidence(quote=quote),) if quote else (),
        cost=cost,
    )


def identity(task: Task, item: RubricItem, line: int = 0) -> str:
    """What matches the item between runs: task, dimension and text."""
    return item_id(task.id, f"{item.dimension} {item.text}", start=line or None)


def report_row(task: Task, status: Status, code: str, message: str = "") -> Judgment:
    """The one row of a report that has no items to count."""
    return Judgment(item_id(task.id, code), "report", code, None, status, reason_code=code, rationale=message)


def rubric_variants(dimensions: Sequence[str] = DIMENSIONS, *, traced: bool = False) -> list[Variant]:
    """Total, dimensions, blocked rate, the total over items that are not blocked; with traces, the shares of leakage states."""
    label, weight = pl.col("label"), pl.col("weight")
    satisfied, asked = (weight * pl.col("value")).sum(), weight.sum()
    judged = pl.col("family").is_in(list(dimensions))
    free = weight.filter(label != THROUGH_BLOCKED).sum()
    variants = [
        Variant(TOTAL, satisfied, asked, micro=True, only=judged),
        *(Variant(name, satisfied, asked, micro=True, only=pl.col("family") == name) for name in dimensions),
        Variant(BLOCKED, weight.filter(label == THROUGH_BLOCKED).sum(), asked, micro=True, only=judged),
        Variant(WITHOUT_BLOCKED, satisfied, free, micro=True, only=judged),
    ]
    if traced:
        states = (CLEAN, VIEWED, CITED)
        variants += [
            Variant(f"{LEAKAGE}_{state}", (label == state).sum(), pl.len(), only=pl.col("family") == LEAKAGE)
            for state in states
        ]
    return variants
