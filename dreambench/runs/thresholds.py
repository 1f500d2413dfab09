"""Thresholds (`metric.<name>.threshold=0.6`): a run fails when the lower bound of a primary score lies below.

For every agent and judge the macro mean of the metric's primary variant over the unchanged reports counts, by the lower end
of its 95 % interval. Where there is no value or no interval nothing is known to reach the threshold: it fails, with the
reason. A threshold changes no number and is no part of a run's identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from dreambench.config.nodes import expand_axes
from dreambench.errors import ConfigError, Problem, nearest
from dreambench.metrics.metric import Metric, Unit

KEY = "threshold"
CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one threshold for one agent and judge; `low` is the lower bound in the variant's unit."""

    metric: str
    agent: str
    judge: str
    variant: str
    threshold: float
    value: float | None
    low: float | None
    passed: bool
    why: str
    """Why it failed; empty where it passed."""

    def __str__(self) -> str:
        """`good / wq mean / embedded: 0.7162 [0.7128 >= 0.6]`, or what failed and why."""
        place = f"{self.agent} / {self.metric} {self.variant} / {self.judge}"
        value = "no value" if self.value is None else f"value {self.value:.4f}"
        if self.low is None:
            return f"{place}: {value}, {self.why}: cannot be shown to reach threshold {self.threshold:g}"
        sign = ">=" if self.passed else "<"
        return f"{place}: {value}, lower bound {self.low:.4f} {sign} threshold {self.threshold:g}"


def check_owners(nodes: Mapping[str, Mapping[str, object]]) -> None:
    """Raises ConfigError for a threshold of a metric that the run does not have."""
    having = sorted(name for name, node in nodes.items() if set(node) != {KEY})
    problems = []
    for name, node in nodes.items():
        if set(node) == {KEY}:
            near = nearest(name, having)
            what = f"{name} is not among this run's metrics" + (f"; did you mean {near}?" if near else "")
            hint = f"metric.{near}.{KEY}={node[KEY]}" if near else f"metric=[{','.join([*having, name])}]"
            problems.append(Problem(f"metric.{name}.{KEY}={node[KEY]}", what, having, hint))
    if problems:
        raise ConfigError(*problems)


def thresholds_of(nodes: Mapping[str, Mapping[str, object]]) -> dict[str, float]:
    """The thresholds of a run's metric nodes, by expanded node name."""
    return {name: float(str(node[KEY])) for name, node in expand_axes("metric", nodes).items() if node.get(KEY) is not None}


def threshold_problems(metrics: Mapping[str, Metric], thresholds: Mapping[str, float]) -> list[Problem]:
    """Thresholds that no score could reach: above 1 for a share."""
    problems = []
    for name, threshold in thresholds.items():
        metric = metrics.get(name)
        if metric and metric.variants()[0].unit is Unit.SHARE and threshold > 1:
            share = f"metric.{name}.{KEY}={threshold / 100:g}"
            problems.append(Problem(f"metric.{name}.{KEY}", f"{threshold:g} is above every score", ["0 to 1"], share))
    return problems


def check_thresholds(scores: pl.DataFrame, metrics: Mapping[str, Metric], thresholds: Mapping[str, float]) -> list[Checked]:
    """Every threshold against every agent and judge of `scores` (the table of `dataset_scores`), failures first."""
    checked = []
    for name, threshold in thresholds.items():
        metric = metrics[name]
        rows = scores.filter(
            pl.col("metric") == metric.id,
            pl.col("rubric") == metric.rubric_variant,
            pl.col("primary"),
            pl.col("aggregation") == "macro",
            pl.col("perturbation") == CLEAN,
        )
        if rows.is_empty():
            why = "no report was scored"
            checked.append(Checked(name, "every agent", "every judge", metric.primary, threshold, None, None, False, why))
        for row in rows.sort("agent", "judge").iter_rows(named=True):
            low, value = row["low"], row["value"]
            passed = low is not None and low >= threshold
            why = "" if passed else "below" if low is not None else _no_bound(row)
            checked.append(Checked(name, row["agent"], row["judge"], row["variant"], threshold, value, low, passed, why))
    return sorted(checked, key=lambda one: one.passed)


def _no_bound(row: Mapping[str, object]) -> str:
    """Why a score has no lower bound."""
    if row["value"] is None:
        return f"all {row['n_excluded']} reports have none ({row['excluded_why'] or 'not applicable'})"
    if row["n_tasks"] == 1:
        return "no lower bound from one task"
    return f"no lower bound: no spread over {row['n_tasks']} tasks"
