"""FACT in the item table: one row per fact and page, and the scores that aggregate them.

N are the facts whose label has a value (supported 1, unsupported 0), V the sum of their values, M the reports that cite.
Citation accuracy is V / N, pooled as published or per citing task; effective citations V / M, total citations N / M.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from dreambench.metrics.metric import Unit, Variant
from dreambench.records import Evidence, Judgment, Status, Task, item_id

FAMILY = "fact"
NO_CITATIONS = "no_citations"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known about one fact and the page cited for it. `span` is where the report cites the page."""

    url: str
    fact: str
    label: str
    status: Status = Status.SCORED
    reason_code: str = ""
    reason: str = ""
    evidence: Evidence | None = None
    span: tuple[int, int] | None = None
    cost: float | None = None


def verdict_row(task: Task, verdict: Verdict, values: Mapping[str, float | None]) -> Judgment:
    """The row of a fact; a label without a value (`unknown`) leaves numerator and denominator."""
    start, end = verdict.span or (None, None)
    return Judgment(
        item_id(task.id, f"{verdict.url} {verdict.fact}"),
        FAMILY,
        verdict.label or verdict.reason_code,
        values[verdict.label] if verdict.status is Status.SCORED else None,
        verdict.status,
        reason_code=verdict.reason_code,
        rationale=f"{verdict.fact}: {verdict.reason}" if verdict.reason else verdict.fact,
        report_start=start,
        report_end=end,
        evidence=(verdict.evidence or Evidence(url=verdict.url),),
        cost=verdict.cost,
    )


def no_citations(task: Task) -> Judgment:
    """The row of a report that cites nothing: not applicable, not 0."""
    item = item_id(task.id, NO_CITATIONS)
    return Judgment(item, "report", NO_CITATIONS, None, Status.NOT_APPLICABLE, reason_code=NO_CITATIONS)


def failed_report(task: Task, status: Status, code: str, message: str) -> Judgment:
    """The row of a report whose citations could not be read at all."""
    return Judgment(item_id(task.id, code), "report", code, None, status, reason_code=code, rationale=message)


def fact_variants(*, complete: bool) -> list[Variant]:
    """Accuracy first. With `complete`, a report with a failed fact has no counts, because they would be too low; the
    original counts what is left."""
    valued = pl.col("value").is_not_null()
    return [
        Variant("accuracy", pl.col("value").sum(), valued.sum(), micro=True),
        Variant("effective_citations", pl.col("value").sum(), pl.lit(1.0), unit=Unit.COUNT, complete=complete),
        Variant("total_citations", valued.sum(), pl.lit(1.0), unit=Unit.COUNT, complete=complete),
    ]
