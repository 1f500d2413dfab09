"""From the item table to scores: a handful of polars expressions, and intervals clustered by task.

`report_values` gives one row per report, judge, repeat and variant; `dataset_scores` averages repeats, then tasks. Both
take the item table as it stands in `judgments.parquet`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from dreambench.metrics.metric import Metric, MissingPolicy, Unit, Variant
from dreambench.records import Status
from dreambench.stats.intervals import Plan, estimates, function_plan, mean_plan, ratio_plan
from dreambench.stats.results import Estimate, FloatArray

SCORING_VERSION = 2
"""Part of a run's identity: raised when the same item table would give other scores."""

ARM = ["perturbation", "dose", "perturbation_seed"]
REPORT_KEYS = ["dataset", "task", "report", "agent", *ARM, "protocol", "tools", "metric", "rubric", "judge", "repeat"]
SCORE_KEYS = [key for key in REPORT_KEYS if key not in ("task", "report", "protocol", "repeat")]
MISSING = [Status.UNANSWERED, Status.MISSING_RUN, Status.JUDGE_ERROR, Status.TOOL_ERROR]

_KEY_TYPES: dict[str, Any] = {"dose": pl.Float64, "perturbation_seed": pl.Int64, "repeat": pl.Int64}
_VARIANT_TYPES: dict[str, Any] = {"variant": pl.String, "unit": pl.String, "primary": pl.Boolean}
SCORE_SCHEMA: dict[str, Any] = {
    **{key: _KEY_TYPES.get(key, pl.String) for key in SCORE_KEYS},
    **_VARIANT_TYPES,
    "aggregation": pl.String,
    "n_tasks": pl.Int64,
    "n_items": pl.Int64,
    "n_excluded": pl.Int64,
    "excluded_why": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "interval": pl.String,
}
"""Columns of `scores.parquet`, in order."""

BOUNDS = {Unit.SHARE.value: (0.0, 1.0), Unit.SIGNED.value: (-math.inf, 1.0), Unit.COUNT.value: (0.0, math.inf)}
"""Ranges of values by unit: intervals are cut to them."""

_SCORED = pl.col("status") == Status.SCORED.value
_MISSING = pl.col("status").is_in([status.value for status in MISSING])


def columns_of(metrics: Iterable[Metric]) -> list[str]:
    """The columns of the item table that `report_values` reads for these metrics."""
    used = [*REPORT_KEYS, "family", "status", "value", "reason_code"]
    for variant in (variant for metric in metrics for variant in metric.variants()):
        for expression in (variant.numerator, variant.denominator, variant.only):
            used += [] if expression is None else expression.meta.root_names()
    return list(dict.fromkeys(used))


def report_values(items: pl.DataFrame, metrics: Iterable[Metric]) -> pl.DataFrame:
    """One row per report and variant: numerator, denominator, value, items scored and excluded, and why there is none.

    `items` is the item table; rows of metrics that are not in `metrics` are left out. Columns: REPORT_KEYS, variant, unit,
    primary, numerator, denominator, value (null when it has none), n_items, n_excluded, why.
    """
    frames = [
        _variant_values(items.filter(pl.col("metric") == metric.id, pl.col("rubric") == metric.rubric_variant), metric, variant)
        for metric in metrics
        for variant in metric.variants()
    ]
    return pl.concat(frames) if frames else pl.DataFrame()


def _variant_values(items: pl.DataFrame, metric: Metric, variant: Variant) -> pl.DataFrame:
    rows = items if variant.only is None else items.filter(variant.only | (pl.col("family") == "report"))
    if metric.missing_policy is MissingPolicy.ZERO:
        rows = rows.with_columns(
            value=pl.when(_MISSING).then(0.0).otherwise(pl.col("value")),
            status=pl.when(_MISSING).then(pl.lit(Status.SCORED.value)).otherwise(pl.col("status")),
        )
    needs_all = variant.complete or metric.missing_policy is MissingPolicy.FAIL
    counts = rows.group_by(REPORT_KEYS, maintain_order=True).agg(
        n_items=_SCORED.sum(),
        n_excluded=_MISSING.sum(),
        why=pl.col("reason_code").filter(~_SCORED).unique().sort().str.join(", "),
    )
    sums = (
        rows.filter(_SCORED)
        .group_by(REPORT_KEYS)
        .agg(numerator=variant.numerator.cast(pl.Float64), denominator=variant.denominator.cast(pl.Float64))
    )
    grouped = counts.join(sums, on=REPORT_KEYS, how="left", nulls_equal=True, maintain_order="left")
    usable = (pl.col("denominator") > 0) & ((pl.col("n_excluded") == 0) | pl.lit(not needs_all))
    return grouped.with_columns(
        variant=pl.lit(variant.name),
        unit=pl.lit(variant.unit.value),
        primary=pl.lit(variant.name == metric.primary),
        micro=pl.lit(variant.micro),
        spread=pl.lit(variant.spread),
        harmonic_of=pl.lit(",".join(variant.harmonic_of)),
        value=pl.when(usable).then(pl.col("numerator") / pl.col("denominator")),
        why=pl.when(usable).then(pl.lit("")).when(pl.col("why") == "").then(pl.lit("not_applicable")).otherwise(pl.col("why")),
    )


def dataset_scores(values: pl.DataFrame, *, seed: int, level: float = 0.95) -> pl.DataFrame:
    """One row per agent, judge, metric, variant, arm and aggregation, with its interval.

    Aggregations: `macro` (mean over tasks, or the harmonic mean of two such means: `Variant.harmonic_of`), `micro` (pooled
    items, where the variant allows it), and `sd`, `min`, `max` over tasks for lengths. `n_tasks` counts tasks with a value,
    `n_excluded` those without, `excluded_why` says why.
    """
    if values.is_empty():
        return pl.DataFrame(schema=SCORE_SCHEMA)
    keys = [*SCORE_KEYS, "variant", "unit", "primary", "micro", "spread", "harmonic_of"]
    tasks = values.group_by([*keys, "task"], maintain_order=True).agg(
        pl.col("value").mean(),
        pl.col("numerator").filter(pl.col("value").is_not_null()).mean(),
        pl.col("denominator").filter(pl.col("value").is_not_null()).mean(),
        pl.col("n_items").sum(),
        pl.col("why").filter(pl.col("why") != "").unique().sort().str.join(", "),
    )
    rows: list[tuple[dict[str, Any], Plan]] = []
    for group, part in tasks.group_by(keys, maintain_order=True):
        named = dict(zip(keys, group, strict=True))
        means = _means(tasks, named) if named["harmonic_of"] else None
        rows.extend(_score_rows(named, part, means, level))
    found = estimates([plan for _, plan in rows], seed=seed)
    whole = [{**row, **_columns(estimate)} for (row, _), estimate in zip(rows, found, strict=True)]
    return pl.DataFrame([{name: row[name] for name in SCORE_SCHEMA} for row in whole], schema=SCORE_SCHEMA)


def _score_rows(
    keys: dict[str, Any], part: pl.DataFrame, means: pl.DataFrame | None, level: float
) -> list[tuple[dict[str, Any], Plan]]:
    """The rows of one group, each with what makes its value and interval."""
    scored = part.filter(pl.col("value").is_not_null())
    excluded = part.filter(pl.col("value").is_null())
    shared = {
        **keys,
        "n_tasks": scored.height,
        "n_items": int(part["n_items"].sum()),
        "n_excluded": excluded.height,
        "excluded_why": ", ".join(sorted({why for why in excluded["why"].to_list() if why})),
    }
    values: Sequence[float] = scored["value"].to_list()
    bounds = BOUNDS[keys["unit"]]
    plans: dict[str, Plan] = {
        "macro": mean_plan(values, level=level, bounds=bounds)
        if means is None
        else function_plan(means, harmonic_mean, level=level, bounds=bounds)
    }
    if keys["micro"]:
        pooled = scored["numerator"].to_list(), scored["denominator"].to_list()
        plans["micro"] = ratio_plan(*pooled, level=level, bounds=bounds)
    if keys["spread"] and values:
        spread: dict[str, Any] = {"sd": scored["value"].std(), "min": scored["value"].min(), "max": scored["value"].max()}
        plans |= {name: Estimate(value, None, None, "none", scored.height) for name, value in spread.items()}
    return [({**shared, "aggregation": name}, plan) for name, plan in plans.items()]


def _means(tasks: pl.DataFrame, keys: dict[str, Any]) -> pl.DataFrame:
    """One row per task with the values of the variants that `harmonic_of` names, a column each, in their order."""
    names = keys["harmonic_of"].split(",")
    same = pl.all_horizontal(pl.col(key).eq_missing(pl.lit(keys[key], dtype=tasks.schema[key])) for key in SCORE_KEYS)
    columns = [pl.col("value").filter(pl.col("variant") == name).first().alias(name) for name in names]
    return tasks.filter(same).group_by("task", maintain_order=True).agg(columns).drop("task")


def harmonic_mean(means: Mapping[str, FloatArray]) -> FloatArray:
    """2ab / (a + b) of two means; 0 where both are 0."""
    a, b = means.values()
    total = a + b
    return np.where(total > 0, 2 * a * b / np.where(total > 0, total, 1.0), np.where(np.isnan(total), np.nan, 0.0))


def _columns(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "interval": estimate.method}
