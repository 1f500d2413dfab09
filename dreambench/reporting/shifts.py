"""How far an arm moves a score: changed reports against the very same reports as they were, paired by task."""

from __future__ import annotations

from typing import Any

import polars as pl

from dreambench.metrics.aggregation import ARM, SCORE_KEYS, SCORE_SCHEMA
from dreambench.runs.assembly import CLEAN
from dreambench.stats.paired import paired_difference

SEED = 0
"""Of the bootstrap over tasks (20 or more): a run's table and its page show the same interval."""


def shift_scores(values: pl.DataFrame) -> pl.DataFrame:
    """Changed minus clean, from `report_scores`: rows like those of `scores`, one per agent, judge, metric, variant and arm.

    `value` is the mean over tasks of the differences, with the interval of `paired_difference`. Repeats, and then the reports
    of a task, are averaged first. `n_excluded` counts tasks that have a value as they are and none when they are changed, or
    the other way round. Where the score is a harmonic mean of means, the shift is that of each task's own value.
    """
    same = [*(key for key in SCORE_KEYS if key not in ARM), "variant", "unit", "primary"]
    means = values.group_by([*same, *ARM, "task", "report"], maintain_order=True).agg(pl.col("value").mean())
    clean = means.filter(pl.col("perturbation") == CLEAN).drop(ARM).rename({"value": "clean"})
    changed = means.filter(pl.col("perturbation") != CLEAN)
    both = changed.join(clean, on=[*same, "task", "report"], how="inner", nulls_equal=True, maintain_order="left")
    keys = [*same, *ARM]
    rows = [{**dict(zip(keys, group, strict=True)), **_shift(part)} for group, part in both.group_by(keys, maintain_order=True)]
    return pl.DataFrame(rows, schema=SCORE_SCHEMA)


def _shift(part: pl.DataFrame) -> dict[str, Any]:
    tasks = part.drop_nulls(["value", "clean"]).group_by("task", maintain_order=True).agg(pl.mean("value"), pl.mean("clean"))
    one_sided = part.filter(pl.col("value").is_null() != pl.col("clean").is_null())
    found = paired_difference(tasks["value"], tasks["clean"], seed=SEED)
    lost = set(one_sided["task"]) - set(tasks["task"])
    return {
        "aggregation": "macro",
        "n_tasks": found.n,
        "n_items": part.height,
        "n_excluded": len(lost),
        "excluded_why": "a value on one side only" if lost else "",
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "interval": found.method,
    }
