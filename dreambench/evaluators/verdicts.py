"""From typed verdicts to rows: labels and values are kept apart, so that an ablation can remap them.

A label whose value is null (unverifiable) is outside numerator and denominator; its row is scored all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.claims import QUOTE_NOT_FOUND, Claim
from dreambench.evaluators.evidence import Pool
from dreambench.judges.kinds.entailment import Answer, labels_of
from dreambench.judges.rubric import Rubric
from dreambench.metrics.metric import Variant
from dreambench.records import Judgment

LabelValues = dict[str, float | None]


def check_values(where: str, values: LabelValues, rubric: Rubric, *more: str) -> None:
    """Raises ConfigError unless every label of `rubric` and of `more` has a value in [0, 1] or null, and no other has."""
    labels = list(dict.fromkeys((*labels_of(rubric.settings), *more)))
    problems = [
        Problem(f"{where}.{label}", f"is missing: {rubric.id} can answer it", type=f"{where}.{label}=0")
        for label in labels
        if label not in values
    ]
    problems += [Problem(f"{where}.{label}", "is no label", labels) for label in values if label not in labels]
    problems += [
        Problem(f"{where}.{label}", f"{value:g} is out of range", ["0 to 1", "null"])
        for label, value in values.items()
        if value is not None and not 0 <= value <= 1
    ]
    if problems:
        raise ConfigError(*problems)


def label_variants(values: Mapping[str, float | None], only: pl.Expr) -> list[Variant]:
    """The distribution of labels: one share per label."""
    return [Variant(f"label_{label}", (pl.col("label") == label).sum(), pl.len(), micro=True, only=only) for label in values]


def verdict_row(
    task_id: str,
    claim: Claim,
    label: str,
    value: float | None,
    rationale: str,
    cost: float | None,
    *,
    reason_code: str = "",
    family: str = "claim",
    what: str = "",
    pool: Pool | None = None,
    answers: Sequence[Answer] = (),
) -> Judgment:
    """The row of a claim, or of `what` about it, with what the answers quote, or the pages where they quote nothing.

    A quote that stands in no passage marks the row.
    """
    quoted = [evidence for answer in answers if pool and (evidence := pool.evidence(answer))]
    opened = [page.as_evidence() for page in pool.pages] if pool else []
    misquoted = any(pool.misquotes(answer) for answer in answers if pool)
    return Judgment(
        claim.item(task_id, what),
        family,
        label,
        value,
        reason_code=reason_code or (QUOTE_NOT_FOUND if misquoted else ""),
        rationale=f"{claim.text} ({rationale})",
        report_start=claim.place.start,
        report_end=claim.place.end,
        evidence=tuple(dict.fromkeys(quoted or opened)),
        cost=cost,
    )
