"""VRS in the item table: one row per verifier (family `verifier`, pass or fail) and one per criterion (family `DI` ... `FD`).

V = share of passed verifiers, r = grade of a criterion (0-3, its value is r / 3), R = mean of r / 3. With w the weight of V:
relaxed = w V + (1 - w) R; vrs = relaxed, or 0 when any r is 0. ACCEPT = no r is 0, mean r >= 2.5 and V >= .8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from dreambench.metrics.metric import Variant
from dreambench.records import Judgment, Status, Task, item_id

VERIFIER = "verifier"
CRITERIA: Mapping[str, str] = {
    "DI": "integrity of data",
    "AR": "reasoning",
    "RF": "relevance",
    "EP": "precision of calculation",
    "FD": "form",
}
"""The five criteria, each 0 to 3; the source gives the letters and their anchors, the names are ours."""
HIGHEST = 3
PASSING = 2
"""The grade from which a criterion counts as passed."""
VRS, RELAXED, ACCEPT, AUTO_REJECT = "vrs", "vrs_relaxed", "accept", "auto_reject"
SLACK = 1e-9
"""V = 12 of 15 is exactly .8 and passes, whatever floating point makes of it."""


def verifier_row(
    task: Task,
    name: str,
    text: str,
    passed: bool,
    *,
    reason: str = "",
    reason_code: str = "",
    span: tuple[int, int] | None = None,
    cost: float | None = None,
) -> Judgment:
    """The row of one verifier; `reason_code` says `checked_by_code` where no judge was asked."""
    start, end = span or (None, None)
    return Judgment(
        verifier_id(task, name, text),
        VERIFIER,
        "pass" if passed else "fail",
        float(passed),
        reason_code=reason_code,
        rationale=f"{text}: {reason}" if reason else text,
        report_start=start,
        report_end=end,
        cost=cost,
    )


def verifier_id(task: Task, name: str, text: str) -> str:
    """What matches a verifier between runs."""
    return item_id(task.id, f"{VERIFIER} {name} {text}")


def criterion_row(
    task: Task,
    name: str,
    grade: int,
    *,
    reason: str = "",
    reason_code: str = "",
    span: tuple[int, int] | None = None,
    cost: float | None = None,
) -> Judgment:
    """The row of one criterion with its grade, 0 to 3."""
    start, end = span or (None, None)
    return Judgment(
        item_id(task.id, f"criterion {name}"),
        name,
        str(grade),
        grade / HIGHEST,
        reason_code=reason_code,
        rationale=f"{CRITERIA[name]}: {reason}" if reason else CRITERIA[name],
        report_start=start,
        report_end=end,
        cost=cost,
    )


def report_row(task: Task, status: Status, code: str, message: str = "") -> Judgment:
    """The one row of a report that has nothing to count."""
    return Judgment(item_id(task.id, code), "report", code, None, status, reason_code=code, rationale=message)


def score_variants(weight: float, accept_mean: float, accept_verifiers: float) -> Sequence[Variant]:
    """VRS first; every one that mixes verifiers and criteria needs all items of the report."""
    passed = pl.col("value").filter(pl.col("family") == VERIFIER)
    grades = pl.col("value").filter(pl.col("family").is_in(list(CRITERIA)))
    both = pl.when((passed.len() > 0) & (grades.len() > 0)).then(1.0).otherwise(0.0)
    relaxed = weight * passed.mean() + (1 - weight) * grades.mean()
    accepted = (
        (grades.min() > 0) & (HIGHEST * grades.mean() >= accept_mean - SLACK) & (passed.mean() >= accept_verifiers - SLACK)
    )
    one = pl.lit(1.0)
    only_verifiers, only_criteria = pl.col("family") == VERIFIER, pl.col("family").is_in(list(CRITERIA))
    return [
        Variant(VRS, pl.when(grades.min() > 0).then(relaxed).otherwise(0.0), both, complete=True),
        Variant(RELAXED, relaxed, both, complete=True),
        Variant(ACCEPT, accepted.cast(pl.Float64), both, complete=True),
        Variant(AUTO_REJECT, (pl.col("value").min() == 0).cast(pl.Float64), one, only=only_criteria, complete=True),
        Variant("verifiers", pl.col("value").sum(), pl.len(), micro=True, only=only_verifiers),
        Variant("criteria", pl.col("value").mean(), one, only=only_criteria, complete=True),
    ]
