"""The matrix of the audit: one row per metric, judge and perturbation, with every number and the verdict."""

from __future__ import annotations

import polars as pl

from dreambench.audit.verdicts import FLAW, PLACEBO, SEES, with_verdicts
from dreambench.reporting.finished import FinishedRun
from dreambench.studies.dose_tables import labelled, planted, responses

COLUMNS = [
    "metric", "judge", "role", "perturbation", "verdict", "why", "beyond", "n_tasks", "n_reports", "lost", "unchanged", "clean",
    "full",
    "shift", "shift_low", "shift_high", "relative", "slope", "slope_low", "slope_high", "p", "p_holm", "tost_p", "auc",
    "auc_low", "auc_high", "smallest_dose", "detectable", "monotone", "monotone_low", "monotone_high", "page_p", "method",
    "reason",
]  # fmt: skip
"""Columns of the audit's matrix; see `dose_tables.response` and docs/audit.md."""


def audit_cells(run: FinishedRun, *, margin: float, seed: int) -> pl.DataFrame:
    """COLUMNS, sorted by role, perturbation, metric and judge; primary variants that are shares."""
    values = labelled(run.report_scores.filter(pl.col("primary"), pl.col("unit") == "share"))
    arms = planted(run.folder.perturbed)
    top = arms.filter(pl.col("dose") == pl.col("dose").max().over("perturbation"))
    roles = top.group_by("perturbation").agg(
        pl.col("role").first(), unchanged=pl.col("unchanged").sum() / pl.col("reports").sum()
    )
    found = responses(values, seed=seed, margin=margin).join(roles, on="perturbation", how="left", maintain_order="left")
    judged = with_verdicts(found.with_columns(pl.col("role").fill_null(FLAW), pl.col("unchanged").fill_null(0.0)))
    return judged.with_columns(beyond=_beyond()).select(COLUMNS).sort("role", "perturbation", "metric", "judge")


def _beyond() -> pl.Expr:
    """Whether a flaw that is seen pulls the score further down than every placebo of that metric and judge."""
    floor = pl.col("shift").filter(pl.col("role") == PLACEBO).min().over("metric", "judge").fill_null(0.0)
    return pl.when(pl.col("verdict") == SEES).then(pl.col("shift") < floor)


def matrix(cells: pl.DataFrame) -> pl.DataFrame:
    """The verdicts as people read them: a row per perturbation, a column per metric and judge, "sees -24"."""
    text = (
        pl.when(pl.col("shift").is_null())
        .then("verdict")
        .otherwise(pl.format("{} {}", "verdict", (100 * pl.col("shift")).round(1)))
    )
    column = pl.when(pl.col("judge") == "code").then("metric").otherwise(pl.format("{} · {}", "metric", "judge"))
    return cells.with_columns(text=text, column=column).pivot(on="column", index=["role", "perturbation"], values="text")
