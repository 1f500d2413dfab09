"""What a metric costs per report: the calls that it asks for, whoever paid for them and whenever."""

from __future__ import annotations

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.studies.dose_tables import labelled

COSTS = ["calls", "prompt_tokens", "completion_tokens", "money", "seconds"]


def cost_table(run: FinishedRun) -> pl.DataFrame:
    """metric, judge, reports (cells judged), and per report: calls, tokens, money (US dollars), seconds; unpriced calls.

    Cached answers count with what they once cost: the figures say what the metric costs with an empty cache. `seconds` is the
    time that calls took one after the other, waiting for a place included, over those that were made now; null when none was.
    """
    cells = run.judgments.select("cell", "metric", "rubric", "judge").unique("cell")
    named = labelled(cells.with_columns(primary=pl.lit(True), variant=pl.lit("")))
    counts = named.group_by("metric", "judge").agg(reports=pl.len())
    made = pl.col("source") == "provider"
    sums = (
        run.calls.join(named, on="cell")
        .group_by("metric", "judge")
        .agg(
            calls=pl.len().cast(pl.Float64),
            prompt_tokens=pl.col("prompt_tokens").sum().cast(pl.Float64),
            completion_tokens=pl.col("completion_tokens").sum().cast(pl.Float64),
            money=pl.col("cost").sum(),
            seconds=pl.when(made.any()).then(pl.col("seconds").filter(made).sum() * pl.len() / made.sum()),
            unpriced=pl.col("cost").is_null().sum(),
        )
    )
    per_report = counts.join(sums, on=["metric", "judge"], how="left").with_columns(
        *(pl.col(name).fill_null(0.0) / pl.col("reports") for name in COSTS if name != "seconds"),
        seconds=pl.when(pl.col("calls").is_null()).then(0.0).otherwise(pl.col("seconds") / pl.col("reports")),
        unpriced=pl.col("unpriced").fill_null(0),
    )
    return per_report.sort("metric", "judge")
